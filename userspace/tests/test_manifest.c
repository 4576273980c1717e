/* SPDX-License-Identifier: BSD-2-Clause */
/* What a valid manifest becomes: every value and every default. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/manifest_file.h"

static const char *variable(const struct iso_manifest *m, const char *name)
{
	const struct iso_pairs *set = &m->process.environment_set;

	for (size_t i = 0; i < set->count; i++)
		if (!strcmp(set->items[i].key, name))
			return set->items[i].value;
	return NULL;
}

static bool has(const struct iso_strv *list, const char *s)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], s))
			return true;
	return false;
}

static void minimal_gets_every_default(void **state)
{
	struct iso_manifest *m = manifest_valid("minimal.json");

	(void)state;
	assert_string_equal(m->task.id, "t");
	assert_int_equal(m->task.attempt, ISO_ATTEMPT_AUTO);
	assert_null(m->task.purpose);
	assert_int_equal(m->profile, ISO_PROFILE_EXECUTE);
	assert_int_equal(m->filesystem.root_host.count, 0);
	assert_int_equal(m->filesystem.input_count, 0);
	assert_true(m->loopback_private);
	assert_int_equal(m->process.syscalls, ISO_SYSCALLS_STRICT);
	assert_false(m->process.daemons_contain);
	assert_int_equal(m->process.limits.cpus_milli, 1000);
	assert_int_equal(m->process.limits.memory, 64u << 20);
	assert_int_equal(m->process.limits.file_size, 0);
	assert_false(m->process.stdin_inherit);
	assert_string_equal(m->process.home, "/");
	assert_string_equal(m->process.tmpdir, "/");
	assert_string_equal(m->process.directory, "/");
	assert_string_equal(m->process.hostname, "task");
	assert_int_equal(m->process.umask, 022);
	assert_string_equal(variable(m, "PATH"), "/usr/local/bin:/usr/bin:/bin");
	assert_string_equal(variable(m, "HOME"), "/");
	assert_string_equal(variable(m, "LANG"), "C.UTF-8");
	assert_string_equal(variable(m, "USER"), "task");
	assert_int_equal(m->limits.wall_ms, 60000);
	assert_int_equal(m->limits.stop_grace_ms, 5000);
	assert_int_equal(m->limits.log_bytes, 0);
	assert_false(m->limits.log_raw);
	assert_int_equal(m->limits.events_per_second, 200);
	assert_int_equal(m->limits.concurrent, 0);
	for (int i = 0; i < ISO_VIOLATION_MAX; i++)
		assert_int_equal(m->response[i], ISO_RESPONSE_COUNT);
	iso_manifest_free(m);
}

static void valid_keeps_every_value(void **state)
{
	struct iso_manifest *m = manifest_valid("valid.json");

	(void)state;
	assert_int_equal(m->task.attempt, 3);
	assert_string_equal(m->task.labels.items[0].value, "ci");
	assert_int_equal(m->task.command.count, 3);
	assert_string_equal(m->task.supplementary.items[0], "prompt 7");
	assert_int_equal(m->profile, ISO_PROFILE_BUILD);
	assert_int_equal(m->filesystem.root_host.count, 5);
	assert_int_equal(m->filesystem.input_count, 2);
	assert_true(m->filesystem.inputs[0].writable);
	assert_int_equal(m->filesystem.inputs[0].size, 64u << 20);
	assert_false(m->filesystem.inputs[1].writable);
	assert_int_equal(m->filesystem.inputs[1].size, 1048576);
	assert_int_equal(m->filesystem.inputs[1].paths.count, 2);
	assert_string_equal(m->filesystem.inputs[0].not_secret.items[0].key, "test/server.key");
	assert_int_equal(m->filesystem.scratch_count, 3);
	assert_true(m->filesystem.scratch[2].execute);
	assert_false(m->loopback_private);
	assert_int_equal(m->process.syscalls, ISO_SYSCALLS_BUILD);
	assert_string_equal(m->process.syscalls_deny.items[0], "socketpair");
	assert_int_equal(m->process.limits.cpus_milli, 1500);
	assert_int_equal(m->process.limits.file_size, 32u << 20);
	assert_string_equal(m->process.environment_pass.items[0], "TERM");
	assert_string_equal(variable(m, "CI"), "1");
	assert_string_equal(m->process.home, "/home/task");
	assert_string_equal(m->process.tmpdir, "/tmp");
	assert_string_equal(m->process.directory, "/work");
	assert_string_equal(m->process.hostname, "builder");
	assert_int_equal(m->process.umask, 027);
	assert_int_equal(m->limits.wall_ms, 600000);
	assert_int_equal(m->limits.stop_grace_ms, 2000);
	assert_true(m->limits.log_raw);
	assert_int_equal(m->limits.concurrent, 2);
	assert_int_equal(m->response[ISO_VIOLATION_FILE], ISO_RESPONSE_COUNT);
	assert_int_equal(m->response[ISO_VIOLATION_EXEC], ISO_RESPONSE_STOP);
	assert_string_equal(m->response_expected.items[0], "file:/etc/shadow");
	iso_manifest_free(m);
}

static void writable_input_always_protects(void **state)
{
	struct iso_manifest *m = manifest_valid("valid.json");
	const struct iso_strv *protect = &m->filesystem.inputs[0].protect;

	(void)state;
	assert_true(has(protect, ".git"));
	assert_true(has(protect, "Makefile"));
	assert_false(has(protect, ".git/hooks")); /* .git covers it */
	assert_true(has(protect, ".claude"));
	assert_true(has(protect, ".bashrc"));
	assert_int_equal(m->filesystem.inputs[1].protect.count, 0);
	iso_manifest_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minimal_gets_every_default),
		cmocka_unit_test(valid_keeps_every_value),
		cmocka_unit_test(writable_input_always_protects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
