/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash-1-3 (131002.net/siphash) under a key that is drawn once per process. */
#ifndef ISO_EVENT_HASH_H
#define ISO_EVENT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that an attacker chooses do not collide, short of guessing the key. */
uint64_t iso_keyed_hash(const void *data, size_t n);

/* The same with a key of the caller's, for the published test vectors' sake. */
uint64_t iso_siphash13(const uint64_t key[2], const void *data, size_t n);

#endif
