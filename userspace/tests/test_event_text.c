/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "event/run.h"
#include "event/text.h"
#include "test_event_samples.h"

static const struct iso_text_style plain = {.utc = true};

static json_t *encode(const struct iso_record *r)
{
	ISO_AUTO_FREE char *line = NULL;
	struct iso_run *run = NULL;
	json_t *o;

	assert_int_equal(iso_run_new(&sample_run, &run), 0);
	line = iso_ocsf_encode(run, r, 1);
	o = json_loads(line, 0, NULL);
	iso_run_free(run);
	return o;
}

static const char *shown(const struct iso_record *r, const struct iso_text_style *style)
{
	static char out[8192];
	json_t *o = encode(r);

	assert_int_equal(iso_event_text(o, style, out, sizeof out), 0);
	json_decref(o);
	return out;
}

static void every_kind_is_one_readable_line(void **state)
{
	static const char *const lines[ISO_RECORD_KINDS] = {
		[ISO_RECORD_FILE] =
			"22:13:21.000 DENIED open-for-write /work/.git/hooks/pre-commit — the rule "
			"that covers it does not grant this (rule /filesystem/inputs/0/protect) by "
			"sh[12] EACCES",
		[ISO_RECORD_ABSENT] =
			"22:13:21.000 DENIED open-absent-path /work/.git/hooks/pre-commit — the "
			"path does not exist here (rule /filesystem/inputs/0/protect) by sh[12] "
			"ENOENT",
		[ISO_RECORD_NET] = "22:13:21.000 DENIED connect 192.0.2.1:443 — this destination "
				   "is not granted by sh[12] EACCES",
		[ISO_RECORD_EXEC] =
			"22:13:21.000 DENIED execute /work/.git/hooks/pre-commit — the rule that "
			"covers it does not grant this (rule /filesystem/inputs/0/protect) by "
			"sh[12] EACCES",
		[ISO_RECORD_KERNEL] =
			"22:13:21.000 DENIED mount — no task may use this kernel interface (rule "
			"/filesystem/inputs/0/protect) by sh[12] EPERM",
		[ISO_RECORD_TAMPER] = "22:13:21.000 TAMPER bpf — the rule that covers it does not "
				      "grant this (rule /filesystem/inputs/0/protect) by sh[12] "
				      "EACCES",
		[ISO_RECORD_STARTED] = "22:13:21.000 STARTED /work/.git/hooks/pre-commit as sh[12]",
		[ISO_RECORD_ENDED] =
			"22:13:21.000 ENDED /work/.git/hooks/pre-commit sh[12] — signal 9",
		[ISO_RECORD_SURVIVOR] = "22:13:21.000 KILLED /work/.git/hooks/pre-commit sh[12] — "
					"it outlived its parent; isoinit ended it",
		[ISO_RECORD_LIMIT] = "22:13:21.000 LIMIT memory — 101 of 100",
		[ISO_RECORD_STATE] = "22:13:21.000 SEALED task build-4711, attempt 1",
		[ISO_RECORD_GAP] = "22:13:21.000 GAP 3 events lost — ring-full",
	};

	(void)state;
	for (int kind = 0; kind < ISO_RECORD_KINDS; kind++) {
		struct iso_record r = sample_record(kind);

		assert_string_equal(shown(&r, &plain), lines[kind]);
	}
}

static void style_adds_date_run_count_and_colour(void **state)
{
	struct iso_record r = sample_record(ISO_RECORD_LIMIT);
	struct iso_text_style style = {.utc = true, .date = true, .run = true, .colour = true};

	(void)state;
	assert_string_equal(shown(&r, &style), "2023-11-14 22:13:21.000 run-1 "
					       "\033[1;33mLIMIT\033[0m memory — 101 of 100");
	r = sample_record(ISO_RECORD_NET);
	r.count = 7;
	r.first_time = r.time;
	r.expected = true;
	r.family = AF_INET6;
	memset(r.address, 0, 16);
	r.address[15] = 1;
	assert_string_equal(shown(&r, &plain),
			    "22:13:21.000 DENIED connect [::1]:443 — this destination is not "
			    "granted by sh[12] EACCES (7 times) (expected)");
}

/* Two bytes a character, so that the cut would fall into one. */
static void long_commands_are_cut_between_characters(void **state)
{
	struct iso_record r = sample_record(ISO_RECORD_STARTED);
	char command[1 + 2 * 200 + 1] = "x", want[512], out[8192];
	json_t *o = encode(&r);

	(void)state;
	for (size_t i = 1; i + 2 < sizeof command; i += 2)
		memcpy(command + i, "\xc3\xa4", 3);
	json_object_set_new(json_object_get(o, "process"), "cmd_line", json_string(command));
	assert_int_equal(iso_event_text(o, &plain, out, sizeof out), 0);
	snprintf(want, sizeof want, " %.199s … as sh[12]", command);
	assert_non_null(strstr(out, want));
	json_decref(o);
}

/* A file that somebody else has written to: nothing in it reaches the terminal raw. */
static void nothing_gets_out_raw(void **state)
{
	struct iso_record r = sample_record(ISO_RECORD_FILE);
	char out[8192];
	json_t *o;

	(void)state;
	snprintf(r.path, sizeof r.path, "%s", "/a\\b\x1b");
	assert_non_null(strstr(shown(&r, &plain), " /a\\\\b\\u{1b} "));
	o = encode(&r);
	json_object_set_new(json_object_get(o, "file"), "path",
			    json_string("\x1b[2J\n\xe2\x80\xae"));
	json_object_set_new(o, "status_code", json_string("\x07"));
	assert_int_equal(iso_event_text(o, &plain, out, sizeof out), 0);
	for (const char *p = out; *p; p++)
		assert_false((unsigned char)*p < 0x20);
	assert_null(strstr(out, "\xe2\x80\xae"));
	json_decref(o);
}

static void other_json_is_not_ours(void **state)
{
	char out[64];
	json_t *o = json_pack("{s:s}", "message", "hello");

	(void)state;
	assert_int_equal(iso_event_text(o, &plain, out, sizeof out), -EBADMSG);
	json_decref(o);
}

static void a_line_that_does_not_fit_is_cut(void **state)
{
	struct iso_record r = sample_record(ISO_RECORD_FILE);
	json_t *o = encode(&r);
	char out[40];

	(void)state;
	assert_int_equal(iso_event_text(o, &plain, out, sizeof out), 0);
	assert_int_equal(strlen(out), sizeof out - 1);
	json_decref(o);
}

static void times_are_understood(void **state)
{
	static const char *const bad[] = {"",	 "x",	       "10",	"10x",
					  "-5m", "2026-13-01", "12:61", "5m "};
	const int64_t now = 1700000000000;

	(void)state;
	assert_int_equal(iso_text_time("10m", now), now - 600000);
	assert_int_equal(iso_text_time("2h", now), now - 7200000);
	assert_int_equal(iso_text_time("1d", now), now - 86400000);
	assert_int_equal(iso_text_time("2023-11-14T22:13:20Z", now), now);
	assert_int_equal(iso_text_time("2023-11-14T22:13Z", now), now - 20000);
	assert_true(iso_text_time("12:30", now) > now - 2 * 86400000ll);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(iso_text_time(bad[i], now), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_one_readable_line),
		cmocka_unit_test(style_adds_date_run_count_and_colour),
		cmocka_unit_test(long_commands_are_cut_between_characters),
		cmocka_unit_test(nothing_gets_out_raw),
		cmocka_unit_test(other_json_is_not_ours),
		cmocka_unit_test(a_line_that_does_not_fit_is_cut),
		cmocka_unit_test(times_are_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
