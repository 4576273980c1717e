/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens to rules whose object is gone. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "rig.h"

#define CLOSED_FILE RIG_TREE "/closed"
#define OPEN_FILE   RIG_TREE "/open"

static bool closed_file(struct rig *r)
{
	return rig_tree() && rig_file(CLOSED_FILE) && rig_file(OPEN_FILE) &&
	       rig_prepare(r, 0, RIG_RATE) && rig_rule(r, CLOSED_FILE, 0, 2) && rig_seal(r);
}

/* The last name and descriptor of a rule's object go: everything is refused from then on. */
static void torn_by_the_end_of_an_object(void)
{
	struct rig r;

	REQUIRE(closed_file(&r), "no sandbox");
	/* by the task that will ask again: it remembers that the sandbox was whole */
	CHECK_EQUAL(rig_ask(&r, "direct open " OPEN_FILE " r"), 0);
	CHECK_EQUAL(unlink(CLOSED_FILE), 0);
	for (int i = 0; i < 500 && !(rig_counts(&r).flags & ISO_SB_TORN); i++)
		usleep(10000); /* lint-allow(sleeps): freeing waits for RCU, which nothing announces
				*/
	CHECK(rig_counts(&r).flags & ISO_SB_TORN, "not torn");
	rig_read_events();
	CHECK_EQUAL(rig_ask(&r, "direct open " OPEN_FILE " r"), EACCES);
	CHECK_EQUAL(rig_ask(&r, "direct mkdir " RIG_TREE "/new"), EACCES);
	CHECK_EQUAL(rig_read_events(), 2);
	CHECK_EQUAL(rig_events[0].reason, ISO_REASON_TORN);
	rig_end(&r);
}

/* The same for the directory that a name rule hangs on. */
static void torn_by_the_end_of_a_directory(void)
{
	struct rig r;

	REQUIRE(rig_tree() && rig_file(OPEN_FILE) && rig_directory(RIG_TREE "/d") &&
			rig_prepare(&r, 0, RIG_RATE) && rig_name(&r, RIG_TREE "/d", "name", 2) &&
			rig_seal(&r),
		"no sandbox");
	CHECK_EQUAL(rig_ask(&r, "open " OPEN_FILE " r"), 0);
	CHECK_EQUAL(rmdir(RIG_TREE "/d"), 0);
	for (int i = 0; i < 500 && !(rig_counts(&r).flags & ISO_SB_TORN); i++)
		usleep(10000); /* lint-allow(sleeps): freeing waits for RCU, which nothing announces
				*/
	CHECK(rig_counts(&r).flags & ISO_SB_TORN, "not torn");
	CHECK_EQUAL(rig_ask(&r, "direct open " OPEN_FILE " r"), EACCES);
	rig_end(&r);
}

#define AGAIN 400

/*
 * Rules whose objects have gone are removed after other sandboxes have got rules on inodes at the
 * same addresses: those must keep theirs.
 */
static void removal_spares_who_came_after(void)
{
	uint32_t rights, rule;
	char path[64];
	struct rig old, new;
	int fds[AGAIN], kept = 0;

	REQUIRE(rig_tree() && rig_begin(&old, 0, RIG_RATE) && rig_begin(&new, 0, RIG_RATE),
		"no sandboxes");
	for (int i = 0; i < AGAIN; i++) {
		snprintf(path, sizeof path, RIG_TREE "/old%d", i);
		if (!rig_file(path) || !rig_rule(&old, path, ISO_READ, (uint32_t)i + 1))
			return;
		unlink(path);
	}
	for (int i = 0; i < 500 && !(rig_counts(&old).flags & ISO_SB_TORN); i++)
		usleep(10000); /* lint-allow(sleeps): freeing waits for RCU, which nothing announces
				*/
	for (int i = 0; i < AGAIN; i++) {
		snprintf(path, sizeof path, RIG_TREE "/new%d", i);
		if (!rig_file(path) || !rig_rule(&new, path, ISO_READ, (uint32_t)i + 1))
			return;
		fds[i] = open(path, O_PATH | O_CLOEXEC);
	}
	rig_end(&old);
	for (int i = 0; i < AGAIN; i++) {
		kept += !iso_kernel_ask_rule(rig_kernel, new.id, fds[i], &rights, &rule) &&
			rule == (uint32_t)i + 1;
		close(fds[i]);
	}
	CHECK_EQUAL(kept, AGAIN);
	rig_end(&new);
}

static void helpers_never_failed(void)
{
	static const struct {
		uint32_t place;
		const char *name;
	} places[] = {
		{ISO_COUNT_READ_FAILED, "read-failed"},
		{ISO_COUNT_NO_SANDBOX, "no-sandbox"},
		{ISO_COUNT_MAP_FULL, "map-full"},
	};
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		CHECK_EQUAL(iso_kernel_ask_counter(rig_kernel, places[i].place, &n), 0);
		CHECK(!n, "%s happened %llu times", places[i].name, (unsigned long long)n);
	}
}

const struct iso_case rig_event_cases[] = {
	{"torn-by-the-end-of-an-object", torn_by_the_end_of_an_object},
	{"torn-by-the-end-of-a-directory", torn_by_the_end_of_a_directory},
	{"removal-spares-who-came-after", removal_spares_who_came_after},
	{"helpers-never-failed", helpers_never_failed},
};
const size_t rig_event_count = sizeof rig_event_cases / sizeof *rig_event_cases;
