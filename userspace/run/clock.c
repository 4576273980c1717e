/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/clock.h"

#include <stdio.h>
#include <time.h>

uint64_t iso_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t iso_realtime_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

void iso_time_text(uint64_t ms, char out[32])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, 32 - n, ".%03uZ", (unsigned)(ms % 1000));
}
