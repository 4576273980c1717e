/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment of the entry command: what is in it, and what cannot get in. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/environment.h"

static struct iso_pair set_items[] = {{(char *)"CI", (char *)"1"},
				      {(char *)"PATH", (char *)"/opt/bin"}};
static char *pass_items[] = {(char *)"TERM", (char *)"API_TOKEN", (char *)"LD_PRELOAD",
			     (char *)"SSH_AUTH_SOCK", (char *)"CI"};

static struct iso_manifest manifest(void)
{
	struct iso_manifest m = {0};

	m.process.home = (char *)"/home/task";
	m.process.tmpdir = (char *)"/tmp";
	m.process.environment_set = (struct iso_pairs){set_items, 2};
	m.process.environment_pass = (struct iso_strv){pass_items, 5};
	return m;
}

static const char *value_of(char **environment, const char *name)
{
	size_t n = strlen(name), found = 0;
	const char *value = NULL;

	for (char **e = environment; *e; e++) {
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=') {
			value = *e + n + 1;
			found++;
		}
	}
	assert_true(found <= 1);
	return value;
}

static void the_defaults_and_what_is_set_and_passed(void **state)
{
	struct iso_pair passed[] = {{(char *)"TERM", (char *)"xterm"}, {(char *)"CI", (char *)"2"}};
	struct iso_manifest m = manifest();
	struct iso_pairs pairs = {passed, 2};
	struct iso_failure f = {0};
	char **e = NULL;

	(void)state;
	assert_int_equal(iso_environment_build(&m, &pairs, &e, &f), 0);
	assert_string_equal(value_of(e, "PATH"), "/opt/bin");
	assert_string_equal(value_of(e, "HOME"), "/home/task");
	assert_string_equal(value_of(e, "TMPDIR"), "/tmp");
	assert_string_equal(value_of(e, "LANG"), "C.UTF-8");
	assert_string_equal(value_of(e, "USER"), "task");
	assert_string_equal(value_of(e, "TERM"), "xterm");
	assert_string_equal(value_of(e, "CI"), "2");
	assert_string_equal(value_of(e, "GIT_TERMINAL_PROMPT"), "0");
	assert_string_equal(value_of(e, "GIT_CONFIG_NOSYSTEM"), "1");
	assert_string_equal(value_of(e, "PIP_CONFIG_FILE"), "/dev/null");
	assert_null(value_of(e, "SHELL"));
	free(e);
}

static void refused(const char *name, const char *value)
{
	struct iso_pair passed[] = {{(char *)name, (char *)value}};
	struct iso_manifest m = manifest();
	struct iso_pairs pairs = {passed, 1};
	struct iso_failure f = {0};
	char **e = NULL;

	assert_int_equal(iso_environment_build(&m, &pairs, &e, &f), -EPERM);
	assert_int_equal(f.class, ISO_CLASS_ENVIRONMENT);
	assert_null(e);
	/* A value is never shown: it may be what must not be seen. */
	assert_null(strstr(f.error.message, value));
}

static void what_may_not_pass_is_refused(void **state)
{
	(void)state;
	refused("SHELL", "/bin/unlisted"); /* not in the manifest */
	refused("API_TOKEN", "hunter2");
	refused("TERM", "-----BEGIN OPENSSH PRIVATE KEY-----");
	refused("LD_PRELOAD", "/tmp/x.so");
	refused("SSH_AUTH_SOCK", "/tmp/agent");
}

static void credential_helpers_stay_off(void **state)
{
	struct iso_pair item = {(char *)"GIT_TERMINAL_PROMPT", (char *)"1"};
	struct iso_manifest m = manifest();
	struct iso_pairs none = {0};
	struct iso_failure f = {0};
	char **e = NULL;

	(void)state;
	m.process.environment_set = (struct iso_pairs){&item, 1};
	assert_int_equal(iso_environment_build(&m, &none, &e, &f), -EPERM);
	assert_int_equal(f.class, ISO_CLASS_ENVIRONMENT);
	assert_null(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_and_what_is_set_and_passed),
		cmocka_unit_test(what_may_not_pass_is_refused),
		cmocka_unit_test(credential_helpers_stay_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
