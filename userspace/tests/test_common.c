/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/io.h"
#include "common/text.h"

static const char *escaped(const char *s, size_t n)
{
	static char out[64];

	return iso_text_escape(s, n, out, sizeof out);
}

static void escape_shows_what_terminals_hide(void **state)
{
	(void)state;
	assert_string_equal(escaped("plain \xc3\xa9", 8), "plain \xc3\xa9");
	assert_string_equal(escaped("\x1b[31m", 5), "\\u{1b}[31m");
	assert_string_equal(escaped("a\0b", 3), "a\\u{0}b");
	assert_string_equal(escaped("\xe2\x80\xae", 3), "\\u{202e}");
	assert_string_equal(escaped("\xff\xc3", 2), "\\xff\\xc3");
	assert_string_equal(escaped("\\", 1), "\\\\");
}

static void escape_cuts_at_a_whole_unit(void **state)
{
	char out[8];

	(void)state;
	assert_string_equal(iso_text_escape("abcdefghij", 10, out, sizeof out), "abcd...");
	assert_string_equal(iso_text_escape("\x01\x01\x01", 3, out, sizeof out), "...");
	assert_string_equal(iso_text_escape("abc", 3, out, 1), "");
}

static void utf8_refuses_every_malformed_kind(void **state)
{
	static const char *const bad[] = {"\xc0\x80",	      "\xe0\x80\x80",	  "\xed\xa0\x80",
					  "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80",
					  "\xe2\x82"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(iso_utf8_valid(bad[i], strlen(bad[i])));
	assert_true(iso_utf8_valid("\xf0\x9f\x98\x80z", 5));
	assert_true(iso_utf8_valid("", 0));
}

static void read_all_bounds_what_it_takes(void **state)
{
	ISO_AUTO_FREE char *text = NULL;
	size_t n = 0;
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(iso_write_all(p[1], "12345", 5), 0);
	close(p[1]);
	assert_int_equal(iso_read_all(p[0], 4, &text, &n), -EFBIG);
	assert_null(text);
	close(p[0]);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(iso_write_all(p[1], "12345", 5), 0);
	close(p[1]);
	assert_int_equal(iso_read_all(p[0], 5, &text, &n), 0);
	assert_string_equal(text, "12345");
	assert_int_equal(n, 5);
	close(p[0]);
}

static void error_keeps_step_cause_and_remedy(void **state)
{
	struct iso_error e = {0};

	(void)state;
	assert_int_equal(
		iso_error_set(&e, -ENOSPC, "cgroup", "free some", "cannot make %s: %m", "x"),
		-ENOSPC);
	assert_string_equal(e.message, "cannot make x: No space left on device");
	assert_string_equal(e.step, "cgroup");
	assert_string_equal(e.remedy, "free some");
	assert_false(e.retryable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escape_shows_what_terminals_hide),
		cmocka_unit_test(escape_cuts_at_a_whole_unit),
		cmocka_unit_test(utf8_refuses_every_malformed_kind),
		cmocka_unit_test(read_all_bounds_what_it_takes),
		cmocka_unit_test(error_keeps_step_cause_and_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
