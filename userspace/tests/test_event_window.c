/* SPDX-License-Identifier: BSD-2-Clause */
/* Repeats that the kernel counts, and the causes of what it lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event/gate.h"
#include "event/window.h"
#include "test_event_samples.h"

#define WORD(tag, count) ((uint64_t)(tag) << 32 | (count))

static int setup(void **state)
{
	return iso_run_new(&sample_run, (struct iso_run **)state);
}

static int teardown(void **state)
{
	iso_run_free(*state);
	return 0;
}

static bool take(struct iso_run *run, uint32_t slot, uint32_t tag, uint64_t before,
		 const char *path, struct iso_record *owed)
{
	struct iso_event e = sample_event(1);
	struct iso_record r;

	e.slot = slot;
	e.tag = tag;
	e.before = before;
	sample_path(&e, path);
	iso_record_from_event(&e, 0, &r);
	return iso_window_take(run, &e, &r, owed);
}

static void what_is_counted_is_owed_once(void **state)
{
	struct iso_run *run = *state;
	struct iso_record owed;

	assert_false(take(run, 3, 77, 0, "/a", &owed));
	assert_false(iso_window_settle(run, 2, WORD(77, 1), &owed));
	assert_true(iso_window_settle(run, 2, WORD(77, 10), &owed));
	assert_int_equal(owed.count, 9);
	assert_string_equal(owed.path, "/a");
	assert_false(iso_window_settle(run, 2, WORD(77, 10), &owed));
	assert_true(iso_window_settle(run, 2, WORD(77, 11), &owed));
	assert_int_equal(owed.count, 1);
	assert_int_equal(run->settled, 10);
}

static void who_takes_a_place_settles_for_the_one_before(void **state)
{
	struct iso_run *run = *state;
	struct iso_record owed;

	take(run, ISO_WINDOW, 5, 0, "/a", &owed);
	assert_true(take(run, ISO_WINDOW, 6, WORD(5, 4), "/b", &owed));
	assert_int_equal(owed.count, 3);
	assert_string_equal(owed.path, "/a");
	assert_true(iso_window_settle(run, ISO_WINDOW - 1, WORD(6, 2), &owed));
	assert_string_equal(owed.path, "/b");
	/* the same refusal anew, as its count had come to its end */
	assert_true(take(run, ISO_WINDOW, 6, WORD(6, 9), "/b", &owed));
	assert_int_equal(owed.count, 7);
	assert_int_equal(run->settled, 3 + 1 + 7);
}

/* Its event is still in the ring: nobody knows yet of what it is a count. */
static void a_word_of_an_unread_event_says_nothing(void **state)
{
	struct iso_run *run = *state;
	struct iso_record owed;

	assert_false(iso_window_settle(run, 0, WORD(8, 100), &owed));
	take(run, 1, 9, 0, "/a", &owed);
	assert_false(iso_window_settle(run, 0, WORD(8, 100), &owed));
	assert_false(take(run, 0, 9, WORD(9, 3), "/a", &owed)); /* an event without a place */
	assert_int_equal(run->settled, 0);
}

static void losses_find_their_cause(void **state)
{
	struct iso_run *run = *state;

	run->lost[ISO_GAP_KERNEL] = 10;
	iso_gate_attribute(run);
	assert_int_equal(run->lost[ISO_GAP_KERNEL], 10);
	run->kernel.lost_rate = 6;
	run->kernel.lost_full = 1;
	iso_gate_attribute(run);
	assert_int_equal(run->lost[ISO_GAP_RATE], 6);
	assert_int_equal(run->lost[ISO_GAP_RING], 1);
	assert_int_equal(run->lost[ISO_GAP_KERNEL], 3);
	/* told before it was missed */
	run->kernel.lost_full = 9;
	run->lost[ISO_GAP_KERNEL] = 0;
	iso_gate_attribute(run);
	assert_int_equal(run->lost[ISO_GAP_RING], 1);
	run->lost[ISO_GAP_KERNEL] = 5;
	iso_gate_attribute(run);
	assert_int_equal(run->lost[ISO_GAP_RING], 6);
	assert_int_equal(run->lost[ISO_GAP_KERNEL], 0);
}

/* The kernel sends the first one and counts the others: the records' counts add up to all. */
static void the_kernels_counts_become_records(void **state)
{
	struct iso_tally tally = {.account = {.sequence = 1, .emitted = 1, .collapsed = 41}};
	char directory[] = "/tmp/iso-test-window-XXXXXX";
	struct iso_stream_options o = {.directory = mkdtemp(directory)};
	struct iso_run_summary summary;
	struct iso_event e = sample_event(1);
	struct iso_stream *s = NULL;
	struct iso_error error = {0};

	(void)state;
	assert_non_null(o.directory);
	assert_int_equal(iso_stream_new(&o, &s, &error), 0);
	assert_int_equal(iso_stream_add_run(s, &sample_run), 0);
	e.slot = 1;
	e.tag = 7;
	tally.window[0] = WORD(7, 40);
	assert_int_equal(iso_stream_tally(s, SAMPLE_SANDBOX, &tally), 1); /* unread */
	assert_int_equal(iso_stream_kernel_event(s, &e), 0);
	assert_int_equal(iso_stream_tally(s, SAMPLE_SANDBOX, &tally), 1);
	tally.window[0] = WORD(7, 42);
	assert_int_equal(iso_stream_tally(s, SAMPLE_SANDBOX, &tally), 0);
	assert_int_equal(iso_stream_tally(s, 999, &tally), -ENOENT);
	tally.account.collapsed++; /* one that nobody can say any more of what */
	assert_int_equal(iso_stream_end_run(s, SAMPLE_SANDBOX, &tally, &summary), 0);
	assert_int_equal(summary.happened[ISO_RECORD_FILE], 42);
	assert_int_equal(summary.refusals[0].count, 42);
	assert_int_equal(summary.lost, 1);
	assert_int_equal(summary.gaps, 1);
	assert_int_equal(summary.records, 4); /* it, its repeats, the gap, the end */
	iso_run_summary_free(&summary);
	iso_stream_free(s);
	assert_int_equal(sample_remove(directory), 0);
}

#define WINDOW_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WINDOW_TEST(what_is_counted_is_owed_once),
		WINDOW_TEST(who_takes_a_place_settles_for_the_one_before),
		WINDOW_TEST(a_word_of_an_unread_event_says_nothing),
		WINDOW_TEST(losses_find_their_cause),
		cmocka_unit_test(the_kernels_counts_become_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
