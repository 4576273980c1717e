/* SPDX-License-Identifier: BSD-2-Clause */
/* States, stop reasons and the exit status that follows from them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "run/lifecycle.h"

static void a_run_that_ends_by_itself(void **state)
{
	struct iso_lifecycle l = {0};

	(void)state;
	assert_int_equal(iso_lifecycle_advance(&l, ISO_HAPPENED_LAUNCH), ISO_ACTION_BUILD);
	assert_int_equal(iso_lifecycle_advance(&l, ISO_HAPPENED_BUILT), ISO_ACTION_START);
	assert_int_equal(iso_lifecycle_advance(&l, ISO_HAPPENED_STARTED), ISO_ACTION_NONE);
	assert_int_equal(l.state, ISO_STATE_RUN_RUNNING);
	assert_int_equal(iso_lifecycle_advance(&l, ISO_HAPPENED_ENDED), ISO_ACTION_DESTROY);
	assert_int_equal(iso_lifecycle_advance(&l, ISO_HAPPENED_SETTLED), ISO_ACTION_FINISH);
	assert_int_equal(l.state, ISO_STATE_RUN_SETTLED);
	assert_int_equal(l.outcome.stop, ISO_STOP_NONE);
}

static void the_first_stop_reason_is_kept(void **state)
{
	struct iso_lifecycle l = {.state = ISO_STATE_RUN_RUNNING};

	(void)state;
	assert_int_equal(iso_lifecycle_stop(&l, ISO_STOP_LIMIT_LOG), ISO_ACTION_TERMINATE);
	assert_int_equal(iso_lifecycle_stop(&l, ISO_STOP_CANCELLED), ISO_ACTION_NONE);
	assert_int_equal(l.outcome.stop, ISO_STOP_LIMIT_LOG);
	assert_int_equal(l.state, ISO_STATE_RUN_STOPPING);
	iso_lifecycle_advance(&l, ISO_HAPPENED_ENDED);
	/* Over: what comes now is no reason any more. */
	assert_int_equal(iso_lifecycle_stop(&l, ISO_STOP_DEADLINE), ISO_ACTION_NONE);
	assert_int_equal(l.outcome.stop, ISO_STOP_LIMIT_LOG);
}

static void what_was_cancelled_while_it_was_built_never_starts(void **state)
{
	struct iso_lifecycle l = {.state = ISO_STATE_RUN_BUILDING};

	(void)state;
	assert_int_equal(iso_lifecycle_stop(&l, ISO_STOP_CANCELLED), ISO_ACTION_GIVE_UP);
	assert_int_equal(l.state, ISO_STATE_RUN_BUILDING);
	assert_int_equal(iso_lifecycle_advance(&l, ISO_HAPPENED_BUILT), ISO_ACTION_DESTROY);
	assert_int_equal(l.state, ISO_STATE_RUN_ENDED);
	assert_int_equal(iso_outcome_status(&l.outcome), 125);
}

/* Whatever happens in whatever order: settled is left by nothing, and started is not forgotten. */
static void every_walk_stays_in_the_table(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (int walk = 0; walk < 2000; walk++) {
		struct iso_lifecycle l = {0};

		for (int step = 0; step < 40; step++) {
			enum iso_run_state before = l.state;
			bool started = l.outcome.started;
			enum iso_stop stop = l.outcome.stop;
			enum iso_action action;

			random = random * 1664525u + 1013904223u;
			if (random >> 30 == 0)
				action = iso_lifecycle_stop(
					&l, 1 + (random >> 8) % (ISO_STOP_COUNT - 1));
			else
				action = iso_lifecycle_advance(&l,
							       (random >> 8) % ISO_HAPPENED_COUNT);
			assert_true(l.state >= before);
			assert_true(l.outcome.started >= started);
			if (stop != ISO_STOP_NONE)
				assert_int_equal(l.outcome.stop, stop);
			if (before == ISO_STATE_RUN_SETTLED)
				assert_int_equal(action, ISO_ACTION_NONE);
			if (action == ISO_ACTION_START)
				assert_int_equal(l.outcome.stop, ISO_STOP_NONE);
			assert_non_null(iso_state_word(l.state));
		}
	}
}

static void exit_statuses_are_those_of_the_contract(void **state)
{
	static const struct {
		struct iso_outcome o;
		int status;
	} rows[] = {
		{{.started = true, .ended = true, .wait_status = 0}, 0},
		{{.started = true, .ended = true, .wait_status = 3 << 8}, 3},
		{{.started = true, .ended = true, .wait_status = 255 << 8}, 255},
		{{.started = true, .ended = true, .wait_status = 11}, 139},
		{{.started = true, .ended = true, .wait_status = 9}, 137},
		{{.exec_error = ENOENT, .ended = true}, 127},
		{{.exec_error = EACCES, .ended = true}, 126},
		{{.exec_error = ENOEXEC}, 126},
		/* a stop outranks how the command then ended */
		{{.started = true, .ended = true, .stop = ISO_STOP_DEADLINE}, 124},
		{{.started = true, .ended = true, .wait_status = 15, .stop = ISO_STOP_CANCELLED},
		 137},
		{{.started = true, .stop = ISO_STOP_LIMIT_MEMORY}, 137},
		{{.started = true, .ended = true, .stop = ISO_STOP_LIMIT_LOG}, 137},
		{{.started = true, .ended = true, .stop = ISO_STOP_VIOLATION}, 137},
		{{.started = true, .stop = ISO_STOP_SUPERVISOR_LOST}, 137},
		/* nothing was started */
		{{.stop = ISO_STOP_SETUP_FAILURE}, 125},
		{{.stop = ISO_STOP_CANCELLED}, 125},
		{{.stop = ISO_STOP_SUPERVISOR_LOST}, 125},
		{{.started = false}, 125},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(iso_outcome_status(&rows[i].o), rows[i].status);
}

static void words_are_found_again(void **state)
{
	(void)state;
	for (int i = 1; i < ISO_STOP_COUNT; i++) {
		assert_int_equal(iso_stop_find(iso_stop_word(i)), i);
		assert_true(strlen(iso_stop_sentence(i)) > 10);
	}
	for (int i = 1; i < ISO_CLASS_COUNT; i++)
		assert_int_equal(iso_class_find(iso_class_word(i)), i);
	assert_int_equal(iso_class_find("nonsense"), ISO_CLASS_INTERNAL);
	assert_int_equal(iso_stop_find("nonsense"), ISO_STOP_NONE);
}

static void failures_travel_whole(void **state)
{
	struct iso_failure f = {0}, back = {0};
	struct iso_error e = {0};
	json_t *value;

	(void)state;
	iso_error_set(&e, -ENOMEM, "cgroup", "close something", "no memory");
	iso_failure_wrap(&f, ISO_CLASS_SETUP, &e);
	assert_true(f.error.retryable);
	value = iso_failure_json(&f);
	assert_int_equal(iso_failure_parse(value, &back), 0);
	json_decref(value);
	assert_int_equal(back.class, ISO_CLASS_SETUP);
	assert_string_equal(back.error.step, "cgroup");
	assert_string_equal(back.error.message, "no memory");
	assert_string_equal(back.error.remedy, "close something");
	assert_true(back.error.retryable);
	/* A class that knows better than the errno. */
	iso_failure_wrap(&f, ISO_CLASS_SOURCE, &e);
	assert_false(f.error.retryable);
	assert_int_equal(iso_failure_parse(NULL, &back), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_that_ends_by_itself),
		cmocka_unit_test(the_first_stop_reason_is_kept),
		cmocka_unit_test(what_was_cancelled_while_it_was_built_never_starts),
		cmocka_unit_test(every_walk_stays_in_the_table),
		cmocka_unit_test(exit_statuses_are_those_of_the_contract),
		cmocka_unit_test(words_are_found_again),
		cmocka_unit_test(failures_travel_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
