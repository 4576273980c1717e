/* SPDX-License-Identifier: BSD-2-Clause */
/* Workers: how each scene's task is started, asked and ended. */
#ifndef ISO_BENCH_SANDBOX_H
#define ISO_BENCH_SANDBOX_H

#include "bench.h"
#include "kernel/kernel.h"

struct iso_bench_worker {
	pid_t pid;
	int requests;
	int answers;
	uint64_t sandbox; /* 0: none */
	int cgroup;
};

/* Starts a worker outside of any sandbox; under Landlock when asked. */
int iso_bench_start(struct iso_bench_worker *ret, bool landlock);

/* Starts one inside, with `rules` file rules and room for `rate` events in a second. */
int iso_bench_seal(struct iso_kernel *k, struct iso_bench_worker *ret, uint64_t sandbox,
		   unsigned int rules, uint32_t rate);

int iso_bench_ask(struct iso_bench_worker *w, enum iso_bench which,
		  struct iso_bench_answer *answer);

/* Ends it and takes its sandbox away. */
int iso_bench_end(struct iso_kernel *k, struct iso_bench_worker *w);

/* What `iso-bench-hooks init` does: isoinit's part. */
int iso_bench_init(int requests, int answers);

#endif
