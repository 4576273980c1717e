/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains: whole ones, and what is found when a record was changed, removed or inserted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event/run.h"
#include "event/verify.h"
#include "test_event_samples.h"

#define LINES 8

/* Eight records of one run, chained; the sixth is a gap over two numbers. */
struct fixture {
	char *lines[LINES];
	struct iso_verify *v;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct iso_run *run = NULL;

	assert_int_equal(iso_run_new(&sample_run, &run), 0);
	for (size_t i = 0; i < LINES; i++) {
		struct iso_record r = sample_record(ISO_RECORD_FILE);

		if (i == 5) {
			r = sample_record(ISO_RECORD_GAP);
			r.lost = 2;
			r.first_seq = run->sequence + 1;
			r.last_seq = run->sequence + 2;
			run->sequence += 2;
		} else if (i == LINES - 1) {
			r = sample_record(ISO_RECORD_STATE);
			r.state = ISO_RUN_UNSEALED;
		}
		f->lines[i] = iso_ocsf_encode(run, &r, ++run->sequence);
		iso_chain_hash(f->lines[i], strlen(f->lines[i]), run->head);
	}
	iso_run_free(run);
	assert_int_equal(iso_verify_new(&f->v), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < LINES; i++)
		free(f->lines[i]);
	iso_verify_free(f->v);
	free(f);
	return 0;
}

static void feed(struct fixture *f, size_t i)
{
	if (f->lines[i])
		assert_int_equal(
			iso_verify_line(f->v, "file", i + 1, f->lines[i], strlen(f->lines[i])), 0);
}

static const struct iso_verified *feed_all(struct fixture *f)
{
	for (size_t i = 0; i < LINES; i++)
		feed(f, i);
	return iso_verify_finish(f->v);
}

/* Changes the pid of a record and nothing else. */
static void change(struct fixture *f, size_t i)
{
	char *pid = strstr(f->lines[i], "3000");

	assert_non_null(pid);
	*pid = '4';
}

static void remove_line(struct fixture *f, size_t i)
{
	free(f->lines[i]);
	f->lines[i] = NULL;
}

static void a_whole_chain_is_whole(void **state)
{
	const struct iso_verified *run = feed_all(*state);

	assert_string_equal(run->run, "run-1");
	assert_int_equal(run->fault, ISO_FAULT_NONE);
	assert_int_equal(run->records, LINES);
	assert_int_equal(run->last, LINES + 2);
	assert_int_equal(run->lost, 2);
	assert_true(run->ended);
	assert_null(run->next);
}

static void a_changed_record_is_named(void **state)
{
	struct fixture *f = *state;
	const struct iso_verified *run;

	change(f, 2);
	run = feed_all(f);
	assert_int_equal(run->fault, ISO_FAULT_CHANGED);
	assert_int_equal(run->fault_first, 3);
	assert_int_equal(run->fault_line, 3);
}

static void the_first_record_too(void **state)
{
	struct fixture *f = *state;
	const struct iso_verified *run;

	change(f, 0);
	run = feed_all(f);
	assert_int_equal(run->fault, ISO_FAULT_CHANGED);
	assert_int_equal(run->fault_first, 1);
}

static void a_record_whose_own_link_was_changed_is_named(void **state)
{
	struct fixture *f = *state;
	const struct iso_verified *run;
	char *prev = strstr(f->lines[3], "\"prev\":\"");

	prev[8] = prev[8] == 'a' ? 'b' : 'a';
	run = feed_all(f);
	assert_int_equal(run->fault, ISO_FAULT_CHANGED);
	assert_int_equal(run->fault_first, 4);
}

static void removed_records_are_named(void **state)
{
	struct fixture *f = *state;
	const struct iso_verified *run;

	remove_line(f, 2);
	remove_line(f, 3);
	run = feed_all(f);
	assert_int_equal(run->fault, ISO_FAULT_REMOVED);
	assert_int_equal(run->fault_first, 3);
	assert_int_equal(run->fault_last, 4);
	assert_int_equal(run->fault_line, 5);
}

static void a_removed_gap_is_named(void **state)
{
	struct fixture *f = *state;
	const struct iso_verified *run;

	remove_line(f, 5);
	run = feed_all(f);
	assert_int_equal(run->fault, ISO_FAULT_REMOVED);
	assert_int_equal(run->fault_first, 6);
	assert_int_equal(run->fault_last, 8);
}

static void an_inserted_record_is_named(void **state)
{
	struct fixture *f = *state;
	const struct iso_verified *run;

	for (size_t i = 0; i < 4; i++)
		feed(f, i);
	feed(f, 1);
	for (size_t i = 4; i < LINES; i++)
		feed(f, i);
	run = iso_verify_finish(f->v);
	assert_int_equal(run->fault, ISO_FAULT_INSERTED);
	assert_int_equal(run->fault_first, 2);
}

static void a_start_that_is_missing_is_said(void **state)
{
	struct fixture *f = *state;
	const struct iso_verified *run;

	remove_line(f, 0);
	run = feed_all(f);
	assert_int_equal(run->fault, ISO_FAULT_NO_START);
	assert_int_equal(run->fault_first, 1);
	assert_int_equal(run->fault_last, 1);
}

static void a_tail_that_is_missing_leaves_the_run_open(void **state)
{
	struct fixture *f = *state;
	const struct iso_verified *run;

	remove_line(f, LINES - 1);
	run = feed_all(f);
	assert_int_equal(run->fault, ISO_FAULT_NONE);
	assert_false(run->ended);
}

static void every_byte_counts(void **state)
{
	struct fixture *f = *state;
	size_t n = strlen(f->lines[1]);

	for (size_t at = 0; at < n; at += 7) {
		struct iso_verify *v = NULL;
		const struct iso_verified *run;
		bool found = false;

		assert_int_equal(iso_verify_new(&v), 0);
		f->lines[1][at] ^= 1;
		for (size_t i = 0; i < LINES; i++)
			found = iso_verify_line(v, "f", i + 1, f->lines[i], strlen(f->lines[i])) <
					0 ||
				found;
		for (run = iso_verify_finish(v); run; run = run->next)
			found = found || run->fault != ISO_FAULT_NONE;
		f->lines[1][at] ^= 1;
		iso_verify_free(v);
		assert_true(found);
	}
}

static void what_is_no_record_is_counted(void **state)
{
	static const char *const strangers[] = {
		"",	"{",
		"[]",	"{}",
		"\xff", "{\"metadata\":{\"correlation_uid\":\"x\",\"sequence\":-1}}",
		"null", "{\"a\":1,\"a\":2}",
	};
	struct fixture *f = *state;
	const char *file;
	uint64_t number;

	for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
		assert_int_equal(
			iso_verify_line(f->v, "file", i + 10, strangers[i], strlen(strangers[i])),
			-EBADMSG);
	assert_int_equal(iso_verify_strangers(f->v, &file, &number), 8);
	assert_string_equal(file, "file");
	assert_int_equal(number, 10);
	assert_null(iso_verify_finish(f->v));
}

#define VERIFY_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VERIFY_TEST(a_whole_chain_is_whole),
		VERIFY_TEST(a_changed_record_is_named),
		VERIFY_TEST(the_first_record_too),
		VERIFY_TEST(a_record_whose_own_link_was_changed_is_named),
		VERIFY_TEST(removed_records_are_named),
		VERIFY_TEST(a_removed_gap_is_named),
		VERIFY_TEST(an_inserted_record_is_named),
		VERIFY_TEST(a_start_that_is_missing_is_said),
		VERIFY_TEST(a_tail_that_is_missing_leaves_the_run_open),
		VERIFY_TEST(every_byte_counts),
		VERIFY_TEST(what_is_no_record_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
