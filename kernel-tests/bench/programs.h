/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs and cost of each BPF program, as the kernel counts them (BPF_STATS_RUN_TIME). */
#ifndef ISO_BENCH_PROGRAMS_H
#define ISO_BENCH_PROGRAMS_H

#include <stdint.h>

#include "kernel/kernel.h"

#define ISO_BENCH_PROGRAMS 128

struct iso_bench_runs {
	uint64_t count[ISO_BENCH_PROGRAMS];
	uint64_t ns[ISO_BENCH_PROGRAMS];
};

/* Counting slows every program down by two readings of the clock: on for this only. */
int iso_bench_count_on(void);

/* 0 or a negative errno. Programs that are not loaded stay at 0. */
int iso_bench_count(struct iso_kernel *k, struct iso_bench_runs *ret);

/* Prints a line for each program that ran between the two. */
void iso_bench_count_print(struct iso_kernel *k, const char *scene, const char *operation,
			   const struct iso_bench_runs *before, const struct iso_bench_runs *after,
			   uint64_t operations);

#endif
