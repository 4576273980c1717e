/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of the hooks, in instructions. Runs in a guest under `-icount shift=0`, where a
 * nanosecond of CLOCK_MONOTONIC is an instruction (tools/bench).
 *
 * The conductor (scenes.c) starts one worker for each scene: native, under Landlock, outside of
 * every sandbox, inside of one. A worker (worker.c) does what it is asked over a pipe and answers
 * with the instructions of one batch; everything else happens outside of the measured time.
 */
#ifndef ISO_BENCH_H
#define ISO_BENCH_H

#include <stdint.h>

enum iso_bench {
#define ISO_BENCH(name, ...) ISO_BENCH_##name,
#include "operations.def"
#undef ISO_BENCH
	ISO_BENCH_COUNT,
};

struct iso_bench_row {
	const char *name;
	uint32_t batch;
	uint32_t rounds;
	const char *sentence;
};
extern const struct iso_bench_row iso_bench_rows[ISO_BENCH_COUNT];

/* A worker's answer. */
struct iso_bench_answer {
	int32_t error; /* negative errno: the operation did not do what it should */
	uint32_t pad;
	uint64_t best; /* ns of the cheapest batch */
	uint64_t operations;
};

/* Where everything lies: a tmpfs of the conductor's own mount namespace. */
#define ISO_BENCH_ROOT "/mnt"
#define ISO_BENCH_TREE ISO_BENCH_ROOT "/tree"
#define ISO_BENCH_BIN  ISO_BENCH_ROOT "/bin"
#define ISO_BENCH_MANY ISO_BENCH_ROOT "/many"
#define ISO_BENCH_SELF ISO_BENCH_BIN "/iso-bench-hooks"
#define ISO_BENCH_TRUE ISO_BENCH_BIN "/iso-bench-true"

#define ISO_BENCH_DEPTH_MAX 32

/* Path of the file `depth` components below the tree, valid until the next call. */
const char *iso_bench_path(int depth);

/* Serves requests (one byte each, an enum iso_bench) until end of file. Returns an exit status. */
int iso_bench_work(int requests, int answers);

/* Mounts and fills ISO_BENCH_ROOT; `many` more objects for rules. 0 or a negative errno, logged. */
int iso_bench_make_tree(const char *here, unsigned int many);
const char *iso_bench_many_path(unsigned int i);

/* Restricts the caller with 10 rules, and TCP connect where the kernel can (6.7). */
int iso_bench_landlock(void);

/* The directories that both Landlock's rules and a sandbox's are on; the first is the tree. */
#define ISO_BENCH_FEW	     10u
#define ISO_BENCH_MANY_RULES 10000u
extern const char *const iso_bench_places[ISO_BENCH_FEW];

#define ISO_BENCH_PORT 4242

#endif
