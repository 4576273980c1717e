/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The installer's program under what no isod would ask of it: noise, races, exhaustion. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard.h"
#include "kernel/internal.h"
#include "rig.h"

#define CLOSED_FILE RIG_TREE "/closed"
#define NOISE	    20000
#define RACERS	    4
#define ROUNDS	    40
#define PARENT	    "/sys/fs/cgroup/hostile"
#define REMOVED	    16
#define SANDBOXES   4096 /* iso_maps.bpf.h */

/* One call with a context of any size: errno of the call, or the program's negative answer. */
static int call(const void *context, uint32_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context, .ctx_size_in = size);
	int fd = bpf_program__fd(rig_kernel->skeleton->progs.iso_installer);

	if (bpf_prog_test_run_opts(fd, &options))
		return -errno;
	return (int)options.retval;
}

static bool closed_sandbox(struct rig *r)
{
	return rig_tree() && rig_file(CLOSED_FILE) && rig_prepare(r, 0, RIG_RATE) &&
	       rig_rule(r, CLOSED_FILE, 0, 2) && rig_seal(r);
}

/* Same rules, flags and state as before, and the same verdict. */
static void is_untouched(struct rig *r, const struct iso_sandbox *before)
{
	struct iso_sandbox now = rig_counts(r);

	CHECK_EQUAL(now.rules, before->rules);
	CHECK_EQUAL(now.flags, before->flags);
	CHECK_EQUAL(now.state, before->state);
	CHECK_EQUAL(now.cgroup, before->cgroup);
	CHECK_EQUAL(rig_ask(r, "open " CLOSED_FILE " r"), EACCES);
}

static void contexts_of_every_size(void)
{
	static char huge[1 << 16];
	struct iso_sandbox before;
	struct rig r;

	REQUIRE(closed_sandbox(&r), "no sandbox");
	CHECK_EQUAL(rig_ask(&r, "open " CLOSED_FILE " r"), EACCES);
	before = rig_counts(&r);
	memset(huge, 0xff, sizeof huge);
	for (uint32_t size = 0; size < sizeof(struct iso_command); size++)
		if (!CHECK(call(huge, size) < 0, "%u bytes are taken", size))
			break;
	CHECK(call(huge, sizeof huge) < 0, "64 KiB are taken");
	CHECK(call(huge, sizeof(struct iso_command)) < 0, "ones are taken");
	is_untouched(&r, &before);
	rig_end(&r);
}

/*
 * Commands without sense about a sealed sandbox, its neighbours and nobody: always the same ones.
 * While the guard is locked: before that its agent may close and open it as it likes.
 */
static void noise_changes_nothing(void)
{
	struct iso_guard_status guard = {0};
	struct iso_sandbox before;
	unsigned taken = 0;
	struct rig r;

	REQUIRE(closed_sandbox(&r), "no sandbox");
	CHECK_EQUAL(rig_ask(&r, "open " CLOSED_FILE " r"), EACCES);
	before = rig_counts(&r);
	REQUIRE(guard_lock(), "not locked");
	srandom(4711);
	for (int i = 0; i < NOISE; i++) {
		struct iso_command c = {
			.op = (uint32_t)random() % 64,
			.fd = (int32_t)random() % 300 - 100,
			.sandbox = random() % 3 ? r.id : (uint64_t)random() << 32 | 1u << 31,
			.value = (uint64_t)random() << 33 | (uint64_t)random(),
			.arg = (uint32_t)random(),
			.rule = (uint32_t)random(),
		};

		/* only the claim is good: the agent is the agent */
		if (c.op == ISO_OP_CLAIM)
			continue;
		taken += call(&c, sizeof c) >= 0;
	}
	CHECK(!taken, "%u senseless commands were taken", taken);
	is_untouched(&r, &before);
	CHECK_EQUAL(iso_kernel_guard(rig_kernel, &guard), 0);
	CHECK_EQUAL(guard.state, ISO_GUARD_LOCKED);
	rig_end(&r);
	guard_release();
}

struct race {
	uint64_t id;
	int cgroup, tree;
	unsigned begun, removed;
};

static void *racer(void *data)
{
	struct race *race = data;

	for (int i = 0; i < ROUNDS; i++) {
		if (!iso_kernel_begin(rig_kernel, race->id, race->cgroup, 0, 1))
			__sync_fetch_and_add(&race->begun, 1);
		iso_kernel_add_rule(rig_kernel, race->id, race->tree, ISO_READ, 1);
		iso_kernel_seal(rig_kernel, race->id);
		if (!iso_kernel_remove(rig_kernel, race->id))
			__sync_fetch_and_add(&race->removed, 1);
	}
	return NULL;
}

/* One number, one cgroup, several threads of the agent: each beginning has one removal. */
static void one_number_in_a_race(void)
{
	struct race race = {.id = rig_new_id()};
	uint32_t rights, rule;
	pthread_t threads[RACERS];
	char path[64];

	race.cgroup = rig_new_cgroup(path);
	race.tree = open("/usr", O_PATH | O_CLOEXEC);
	REQUIRE(race.cgroup >= 0 && race.tree >= 0, "no cgroup or tree");
	for (int i = 0; i < RACERS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, racer, &race), "no thread");
	for (int i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	CHECK(race.begun > 0, "nothing was begun");
	if (race.begun > race.removed)
		race.removed += !iso_kernel_remove(rig_kernel, race.id);
	CHECK_EQUAL(race.begun, race.removed);
	/* nothing of it is left: not the number, not the rule, not the cgroup */
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, race.id), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_rule(rig_kernel, race.id, race.tree, &rights, &rule), -ENOENT);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, race.id, race.cgroup, 0, 1), 0);
	CHECK_EQUAL(iso_kernel_ask_rule(rig_kernel, race.id, race.tree, &rights, &rule), -ENOENT);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, race.id), 0);
	close(race.cgroup);
	close(race.tree);
	CHECK(!rmdir(path), "cannot remove %s: %s", path, strerror(errno));
}

/* As many as there is room for, then a refusal; what is removed makes room again. */
static void numbers_run_out(void)
{
	static uint64_t ids[SANDBOXES + 1];
	static char paths[SANDBOXES + 1][64];
	int n = 0, answer = 0, fd;

	/* below one that hands no controller on: they cost little */
	REQUIRE(!mkdir(PARENT, 0755), "no cgroup " PARENT ": %s", strerror(errno));
	for (; n <= SANDBOXES && !answer; n++) {
		ids[n] = rig_new_id();
		snprintf(paths[n], sizeof paths[n], PARENT "/%d", n);
		fd = mkdir(paths[n], 0755) ? -1
					   : open(paths[n], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (!CHECK(fd >= 0, "no cgroup %s: %s", paths[n], strerror(errno)))
			break;
		answer = iso_kernel_begin(rig_kernel, ids[n], fd, 0, 1);
		close(fd);
	}
	CHECK_EQUAL(answer, -E2BIG);
	CHECK_EQUAL(n, SANDBOXES + 1);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, ids[n - 1]), -ENOENT);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, ids[0]), 0);
	fd = open(paths[n - 1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, ids[n - 1], fd, 0, 1), 0);
	close(fd);
	/* a removal looks through all rules there could be; the others end with the program's maps
	 */
	for (int i = 1; i < REMOVED; i++)
		if (!CHECK(!iso_kernel_remove(rig_kernel, ids[i]), "%d is not removed", i))
			break;
	for (int i = 0; i < n; i++)
		rmdir(paths[i]);
	CHECK(!rmdir(PARENT), "cannot remove " PARENT ": %s", strerror(errno));
}

const struct iso_case rig_hostile_cases[] = {
	{"contexts-of-every-size", contexts_of_every_size},
	{"noise-changes-nothing", noise_changes_nothing},
	{"one-number-in-a-race", one_number_in_a_race},
	{"numbers-run-out", numbers_run_out},
};
const size_t rig_hostile_count = sizeof rig_hostile_cases / sizeof *rig_hostile_cases;
