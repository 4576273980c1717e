/* SPDX-License-Identifier: BSD-2-Clause */
/* What of the sandbox is pure: numbers, paths, tables. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "manifest/syscalls.h"
#include "sandbox/internal.h"
#include "sandbox/seccomp.h"
#include "sandbox/snapshot.h"

static void slot_avoids_subordinate_ids(void **state)
{
	(void)state;
	assert_false(iso_slot_overlaps(NULL, ISO_SLOT_BASE));
	assert_false(iso_slot_overlaps("", ISO_SLOT_BASE));
	assert_false(iso_slot_overlaps("a:100000:65536\nb:165536:65536\n", ISO_SLOT_BASE));
	assert_true(iso_slot_overlaps("a:1:2\nb:1879048192:1\n", ISO_SLOT_BASE));
	assert_true(iso_slot_overlaps("b:1879113727:9", ISO_SLOT_BASE));
	assert_false(iso_slot_overlaps("b:1879113728:9", ISO_SLOT_BASE));
	assert_false(iso_slot_overlaps("b:1879048191:1", ISO_SLOT_BASE));
	assert_true(iso_slot_overlaps("b:1879048191:2", ISO_SLOT_BASE));
	assert_true(iso_slot_overlaps("b:0:18446744073709551615", ISO_SLOT_BASE));
	assert_false(iso_slot_overlaps("#b:1879048192:1\nnonsense\n:\n", ISO_SLOT_BASE));
	assert_true((uint64_t)ISO_SLOT_BASE + (uint64_t)ISO_SLOTS * ISO_SLOT_SIZE == 1ull << 31);
}

static void link_targets_are_judged_by_depth(void **state)
{
	(void)state;
	assert_int_equal(iso_copy_link_fault("a/b", 0), ISO_COPY_DONE);
	assert_int_equal(iso_copy_link_fault("../a", 1), ISO_COPY_DONE);
	assert_int_equal(iso_copy_link_fault("a/../b", 0), ISO_COPY_DONE);
	assert_int_equal(iso_copy_link_fault("./..", 1), ISO_COPY_DONE);
	assert_int_equal(iso_copy_link_fault("..a", 0), ISO_COPY_DONE);
	assert_int_equal(iso_copy_link_fault("..", 0), ISO_COPY_LINK_OUTSIDE);
	assert_int_equal(iso_copy_link_fault("a/../../b", 0), ISO_COPY_LINK_OUTSIDE);
	assert_int_equal(iso_copy_link_fault("../../x", 1), ISO_COPY_LINK_OUTSIDE);
	assert_int_equal(iso_copy_link_fault("/etc", 5), ISO_COPY_LINK_ABSOLUTE);
}

static void secrets_are_known_by_path(void **state)
{
	struct iso_pair excuse = {.key = (char *)(uintptr_t) "test/keys"};
	struct iso_input in = {0};

	(void)state;
	assert_false(iso_copy_secret(&in, "src/main.c"));
	assert_true(iso_copy_secret(&in, "a/.ssh"));
	assert_true(iso_copy_secret(&in, "test/keys/id_rsa"));
	in.not_secret = (struct iso_pairs){.items = &excuse, .count = 1};
	assert_false(iso_copy_secret(&in, "test/keys/id_rsa"));
	assert_true(iso_copy_secret(&in, "test/keys2/id_rsa"));
}

static void paths_know_their_tree(void **state)
{
	struct iso_tree trees[] = {{.path = "/usr"}, {.path = "/usr/local"}, {.path = "/work"}};
	struct iso_policy p = {.trees = trees, .tree_count = 3};

	(void)state;
	assert_string_equal(iso_path_below("/usr", "/usr/bin/x"), "bin/x");
	assert_string_equal(iso_path_below("/usr", "/usr"), "");
	assert_string_equal(iso_path_below("/", "/usr"), "usr");
	assert_null(iso_path_below("/usr", "/usrlocal"));
	assert_int_equal(iso_storage_container(&p, 3, "/usr/local/bin"), 1);
	assert_int_equal(iso_storage_container(&p, 1, "/usr/local/bin"), 0);
	assert_true(iso_storage_container(&p, 3, "/tmp") == SIZE_MAX);
}

/* No call of the headers is forgotten, and no row is there twice. */
static void every_system_call_has_one_row(void **state)
{
	size_t count;
	const struct iso_seccomp_row *rows = iso_seccomp_rows(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(rows[i].number, rows[k].number);
		if (rows[i].number < 451 && !iso_syscall_known(rows[i].name))
			fail_msg("%s is no system call", rows[i].name);
		/* what is not allowed to all says why */
		if (rows[i].action[0] != ISO_SECCOMP_ALLOW && !rows[i].why[0])
			fail_msg("%s is refused without a reason", rows[i].name);
		assert_true(rows[i].action[1] <= rows[i].action[0]);
	}
}

static void optional_calls_are_the_published_ones(void **state)
{
	static const char *const profiles[] = {"strict", "build"};
	size_t count;
	const struct iso_seccomp_row *rows = iso_seccomp_rows(&count);

	(void)state;
	for (size_t i = 0; i < count; i++)
		for (unsigned p = 0; p < 2; p++) {
			bool listed = iso_syscall_optional(profiles[p], rows[i].name);

			if ((rows[i].action[p] == ISO_SECCOMP_OPTIONAL ||
			     rows[i].action[p] == ISO_SECCOMP_OPTIONAL_ENOSYS) &&
			    !listed)
				fail_msg("%s is optional, but not published", rows[i].name);
			if (rows[i].action[p] > ISO_SECCOMP_OPTIONAL_ENOSYS && listed)
				fail_msg("%s is published, but refused", rows[i].name);
		}
}

static void known_calls_are_all_in_the_table(void **state)
{
	static const char *const names[] = {
#define ISO_SYSCALL(name) #name,
#include "iso_syscalls.inc"
	};
	size_t count;
	const struct iso_seccomp_row *rows = iso_seccomp_rows(&count);

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		bool found = false;

		for (size_t k = 0; k < count; k++)
			found = found || !strcmp(rows[k].name, names[i]);
		if (!found)
			fail_msg("syscalls.def has no row for %s", names[i]);
	}
}

static void lists_of_calls_are_checked(void **state)
{
	char *bad[] = {(char *)(uintptr_t) "mount"},
	     *unknown[] = {(char *)(uintptr_t) "frobnicate"};
	struct iso_manifest m = {0};
	struct iso_seccomp_program p[2];
	struct iso_error e = {0};

	(void)state;
	m.process.syscalls_allow = (struct iso_strv){.items = bad, .count = 1};
	assert_int_equal(iso_seccomp_task(&m, p, &e), -EINVAL);
	assert_non_null(strstr(e.message, "mount"));
	m.process.syscalls_allow.count = 0;
	m.process.syscalls_deny = (struct iso_strv){.items = unknown, .count = 1};
	assert_int_equal(iso_seccomp_task(&m, p, &e), -EINVAL);
	assert_non_null(strstr(e.message, "frobnicate"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slot_avoids_subordinate_ids),
		cmocka_unit_test(link_targets_are_judged_by_depth),
		cmocka_unit_test(secrets_are_known_by_path),
		cmocka_unit_test(paths_know_their_tree),
		cmocka_unit_test(every_system_call_has_one_row),
		cmocka_unit_test(optional_calls_are_the_published_ones),
		cmocka_unit_test(known_calls_are_all_in_the_table),
		cmocka_unit_test(lists_of_calls_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
