/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iso-bench-hooks: without arguments it measures and prints, a line each:
 *
 *	info NAME VALUE
 *	value SCENE OPERATION INSTRUCTIONS            of one operation
 *	program SCENE OPERATION NAME RUNS INSTRUCTIONS runs per operation, instructions per run
 *
 * Exit status: 0 measured, 1 not (standard error says why). For guests: it wants root, BPF LSM and
 * cgroup v2, and no isod beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/io.h"
#include "common/log.h"
#include "programs.h"
#include "sandbox.h"

#define MANY_EVENTS 1000000000u

static int discard(void *context, const void *data, size_t size)
{
	(void)data;
	(void)size;
	++*(uint64_t *)context;
	return 0;
}

static int failed(const char *scene, const char *what, int r)
{
	iso_log_error("%s: %s: %s", scene, what, strerror(-r));
	return r;
}

/* One operation in one scene. The empty loop is taken off by whoever reads this. */
static int value(struct iso_bench_worker *w, const char *scene, enum iso_bench which)
{
	const struct iso_bench_row *row = &iso_bench_rows[which];
	struct iso_bench_answer answer;
	int r = iso_bench_ask(w, which, &answer);

	if (r)
		return failed(scene, row->name, r);
	printf("value %s %s %.2f\n", scene, row->name, (double)answer.best / row->batch);
	fflush(stdout);
	return 0;
}

static int values(struct iso_bench_worker *w, const char *scene)
{
	int r = 0;

	for (enum iso_bench i = 0; i < ISO_BENCH_COUNT && !r; i++)
		if (i != ISO_BENCH_denied || w->sandbox)
			r = value(w, scene, i);
	return r;
}

/* The same again with the kernel counting: which programs ran, and what each cost. */
static int programs(struct iso_kernel *k, struct iso_bench_worker *w, const char *scene)
{
	ISO_AUTO_CLOSE int counting = iso_bench_count_on();
	struct iso_bench_runs before, after;
	struct iso_bench_answer answer;
	uint64_t events = 0;
	int r = counting < 0 ? counting : 0;

	for (enum iso_bench i = ISO_BENCH_nothing + 1; i < ISO_BENCH_COUNT && !r; i++) {
		if (i == ISO_BENCH_denied && !w->sandbox)
			continue;
		r = iso_bench_count(k, &before);
		if (!r)
			r = iso_bench_ask(w, i, &answer);
		if (!r)
			r = iso_bench_count(k, &after);
		if (!r)
			iso_bench_count_print(k, scene, iso_bench_rows[i].name, &before, &after,
					      answer.operations);
		iso_kernel_ring_consume(k, discard, &events);
	}
	return r ? failed(scene, "counting", r) : 0;
}

static int scene_free(const char *scene, bool landlock)
{
	struct iso_bench_worker w;
	int r = iso_bench_start(&w, landlock);

	if (r)
		return failed(scene, "start", r);
	r = values(&w, scene);
	return r ? r : iso_bench_end(NULL, &w);
}

static int scene_outside(struct iso_kernel *k)
{
	struct iso_bench_worker w;
	int r = iso_bench_start(&w, false);

	if (r)
		return failed("outside", "start", r);
	r = values(&w, "outside");
	if (!r)
		r = programs(k, &w, "outside");
	return r ? r : iso_bench_end(k, &w);
}

static int scene_inside(struct iso_kernel *k, struct iso_bench_worker *w, const char *scene)
{
	uint64_t events = 0;
	int r = values(w, scene);

	iso_kernel_ring_consume(k, discard, &events);
	printf("info events-%s %llu\n", scene, (unsigned long long)events);
	if (!r)
		r = programs(k, w, scene);
	return r;
}

static int conduct(const char *here)
{
	struct iso_bench_worker few, many;
	struct iso_error e = {0};
	struct iso_kernel *k;
	int r = iso_bench_make_tree(here, ISO_BENCH_MANY_RULES - ISO_BENCH_FEW);

	if (r)
		return failed("tree", ISO_BENCH_ROOT, r);
	r = scene_free("native", false);
	if (!r)
		r = scene_free("landlock", true);
	if (r)
		return r;
	r = iso_kernel_open(&k, &e);
	if (r) {
		iso_log_error("%s: %s; %s", e.step, e.message, e.remedy);
		return r;
	}
	r = iso_bench_seal(k, &few, 1, ISO_BENCH_FEW, MANY_EVENTS);
	if (r)
		return failed("inside", "seal", r);
	r = scene_outside(k);
	if (!r)
		r = scene_inside(k, &few, "inside");
	if (r)
		return r;
	r = iso_bench_seal(k, &many, 2, ISO_BENCH_MANY_RULES, MANY_EVENTS);
	if (r)
		return failed("inside10000", "seal", r);
	r = scene_inside(k, &many, "inside10000");
	if (!r)
		r = iso_bench_end(k, &many);
	if (!r)
		r = iso_bench_end(k, &few);
	if (r)
		failed("inside", "end", r);
	iso_kernel_close(k);
	return r;
}

static int describe(void)
{
	ISO_AUTO_FREE char *clock = NULL;
	struct utsname host;
	size_t size;
	int r = iso_read_file(AT_FDCWD,
			      "/sys/devices/system/clocksource/clocksource0/current_clocksource",
			      64, &clock, &size);

	if (r || uname(&host))
		return r ? r : -errno;
	printf("info release %s\ninfo clocksource %s", host.release, clock);
	return 0;
}

int main(int argc, char **argv)
{
	char here[512];

	iso_log_setup("iso-bench-hooks", ISO_LOG_INFO);
	if (argc == 2 && !strcmp(argv[1], "worker"))
		return iso_bench_work(3, 4);
	if (argc == 2 && !strcmp(argv[1], "init"))
		return iso_bench_init(3, 4);
	if (argc != 1) {
		iso_log_error("no arguments (see tools/bench --help)");
		return 1;
	}
	snprintf(here, sizeof here, "%s", argv[0]);
	return describe() || conduct(dirname(here)) ? 1 : 0;
}
