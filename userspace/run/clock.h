/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ISO_RUN_CLOCK_H
#define ISO_RUN_CLOCK_H

#include <stdint.h>

uint64_t iso_monotonic_ns(void);
uint64_t iso_realtime_ms(void);

/* "2026-11-30T12:00:00.000Z" */
void iso_time_text(uint64_t ms, char out[32]);

#endif
