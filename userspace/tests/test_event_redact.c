/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "event/redact.h"

#define TOKEN "ghp_abcdefghijklmnopqrstuvwxyz0123456789"

static void credentials_are_masked(void **state)
{
	static const struct {
		const char *line, *shown;
	} cases[] = {
		{"env API_TOKEN=abc make", "env API_TOKEN=*** make"},
		{"tool --api-key abc --verbose", "tool --api-key *** --verbose"},
		{"tool --password=abc x", "tool --password=*** x"},
		{"curl -H 'X-Api-Key: abc' u", "curl -H 'X-Api-Key: *** u"},
		{"curl -H Authorization: Bearer abc u", "curl -H Authorization: Bearer *** u"},
		{"curl -u me:secret http://h/", "curl -u me:*** http://h/"},
		{"git clone https://me:pw@h.example/x", "git clone ***"},
		{"push " TOKEN, "push ***"},
		{"x --header=" TOKEN, "x --header=***"},
		{"sh -c -----BEGIN RSA PRIVATE KEY-----", "sh ***"},
		{"-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN ***"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ISO_AUTO_FREE char *shown = NULL;

		assert_int_equal(iso_redact_command_line(cases[i].line, &shown), 0);
		assert_string_equal(shown, cases[i].shown);
	}
}

static void ordinary_words_stay(void **state)
{
	static const char *const lines[] = {
		"make -j2 CFLAGS=-O2 test",
		"cc -c -o /build/a.o a.c",
		"python3 -m pip install --user requests",
		"sh -c  two  spaces",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		ISO_AUTO_FREE char *shown = NULL;

		assert_int_equal(iso_redact_command_line(lines[i], &shown), 0);
		assert_string_equal(shown, lines[i]);
	}
}

static void what_is_left_is_escaped_and_bounded(void **state)
{
	ISO_AUTO_FREE char *shown = NULL, *cut = NULL, *line = calloc(1, 100000);

	(void)state;
	assert_int_equal(iso_redact_command_line("a \x1b[2J", &shown), 0);
	assert_string_equal(shown, "a \\u{1b}[2J");
	memset(line, 1, 99999);
	assert_int_equal(iso_redact_command_line(line, &cut), 0);
	assert_true(strlen(cut) < ISO_COMMAND_LINE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(credentials_are_masked),
		cmocka_unit_test(ordinary_words_stay),
		cmocka_unit_test(what_is_left_is_escaped_and_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
