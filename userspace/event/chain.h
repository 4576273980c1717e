/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chain of a run's records: each carries, in unmapped.isoctl.prev, the SHA-256 of the bytes of
 * the line before it (without its newline), in hexadecimal; the first carries ISO_CHAIN_START.
 */
#ifndef ISO_EVENT_CHAIN_H
#define ISO_EVENT_CHAIN_H

#include <stddef.h>

#define ISO_CHAIN_TEXT	65 /* 64 hexadecimal digits and a NUL */
#define ISO_CHAIN_START "0000000000000000000000000000000000000000000000000000000000000000"

/* The head after a line. */
void iso_chain_hash(const void *line, size_t n, char out[ISO_CHAIN_TEXT]);

#endif
