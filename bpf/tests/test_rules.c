/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How rules decide: the deepest, names, held entries, depth, mounts on the way. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "rig.h"

#define WORK ISO_READ | ISO_WRITE | ISO_MAKE

static bool said(uint32_t hook, uint32_t reason, uint32_t rule)
{
	size_t n = rig_read_events();
	const struct iso_event *e = &rig_events[n ? n - 1 : 0];

	return CHECK(n == 1, "%zu events", n) &&
	       CHECK(e->hook == hook && e->reason == reason && e->rule == rule,
		     "hook %u reason %u rule %u, not %u %u %u", e->hook, e->reason, e->rule, hook,
		     reason, rule);
}

static void the_deepest_rule_decides(void)
{
	struct rig r;

	REQUIRE(rig_tree() && rig_directory(RIG_TREE "/ro") && rig_directory(RIG_TREE "/ro/rw") &&
			rig_file(RIG_TREE "/ro/f") && rig_file(RIG_TREE "/ro/rw/f") &&
			rig_prepare(&r, 0, RIG_RATE) && rig_rule(&r, RIG_TREE "/ro", ISO_READ, 2) &&
			rig_rule(&r, RIG_TREE "/ro/rw", WORK, 3) && rig_seal(&r),
		"no sandbox");
	rig_read_events();
	CHECK_EQUAL(rig_ask(&r, "open " RIG_TREE "/ro/f r"), 0);
	CHECK_EQUAL(rig_ask(&r, "open " RIG_TREE "/ro/rw/f rw"), 0);
	CHECK_EQUAL(rig_ask(&r, "create " RIG_TREE "/ro/rw/new"), 0);
	CHECK_EQUAL(rig_read_events(), 0);
	CHECK_EQUAL(rig_ask(&r, "open " RIG_TREE "/ro/f w"), EACCES);
	said(ISO_HOOK_file_open, ISO_REASON_RIGHTS, 2);
	CHECK_EQUAL(rig_ask(&r, "create " RIG_TREE "/ro/new"), EACCES);
	said(ISO_HOOK_path_mknod, ISO_REASON_RIGHTS, 2);
	CHECK_EQUAL(rig_ask(&r, "rename " RIG_TREE "/ro/rw/f " RIG_TREE "/ro/g"), EACCES);
	said(ISO_HOOK_path_rename, ISO_REASON_RIGHTS, 2);
	/* an object with a rule keeps its entry, whoever may change the directory */
	CHECK_EQUAL(rig_ask(&r, "rmdir " RIG_TREE "/ro"), EACCES);
	said(ISO_HOOK_path_rmdir, ISO_REASON_HELD, 2);
	rig_end(&r);
}

static void names_are_protected(void)
{
	struct rig r;

	REQUIRE(rig_tree() && rig_directory(RIG_TREE "/w") && rig_file(RIG_TREE "/w/here") &&
			rig_file(RIG_TREE "/w/other") && rig_prepare(&r, 0, RIG_RATE) &&
			rig_name(&r, RIG_TREE "/w", "here", 2) &&
			rig_name(&r, RIG_TREE "/w", "absent", 3) && rig_seal(&r),
		"no sandbox");
	rig_read_events();
	CHECK_EQUAL(rig_ask(&r, "mkdir " RIG_TREE "/w/absent2"), 0);
	CHECK_EQUAL(rig_ask(&r, "unlink " RIG_TREE "/w/here2"), ENOENT);
	CHECK_EQUAL(rig_read_events(), 0);
	CHECK_EQUAL(rig_ask(&r, "mkdir " RIG_TREE "/w/absent"), EACCES);
	said(ISO_HOOK_path_mkdir, ISO_REASON_NAME, 3);
	CHECK_EQUAL(rig_ask(&r, "create " RIG_TREE "/w/absent"), EACCES);
	said(ISO_HOOK_path_mknod, ISO_REASON_NAME, 3);
	CHECK_EQUAL(rig_ask(&r, "symlink /etc " RIG_TREE "/w/absent"), EACCES);
	said(ISO_HOOK_path_symlink, ISO_REASON_NAME, 3);
	CHECK_EQUAL(rig_ask(&r, "link " RIG_TREE "/w/other " RIG_TREE "/w/absent"), EACCES);
	said(ISO_HOOK_path_link, ISO_REASON_NAME, 3);
	CHECK_EQUAL(rig_ask(&r, "rename " RIG_TREE "/w/other " RIG_TREE "/w/absent"), EACCES);
	said(ISO_HOOK_path_rename, ISO_REASON_NAME, 3);
	CHECK_EQUAL(rig_ask(&r, "unlink " RIG_TREE "/w/here"), EACCES);
	said(ISO_HOOK_path_unlink, ISO_REASON_NAME, 2);
	CHECK_EQUAL(rig_ask(&r, "exchange " RIG_TREE "/w/other " RIG_TREE "/w/here"), EACCES);
	said(ISO_HOOK_path_rename, ISO_REASON_NAME, 2);
	rig_end(&r);
}

/* A sandbox that has rules, and none on the way. */
static void nothing_is_granted_without_rule(void)
{
	struct rig r;

	REQUIRE(rig_tree() && rig_directory(RIG_TREE "/a") && rig_file(RIG_TREE "/a/f") &&
			rig_directory(RIG_TREE "/b") && rig_file(RIG_TREE "/b/f") &&
			rig_begin(&r, 0, RIG_RATE) && rig_launch(&r) &&
			rig_rule(&r, RIG_TREE "/a", ISO_READ, 4) && rig_seal(&r),
		"no sandbox");
	rig_read_events();
	CHECK_EQUAL(rig_ask(&r, "direct open " RIG_TREE "/a/f r"), 0);
	CHECK_EQUAL(rig_read_events(), 0);
	CHECK_EQUAL(rig_ask(&r, "direct open " RIG_TREE "/b/f r"), EACCES);
	said(ISO_HOOK_file_open, ISO_REASON_NO_RULE, ISO_RULE_NONE);
	CHECK_EQUAL(rig_ask(&r, "direct open / r"), EACCES);
	said(ISO_HOOK_file_open, ISO_REASON_NO_RULE, ISO_RULE_NONE);
	rig_end(&r);
}

#define DEEP 150

/* Deeper than the part of the walk that is unrolled; the rule is at its top. */
static void deep_paths_are_judged(void)
{
	char path[1024] = RIG_TREE "/deep";
	size_t n = strlen(path);
	uint64_t capped = 1;
	struct rig r;

	REQUIRE(rig_tree() && rig_directory(path), "no tree");
	for (int i = 0; i < DEEP; i++, n += 2) {
		memcpy(path + n, "/d", 3);
		if (mkdir(path, 0755))
			break;
	}
	memcpy(path + n, "/f", 3);
	REQUIRE(rig_file(path) && rig_prepare(&r, 0, RIG_RATE) &&
			rig_rule(&r, RIG_TREE "/deep", ISO_READ, 2) && rig_seal(&r),
		"no sandbox");
	rig_read_events();
	CHECK_EQUAL(rig_ask(&r, "open %s r", path), 0);
	CHECK_EQUAL(rig_ask(&r, "open %s w", path), EACCES);
	said(ISO_HOOK_file_open, ISO_REASON_RIGHTS, 2);
	CHECK_EQUAL(rig_events[0].path.truncated, 1);
	CHECK_EQUAL(iso_kernel_ask_counter(rig_kernel, ISO_COUNT_WALK_CAPPED, &capped), 0);
	CHECK_EQUAL(capped, 0);
	rig_end(&r);
}

/* A mount on the way is crossed, and what it hides does not decide. */
static void mounts_are_crossed(void)
{
	struct rig r;

	REQUIRE(rig_tree() && rig_directory(RIG_TREE "/top") && rig_directory(RIG_TREE "/top/m"),
		"no tree");
	REQUIRE(!mount("m", RIG_TREE "/top/m", "tmpfs", 0, ""), "no mount");
	REQUIRE(rig_file(RIG_TREE "/top/m/f") && rig_prepare(&r, 0, RIG_RATE) &&
			rig_rule(&r, RIG_TREE "/top", ISO_READ, 2) && rig_seal(&r),
		"no sandbox");
	rig_read_events();
	CHECK_EQUAL(rig_ask(&r, "open " RIG_TREE "/top/m/f r"), 0);
	CHECK_EQUAL(rig_ask(&r, "open " RIG_TREE "/top/m/f w"), EACCES);
	said(ISO_HOOK_file_open, ISO_REASON_RIGHTS, 2);
	CHECK(!strcmp(rig_path(&rig_events[0]), RIG_TREE "/top/m/f"), "path %s",
	      rig_path(&rig_events[0]));
	rig_end(&r);
}

/* Two sandboxes with other rules on one object do not see each other's. */
static void sandboxes_are_apart(void)
{
	struct rig a, b;

	REQUIRE(rig_tree() && rig_file(RIG_TREE "/f") && rig_prepare(&a, 0, RIG_RATE) &&
			rig_prepare(&b, 0, RIG_RATE) && rig_rule(&a, RIG_TREE "/f", 0, 2) &&
			rig_rule(&b, RIG_TREE "/f", WORK, 3) && rig_seal(&a) && rig_seal(&b),
		"no sandboxes");
	CHECK_EQUAL(rig_ask(&a, "open " RIG_TREE "/f r"), EACCES);
	CHECK_EQUAL(rig_ask(&b, "open " RIG_TREE "/f rw"), 0);
	rig_end(&a);
	CHECK_EQUAL(rig_ask(&b, "open " RIG_TREE "/f rw"), 0);
	rig_end(&b);
}

/*
 * On overlayfs (the guest's root) a mapping holds the file below; it is judged by the path that was
 * opened all the same.
 */
static void mappings_are_judged_by_the_opened_path(void)
{
	struct rig r;

	REQUIRE(rig_prepare(&r, 0, RIG_RATE) && rig_rule(&r, "/usr/bin/env", ISO_READ, 2) &&
			rig_seal(&r),
		"no sandbox");
	rig_read_events();
	CHECK_EQUAL(rig_ask(&r, "protect /usr/bin/true"), 0);
	CHECK_EQUAL(rig_read_events(), 0);
	CHECK_EQUAL(rig_ask(&r, "protect /usr/bin/env"), EACCES);
	said(ISO_HOOK_file_mprotect, ISO_REASON_RIGHTS, 2);
	rig_end(&r);
}

const struct iso_case rig_rule_cases[] = {
	{"the-deepest-rule-decides", the_deepest_rule_decides},
	{"names-are-protected", names_are_protected},
	{"nothing-is-granted-without-rule", nothing_is_granted_without_rule},
	{"deep-paths-are-judged", deep_paths_are_judged},
	{"mounts-are-crossed", mounts_are_crossed},
	{"sandboxes-are-apart", sandboxes_are_apart},
	{"mappings-are-judged-by-the-opened-path", mappings_are_judged_by_the_opened_path},
};
const size_t rig_rule_count = sizeof rig_rule_cases / sizeof *rig_rule_cases;
