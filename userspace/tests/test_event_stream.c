/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "event/verify.h"
#include "test_event_samples.h"

#define SECOND 1000000000ull

/* A stream in a directory of its own, with a clock that stands still until it is told. */
struct fixture {
	char directory[64];
	struct iso_stream *stream;
	uint64_t ns;
	json_t *lines; /* what has been written, parsed */
	struct iso_run_summary summary;
};

static uint64_t fake_now(void *data, int clock)
{
	struct fixture *f = data;

	return f->ns + (clock == CLOCK_REALTIME ? 1700000000 * SECOND : 0);
}

static void open_stream(struct fixture *f, const struct iso_stream_options *more)
{
	struct iso_stream_options o = more ? *more : (struct iso_stream_options){0};
	struct iso_error e = {0};

	o.directory = f->directory;
	o.now = fake_now;
	o.now_data = f;
	if (iso_stream_new(&o, &f->stream, &e) < 0)
		fail_msg("%s", e.message);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	snprintf(f->directory, sizeof f->directory, "/tmp/iso-test-stream-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	f->ns = 100 * SECOND;
	*state = f;
	open_stream(f, NULL);
	assert_int_equal(iso_stream_add_run(f->stream, &sample_run), 0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	iso_stream_free(f->stream);
	iso_run_summary_free(&f->summary);
	json_decref(f->lines);
	assert_int_equal(sample_remove(f->directory), 0);
	free(f);
	return 0;
}

/* Reads back what was written and checks the chain. Returns the number of lines. */
static size_t written(struct fixture *f)
{
	ISO_AUTO_FREE char *all = NULL;
	char path[128];
	struct iso_verify *v = NULL;
	const struct iso_verified *run;
	size_t size, number = 0;

	iso_stream_flush(f->stream);
	snprintf(path, sizeof path, "%s/events.ndjson", f->directory);
	assert_int_equal(iso_read_file(-1, path, 1 << 26, &all, &size), 0);
	json_decref(f->lines);
	f->lines = json_array();
	assert_int_equal(iso_verify_new(&v), 0);
	for (char *p = all, *end; (end = strchr(p, '\n')); p = end + 1) {
		assert_int_equal(iso_verify_line(v, "f", ++number, p, (size_t)(end - p)), 0);
		json_array_append_new(f->lines, json_loadb(p, (size_t)(end - p), 0, NULL));
	}
	for (run = iso_verify_finish(v); run; run = run->next)
		assert_int_equal(run->fault, ISO_FAULT_NONE);
	iso_verify_free(v);
	return number;
}

static const char *kind(const struct fixture *f, size_t i)
{
	const json_t *u = json_object_get(json_array_get(f->lines, i), "unmapped");
	const char *s = json_string_value(json_object_get(json_object_get(u, "isoctl"), "kind"));

	return s ? s : "(none)";
}

static json_int_t own(const struct fixture *f, size_t i, const char *key)
{
	const json_t *u = json_object_get(json_array_get(f->lines, i), "unmapped");

	return json_integer_value(json_object_get(json_object_get(u, "isoctl"), key));
}

static json_int_t top(const struct fixture *f, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(f->lines, i), key));
}

static void send_event(struct fixture *f, uint64_t sequence, const char *path)
{
	struct iso_event e = sample_event(sequence);

	sample_path(&e, path);
	assert_int_equal(iso_stream_ring(f->stream, &e, sizeof e), 0);
}

static void end(struct fixture *f, const struct iso_tally *kernel)
{
	assert_int_equal(iso_stream_end_run(f->stream, SAMPLE_SANDBOX, kernel, &f->summary), 0);
}

static void one_sequence_for_both_origins(void **state)
{
	struct fixture *f = *state;
	struct iso_record sealed = sample_record(ISO_RECORD_STATE);
	struct iso_record limit = sample_record(ISO_RECORD_LIMIT);

	assert_int_equal(iso_stream_emit(f->stream, &sealed), 0);
	send_event(f, 1, "/a");
	assert_int_equal(iso_stream_emit(f->stream, &limit), 0);
	send_event(f, 2, "/b");
	end(f, &(struct iso_tally){.account = {.sequence = 2}});
	assert_int_equal(written(f), 5);
	for (size_t i = 0; i < 5; i++) {
		const json_t *m = json_object_get(json_array_get(f->lines, i), "metadata");

		assert_int_equal(json_integer_value(json_object_get(m, "sequence")), i + 1);
	}
	assert_string_equal(kind(f, 0), "state");
	assert_string_equal(kind(f, 1), "file");
	assert_int_equal(own(f, 3, "kernel_sequence"), 2);
	assert_int_equal(f->summary.records, 5);
	assert_int_equal(f->summary.last_sequence, 5);
	assert_int_equal(f->summary.happened[ISO_RECORD_FILE], 2);
	assert_int_equal(f->summary.lost, 0);
	assert_int_equal(f->summary.unwritten, 0);
}

static void time_is_wall_time(void **state)
{
	struct fixture *f = *state;

	send_event(f, 1, "/a"); /* one second after boot; now is 100 s after */
	written(f);
	assert_int_equal(top(f, 0, "time"), 1700000001000);
}

static void repeats_become_one_record_with_a_count(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 100; i++)
		send_event(f, i, "/same");
	assert_int_equal(written(f), 1);
	f->ns += SECOND / 2;
	iso_stream_tick(f->stream);
	assert_int_equal(written(f), 1);
	f->ns += SECOND / 2;
	iso_stream_tick(f->stream);
	assert_int_equal(written(f), 2);
	assert_int_equal(top(f, 1, "count"), 99);
	send_event(f, 101, "/same");
	end(f, NULL);
	assert_int_equal(written(f), 4);
	assert_string_equal(kind(f, 2), "file");
	assert_int_equal(f->summary.happened[ISO_RECORD_FILE], 101);
	assert_int_equal(f->summary.refusal_count, 1);
	assert_int_equal(f->summary.refusals[0].count, 101);
	assert_int_equal(f->summary.lost, 0);
}

static void another_verdict_is_no_repeat(void **state)
{
	struct fixture *f = *state;
	struct iso_event e = sample_event(1);

	iso_stream_kernel_event(f->stream, &e);
	e.sequence = 2;
	e.reason = ISO_REASON_NAME;
	iso_stream_kernel_event(f->stream, &e);
	e.sequence = 3;
	e.hook = ISO_HOOK_path_unlink;
	iso_stream_kernel_event(f->stream, &e);
	e.sequence = 4;
	e.pid = 4000; /* the same refusal of another process is one */
	iso_stream_kernel_event(f->stream, &e);
	assert_int_equal(written(f), 3);
}

static void a_hole_becomes_a_gap(void **state)
{
	struct fixture *f = *state;

	send_event(f, 1, "/a");
	send_event(f, 5, "/b");
	assert_int_equal(written(f), 2);
	f->ns += SECOND;
	iso_stream_tick(f->stream);
	assert_int_equal(written(f), 3);
	assert_string_equal(kind(f, 2), "gap");
	assert_int_equal(own(f, 2, "lost"), 3);
	assert_int_equal(own(f, 2, "first_seq"), 3);
	assert_int_equal(own(f, 2, "last_seq"), 5);
	send_event(f, 6, "/c");
	assert_int_equal(written(f), 4);
	end(f, NULL);
	assert_int_equal(f->summary.lost, 3);
	assert_int_equal(f->summary.gaps, 1);
}

static void late_records_fill_their_hole(void **state)
{
	struct fixture *f = *state;
	static const uint64_t order[] = {3, 1, 2, 7, 5, 6, 4};

	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		char path[16];

		snprintf(path, sizeof path, "/%zu", i);
		send_event(f, order[i], path);
	}
	f->ns += 2 * SECOND;
	iso_stream_tick(f->stream);
	end(f, &(struct iso_tally){.account = {.sequence = 7}});
	assert_int_equal(written(f), 8);
	assert_int_equal(f->summary.gaps, 0);
	assert_int_equal(f->summary.lost, 0);
}

static void a_record_that_comes_twice_is_taken_once(void **state)
{
	struct fixture *f = *state;
	struct iso_event e = sample_event(1);

	assert_int_equal(iso_stream_kernel_event(f->stream, &e), 0);
	assert_int_equal(iso_stream_kernel_event(f->stream, &e), -EALREADY);
	end(f, NULL);
	assert_int_equal(f->summary.happened[ISO_RECORD_FILE], 1);
}

static void losses_at_the_end_are_told_with_their_cause(void **state)
{
	struct fixture *f = *state;

	send_event(f, 1, "/a");
	end(f, &(struct iso_tally){.account = {.sequence = 11, .lost_rate = 10}});
	assert_int_equal(written(f), 3);
	assert_string_equal(kind(f, 1), "gap");
	assert_int_equal(own(f, 1, "lost"), 10);
	assert_string_equal(
		json_string_value(json_object_get(
			json_object_get(json_object_get(json_array_get(f->lines, 1), "unmapped"),
					"isoctl"),
			"cause")),
		"rate-limit");
	assert_int_equal(f->summary.lost, 10);
	assert_int_equal(f->summary.last_sequence, 13);
}

static void many_holes_are_all_told(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 600; i += 3)
		send_event(f, i, "/same");
	end(f, &(struct iso_tally){.account = {.sequence = 600, .lost_full = 400}});
	written(f);
	assert_int_equal(f->summary.lost, 400);
	assert_int_equal(f->summary.happened[ISO_RECORD_FILE], 200);
}

static void malformed_records_are_counted_and_show_as_a_gap(void **state)
{
	struct fixture *f = *state;
	struct iso_event e = sample_event(2);
	struct iso_stream_counters c;

	send_event(f, 1, "/a");
	e.kind = 99;
	assert_int_equal(iso_stream_ring(f->stream, &e, sizeof e), -EBADMSG);
	assert_int_equal(iso_stream_ring(f->stream, "x", 1), -EBADMSG);
	send_event(f, 3, "/b");
	end(f, NULL);
	iso_stream_counters(f->stream, &c);
	assert_int_equal(c.malformed, 2);
	assert_int_equal(f->summary.lost, 1);
	written(f);
}

static void a_stranger_has_no_stream(void **state)
{
	struct fixture *f = *state;
	struct iso_event e = sample_event(1);
	struct iso_record r = sample_record(ISO_RECORD_LIMIT);
	struct iso_stream_counters c;

	e.sandbox = r.sandbox = 999;
	assert_int_equal(iso_stream_kernel_event(f->stream, &e), -ENOENT);
	assert_int_equal(iso_stream_emit(f->stream, &r), -ENOENT);
	assert_int_equal(iso_stream_end_run(f->stream, 999, NULL, &f->summary), -ENOENT);
	assert_int_equal(iso_stream_add_run(f->stream, &sample_run), -EEXIST);
	r = sample_record(ISO_RECORD_GAP);
	assert_int_equal(iso_stream_emit(f->stream, &r), -EINVAL);
	iso_stream_counters(f->stream, &c);
	assert_int_equal(c.unknown_run, 2);
}

/* Ordinary records have a rate; the first of a kind, tampering and limits always pass. */
static void the_rate_spares_what_matters(void **state)
{
	struct fixture *f = *state;
	struct iso_record tamper = sample_record(ISO_RECORD_TAMPER);
	struct iso_record limit = sample_record(ISO_RECORD_LIMIT);
	size_t n;

	for (uint64_t i = 1; i <= 1000; i++) {
		char path[16];

		snprintf(path, sizeof path, "/%u", (unsigned)i);
		send_event(f, i, path);
	}
	tamper.kernel_sequence = 0;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(iso_stream_emit(f->stream, &tamper), 0);
		assert_int_equal(iso_stream_emit(f->stream, &limit), 0);
	}
	end(f, &(struct iso_tally){.account = {.sequence = 1000}});
	n = written(f);
	assert_in_range(n, 200, 215);
	assert_int_equal(f->summary.happened[ISO_RECORD_FILE], 1000);
	assert_int_equal(f->summary.happened[ISO_RECORD_TAMPER], 3);
	assert_int_equal(f->summary.happened[ISO_RECORD_LIMIT], 3);
	/* 200 at the rate and 1 as the first of its kind */
	assert_int_equal(f->summary.lost, 799);
	assert_int_equal(f->summary.refusal_count, ISO_REFUSALS_MAX);
	assert_int_equal(f->summary.refusals_more, 1000 - ISO_REFUSALS_MAX + 3);
}

static void more_kinds_than_are_told_apart_is_said(void **state)
{
	struct fixture *f = *state;
	struct iso_event e = sample_event(1);
	bool said = false;

	for (uint64_t i = 1; i <= 300; i++) {
		e.sequence = i;
		e.rule = (uint32_t)i;
		assert_int_equal(iso_stream_kernel_event(f->stream, &e), 0);
	}
	end(f, NULL);
	for (size_t i = written(f); i-- > 0;) {
		const json_t *u = json_object_get(json_array_get(f->lines, i), "unmapped");
		const char *cause =
			json_string_value(json_object_get(json_object_get(u, "isoctl"), "cause"));

		said = said || (cause && !strcmp(cause, "too-many-kinds"));
	}
	assert_true(said);
}

static void expected_refusals_are_one_count(void **state)
{
	struct fixture *f = *state;
	char *items[] = {(char *)"file:/proc/sys/kernel/core_pattern",
			 (char *)"network:192.0.2.1:443"};
	struct iso_strv expected = {items, 2};
	struct iso_run_context ctx = sample_run;
	struct iso_record net = sample_record(ISO_RECORD_NET);
	struct iso_event e = sample_event(1);

	ctx.sandbox = e.sandbox = net.sandbox = 8;
	ctx.run_id = "run-2";
	ctx.expected = &expected;
	assert_int_equal(iso_stream_add_run(f->stream, &ctx), 0);
	sample_path(&e, "/proc/sys/kernel/core_pattern");
	for (e.sequence = 1; e.sequence <= 5; e.sequence++)
		assert_int_equal(iso_stream_kernel_event(f->stream, &e), 0);
	sample_path(&e, "/proc/sysother");
	assert_int_equal(iso_stream_kernel_event(f->stream, &e), 0);
	assert_int_equal(iso_stream_emit(f->stream, &net), 0);
	assert_int_equal(written(f), 1);
	assert_int_equal(iso_stream_end_run(f->stream, 8, NULL, &f->summary), 0);
	assert_int_equal(written(f), 4);
	assert_int_equal(top(f, 1, "count"), 5);
	assert_int_equal(top(f, 1, "severity_id"), 1);
	assert_int_equal(f->summary.expected, 6);
	assert_true(f->summary.refusals[0].expected);
	assert_false(f->summary.refusals[1].expected);
}

static void a_program_is_known_by_its_exec_id(void **state)
{
	struct fixture *f = *state;
	struct iso_program p = {.exec = 5, .path = "/usr/bin/make", .command_line = "make -j2"};
	struct iso_event start = sample_event(1);
	const json_t *process;

	start.kind = ISO_EVENT_PROCESS;
	start.hook = start.reason = start.rule = start.wanted = 0;
	start.error = 0;
	start.exec = 2;
	sample_path(&start, "/usr/bin/env");
	assert_false(iso_stream_has_program(f->stream, SAMPLE_SANDBOX, 2));
	assert_int_equal(iso_stream_ring(f->stream, &start, sizeof start), 0);
	assert_true(iso_stream_has_program(f->stream, SAMPLE_SANDBOX, 2));
	for (uint64_t exec = 1000; exec < 1300; exec++) {
		p.exec = exec;
		assert_int_equal(iso_stream_add_program(f->stream, SAMPLE_SANDBOX, &p), 0);
	}
	assert_false(iso_stream_has_program(f->stream, SAMPLE_SANDBOX, 2));
	p.exec = 5;
	assert_int_equal(iso_stream_add_program(f->stream, SAMPLE_SANDBOX, &p), 0);
	assert_int_equal(iso_stream_add_program(f->stream, 999, &p), -ENOENT);
	send_event(f, 2, "/a");
	assert_int_equal(written(f), 2);
	process = json_object_get(json_object_get(json_array_get(f->lines, 1), "actor"), "process");
	assert_string_equal(json_string_value(json_object_get(process, "cmd_line")), "make -j2");
}

static void tick_says_when_it_wants_to_be_called(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(iso_stream_tick(f->stream), -1);
	send_event(f, 1, "/a");
	assert_in_range(iso_stream_tick(f->stream), 1, 1000); /* fdatasync */
	f->ns += SECOND;
	assert_int_equal(iso_stream_tick(f->stream), -1);
	send_event(f, 3, "/b"); /* a hole */
	assert_in_range(iso_stream_tick(f->stream), 1, 500);
	f->ns += 2 * SECOND;
	iso_stream_tick(f->stream);
	f->ns += 2 * SECOND;
	assert_int_equal(iso_stream_tick(f->stream), -1);
}

static void what_the_result_shows_is_escaped(void **state)
{
	struct fixture *f = *state;

	send_event(f, 1, "/a\x1b[31m");
	end(f, NULL);
	assert_string_equal(f->summary.refusals[0].object, "/a\\u{1b}[31m");
	assert_string_equal(f->summary.refusals[0].rule, "/filesystem/inputs/0/protect");
	assert_string_equal(f->summary.refusals[0].operation, "open-for-write");
	assert_string_equal(f->summary.refusals[0].errno_name, "EACCES");
	assert_int_equal(strlen(f->summary.chain_head), 64);
}

#define STREAM_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STREAM_TEST(one_sequence_for_both_origins),
		STREAM_TEST(time_is_wall_time),
		STREAM_TEST(repeats_become_one_record_with_a_count),
		STREAM_TEST(another_verdict_is_no_repeat),
		STREAM_TEST(a_hole_becomes_a_gap),
		STREAM_TEST(late_records_fill_their_hole),
		STREAM_TEST(a_record_that_comes_twice_is_taken_once),
		STREAM_TEST(losses_at_the_end_are_told_with_their_cause),
		STREAM_TEST(many_holes_are_all_told),
		STREAM_TEST(malformed_records_are_counted_and_show_as_a_gap),
		STREAM_TEST(a_stranger_has_no_stream),
		STREAM_TEST(the_rate_spares_what_matters),
		STREAM_TEST(more_kinds_than_are_told_apart_is_said),
		STREAM_TEST(expected_refusals_are_one_count),
		STREAM_TEST(a_program_is_known_by_its_exec_id),
		STREAM_TEST(tick_says_when_it_wants_to_be_called),
		STREAM_TEST(what_the_result_shows_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
