/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts under the checker: paths, quantities, suggestions, positions, credentials, places. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/places.h"
#include "manifest/scan.h"
#include "manifest/secrets.h"
#include "manifest/suggest.h"
#include "manifest/units.h"

static void paths_are_absolute_and_normal(void **state)
{
	static const struct {
		const char *path;
		enum iso_path_fault absolute, relative;
	} rows[] = {
		{"/", ISO_PATH_OK, ISO_PATH_ROOTED},
		{"/a/b", ISO_PATH_OK, ISO_PATH_ROOTED},
		{"a/b", ISO_PATH_RELATIVE, ISO_PATH_OK},
		{"...", ISO_PATH_RELATIVE, ISO_PATH_OK},
		{"", ISO_PATH_EMPTY, ISO_PATH_EMPTY},
		{"/a/", ISO_PATH_NOT_NORMAL, ISO_PATH_ROOTED},
		{"//", ISO_PATH_NOT_NORMAL, ISO_PATH_ROOTED},
		{"/a//b", ISO_PATH_NOT_NORMAL, ISO_PATH_ROOTED},
		{"/./a", ISO_PATH_NOT_NORMAL, ISO_PATH_ROOTED},
		{"/a/..", ISO_PATH_NOT_NORMAL, ISO_PATH_ROOTED},
		{"../a", ISO_PATH_RELATIVE, ISO_PATH_NOT_NORMAL},
		{".", ISO_PATH_RELATIVE, ISO_PATH_NOT_NORMAL},
	};
	char text[ISO_PATH_BYTES + 3];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(iso_path_absolute(rows[i].path), rows[i].absolute);
		assert_int_equal(iso_path_relative(rows[i].path), rows[i].relative);
	}
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 2 ? 'a' : '/';
	text[ISO_PATH_BYTES - 1] = '\0';
	assert_int_equal(iso_path_absolute(text), ISO_PATH_OK);
	text[ISO_PATH_BYTES - 1] = 'a';
	text[ISO_PATH_BYTES + 1] = '\0';
	assert_int_equal(iso_path_absolute(text), ISO_PATH_LONG);
	assert_int_equal(iso_path_relative(text + 1), ISO_PATH_OK);
	memset(text, 'a', 257);
	text[0] = '/';
	text[257] = '\0';
	assert_int_equal(iso_path_absolute(text), ISO_PATH_LONG);
	text[256] = '\0';
	assert_int_equal(iso_path_absolute(text), ISO_PATH_OK);
}

static void within_means_whole_components(void **state)
{
	(void)state;
	assert_true(iso_path_within("/a/b", "/a"));
	assert_true(iso_path_within("/a", "/a"));
	assert_true(iso_path_within("/a", "/"));
	assert_false(iso_path_within("/ab", "/a"));
	assert_false(iso_path_within("/", "/a"));
	assert_true(iso_path_overlaps("/a", "/a/b"));
	assert_false(iso_path_overlaps("/a/b", "/a/c"));
}

static void quantities_are_exact(void **state)
{
	static const struct {
		int (*parse)(const char *s, uint64_t *ret);
		const char *text;
		int r;
		uint64_t value;
	} rows[] = {
		{iso_size_parse, "512MiB", 0, 512ull << 20},
		{iso_size_parse, "0KiB", 0, 0},
		{iso_size_parse, "16777215TiB", 0, 16777215ull << 40},
		{iso_size_parse, "16777216TiB", -ERANGE, 0},
		{iso_size_parse, "99999999999999999999KiB", -ERANGE, 0},
		{iso_size_parse, "99999999999999999999", -EINVAL, 0},
		{iso_size_parse, "512", -EINVAL, 0},
		{iso_size_parse, "512MB", -EINVAL, 0},
		{iso_size_parse, "512 MiB", -EINVAL, 0},
		{iso_size_parse, "1.5GiB", -EINVAL, 0},
		{iso_size_parse, "-1KiB", -EINVAL, 0},
		{iso_size_parse, "01KiB", -EINVAL, 0},
		{iso_size_parse, "", -EINVAL, 0},
		{iso_size_parse, "MiB", -EINVAL, 0},
		{iso_rate_parse, "10MiB/s", 0, 10ull << 20},
		{iso_rate_parse, "10MiB", -EINVAL, 0},
		{iso_time_parse, "1500ms", 0, 1500},
		{iso_time_parse, "2h", 0, 7200000},
		{iso_time_parse, "2d", -EINVAL, 0},
	};
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		n = 0;
		assert_int_equal(rows[i].parse(rows[i].text, &n), rows[i].r);
		assert_true(n == rows[i].value);
	}
	assert_int_equal(iso_cpus_milli(0.5, &n), 0);
	assert_int_equal(n, 500);
	assert_int_equal(iso_cpus_milli(-1, &n), -ERANGE);
	assert_int_equal(iso_cpus_milli(1e300, &n), -ERANGE);
}

static void umasks_are_octal_texts(void **state)
{
	uint32_t mask;

	(void)state;
	assert_int_equal(iso_umask_parse("022", &mask), 0);
	assert_int_equal(mask, 022);
	assert_int_equal(iso_umask_parse("0777", &mask), 0);
	assert_int_equal(mask, 0777);
	assert_int_equal(iso_umask_parse("1777", &mask), -ERANGE);
	assert_int_equal(iso_umask_parse("22", &mask), -EINVAL);
	assert_int_equal(iso_umask_parse("08", &mask), -EINVAL);
	assert_int_equal(iso_umask_parse("rwx", &mask), -EINVAL);
}

static void quantities_are_shown_as_they_are_written(void **state)
{
	char out[32];

	(void)state;
	assert_string_equal(iso_size_format(512ull << 20, out, sizeof out), "512MiB");
	assert_string_equal(iso_size_format(1025, out, sizeof out), "1025");
	assert_string_equal(iso_time_format(90000, out, sizeof out), "90s");
	assert_string_equal(iso_time_format(1, out, sizeof out), "1ms");
}

static const char *suggested(const char *typed, const char *const *words)
{
	static char out[64];
	struct iso_suggest s;

	iso_suggest_begin(&s, typed);
	for (; *words; words++)
		iso_suggest_consider(&s, *words, strlen(*words));
	snprintf(out, sizeof out, "%.*s", (int)s.best_length, s.best ? s.best : "");
	return out;
}

static void slips_find_what_was_meant(void **state)
{
	static const char *const words[] = {"scratch", "inputs", "assert_absent", "deny", NULL};
	char long_word[100];

	(void)state;
	assert_string_equal(suggested("scartch", words), "scratch");
	assert_string_equal(suggested("input", words), "inputs");
	assert_string_equal(suggested("Assert-Absent", words), "assert_absent");
	assert_string_equal(suggested("dney", words), "deny");
	assert_string_equal(suggested("network", words), "");
	assert_string_equal(suggested("", words), "");
	memset(long_word, 'x', sizeof long_word);
	long_word[sizeof long_word - 1] = '\0';
	assert_string_equal(suggested(long_word, words), "");
}

struct seen {
	char text[1024];
};

static void note(void *data, const struct iso_spot *s)
{
	struct seen *seen = data;
	size_t n = strlen(seen->text);

	assert_true(s->hash == iso_pointer_hash(s->pointer, s->length));
	snprintf(seen->text + n, sizeof seen->text - n, "%.*s %u:%u %u:%u\n", (int)s->length,
		 s->pointer, s->key.line, s->key.column, s->value.line, s->value.column);
}

static void every_value_has_its_place(void **state)
{
	static const char text[] = "\n{ \"a\" : [1, \"x\\\"]\" ,{}],\r\n"
				   "\t\"\xc3\xa9/~\\u0041\\ud83d\\ude00\\n\": true, \"\": []}";
	struct seen seen = {""};

	(void)state;
	assert_int_equal(iso_scan(text, sizeof text - 1, note, &seen), 0);
	assert_string_equal(seen.text, " 2:1 2:1\n"
				       "/a 2:3 2:9\n"
				       "/a/0 2:10 2:10\n"
				       "/a/1 2:13 2:13\n"
				       "/a/2 2:21 2:21\n"
				       "/\xc3\xa9~1~0A\xf0\x9f\x98\x80\n 3:2 3:29\n"
				       "/ 3:35 3:39\n");
}

static void the_scanner_refuses_what_is_not_json(void **state)
{
	static const char *const bad[] = {"",	   "{",	    "[1",	"{\"a\"}", "{\"a\" 1}",
					  "[1 2]", "\"abc", "{1:2}",	"[,]",	   "{\"a\":}",
					  "]",	   "[\"a",  "{\"a\\u00"};
	struct seen seen = {""};
	char deep[200];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(iso_scan(bad[i], strlen(bad[i]), note, &seen), -EBADMSG);
	memset(deep, '[', sizeof deep);
	seen.text[0] = '\0';
	assert_int_equal(iso_scan(deep, sizeof deep, note, &seen), -EBADMSG);
	assert_int_equal(iso_scan_too_deep(deep, sizeof deep, 64), 64);
	assert_int_equal(iso_scan_too_deep("[\"[[\\\"[[\"][]}}[", 15, 1), 15);
}

static void credentials_are_known_by_their_looks(void **state)
{
	static const char *const secret[] = {
		"ghp_0123456789abcdefghijABCDEFGHIJ012345",
		"token=ghp_0123456789abcdefghijABCDEFGHIJ012345",
		"AKIAIOSFODNN7EXAMPLE",
		"sk-abcdefghijklmnopqrstuvwxyz",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
		"postgres://user:password@db.example.com/x",
		"k7Qz2mXw9RtY4bNv8LpJ3hGf6DsA1cVe",
		"Bearer abcdefghijkl",
	};
	static const char *const plain[] = {
		"",
		"/usr/local/bin:/usr/bin:/bin",
		"2026-11-30T02:59:02Z",
		"da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"550e8400-e29b-41d4-a716-446655440000",
		"https://packages.example.com/a?b=c",
		"ssh://git@code.example.com/a",
		"--with-a-very-long-configure-option=/usr/lib/x86_64-linux-gnu",
		"MyProjectVersionTwoPointZeroBeta2026",
		"-O2 -g -fstack-protector-strong",
		"task-sk-abc",
		"http://host:8080/path@2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
		if (!iso_secret_value(secret[i]))
			fail_msg("not seen: %s", secret[i]);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (iso_secret_value(plain[i]))
			fail_msg("%s: %s", plain[i], iso_secret_value(plain[i]));
}

static void names_of_variables_are_judged(void **state)
{
	(void)state;
	assert_non_null(iso_secret_name("GITHUB_TOKEN"));
	assert_non_null(iso_secret_name("githubtoken"));
	assert_non_null(iso_secret_name("DB_PASSWORD"));
	assert_non_null(iso_secret_name("AWS_ACCESS_KEY_ID"));
	assert_non_null(iso_secret_name("SECRET"));
	assert_null(iso_secret_name("MAX_TOKENS"));
	assert_null(iso_secret_name("TOKENIZERS_PARALLELISM"));
	assert_null(iso_secret_name("PATH"));
	assert_null(iso_secret_name("PWD"));
	assert_null(iso_secret_name("COMPAT"));
	assert_true(iso_agent_name("SSH_AUTH_SOCK"));
	assert_true(iso_agent_name("docker_host"));
	assert_false(iso_agent_name("CI"));
	assert_int_equal(iso_loader_name("LD_PRELOAD"), ISO_LOADER_CODE);
	assert_int_equal(iso_loader_name("LD_LIBRARY_PATH"), ISO_LOADER_PATH);
	assert_int_equal(iso_loader_name("LD_SOMETHING_NEW"), ISO_LOADER_PATH);
	assert_int_equal(iso_loader_name("LDFLAGS"), ISO_LOADER_NONE);
}

static void places_are_known(void **state)
{
	(void)state;
	assert_non_null(iso_place_secret("/etc/shadow"));
	assert_non_null(iso_place_secret("/etc")); /* holds it */
	assert_non_null(iso_place_secret("/home/u/.ssh/known_hosts"));
	assert_non_null(iso_place_secret("/home/u/.config")); /* holds .config/gh */
	assert_non_null(iso_place_secret("/srv/keys/server.key"));
	assert_non_null(iso_place_secret("sub/.netrc"));
	assert_null(iso_place_secret("/etc/alternatives"));
	assert_null(iso_place_secret("/srv/x.sshd"));
	assert_null(iso_place_secret("/usr"));
	assert_null(iso_place_secret_itself(".config"));
	assert_non_null(iso_place_secret_itself("a/.config/gh"));
	assert_non_null(iso_place_socket("/var/run/docker.sock"));
	assert_non_null(iso_place_socket("/run"));
	assert_non_null(iso_place_socket("/srv/agent.sock"));
	assert_null(iso_place_socket("/srv"));
	assert_true(iso_place_device("/dev/sda"));
	assert_false(iso_place_device("/devel"));
	assert_true(iso_place_kernel("/sys"));
	assert_true(iso_place_home("/home"));
	assert_true(iso_place_home("/home/u"));
	assert_true(iso_place_home("/root"));
	assert_false(iso_place_home("/home/u/project"));
	assert_string_equal(iso_place_reserved("/etc"), "/etc/passwd");
	assert_null(iso_place_reserved("/etc/alternatives"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_absolute_and_normal),
		cmocka_unit_test(within_means_whole_components),
		cmocka_unit_test(quantities_are_exact),
		cmocka_unit_test(umasks_are_octal_texts),
		cmocka_unit_test(quantities_are_shown_as_they_are_written),
		cmocka_unit_test(slips_find_what_was_meant),
		cmocka_unit_test(every_value_has_its_place),
		cmocka_unit_test(the_scanner_refuses_what_is_not_json),
		cmocka_unit_test(credentials_are_known_by_their_looks),
		cmocka_unit_test(names_of_variables_are_judged),
		cmocka_unit_test(places_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
