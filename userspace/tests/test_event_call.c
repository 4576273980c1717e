/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of refused system calls: what a line and a text say, and what is one and the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/cleanup.h"
#include "event/gate.h"
#include "event/run.h"
#include "event/text.h"
#include "test_event_samples.h"

static struct iso_record call_record(const char *call, uint32_t number, const char *arguments)
{
	struct iso_record r = sample_record(ISO_RECORD_KERNEL);

	r.hook = ISO_HOOK_seccomp;
	r.reason = ISO_REASON_SYSCALL;
	r.rule = ISO_RULE_NONE;
	r.number = number;
	snprintf(r.call, sizeof r.call, "%s", call);
	snprintf(r.arguments, sizeof r.arguments, "%s", arguments);
	return r;
}

static struct iso_run *new_run(const struct iso_run_context *context)
{
	struct iso_run *run = NULL;

	assert_int_equal(iso_run_new(context, &run), 0);
	return run;
}

static void a_line_says_call_and_arguments(void **state)
{
	struct iso_record r = call_record("mount", SYS_mount, "\"no\\\"ne\\u{a}\", NULL");
	struct iso_run *run = new_run(&sample_run);
	ISO_AUTO_FREE char *line = iso_ocsf_encode(run, &r, 1);
	const struct iso_text_style plain = {.utc = true};
	const char *name, *call, *arguments;
	char shown[512];
	json_t *o = json_loads(line, 0, NULL);

	(void)state;
	assert_non_null(o);
	assert_int_equal(json_integer_value(json_object_get(o, "type_uid")), 100304);
	assert_int_equal(json_unpack(o, "{s:{s:s, s:s}, s:{s:{s:s}}}", "kernel", "name", &name,
				     "system_call", &call, "unmapped", "isoctl", "arguments",
				     &arguments),
			 0);
	assert_string_equal(name, "mount");
	assert_string_equal(call, "mount");
	assert_string_equal(arguments, "\"no\\\"ne\\u{a}\", NULL");
	assert_int_equal(iso_event_text(o, &plain, shown, sizeof shown), 0);
	assert_string_equal(shown,
			    "22:13:21.000 DENIED system-call mount(\"no\\\"ne\\u{a}\", NULL) — the "
			    "filter of system calls does not allow it by sh[12] EPERM");
	json_decref(o);
	iso_run_free(run);
}

static void call_and_arguments_are_the_object(void **state)
{
	struct iso_record a = call_record("mount", SYS_mount, "NULL"), b = a, c = a, d = a;
	char object[256];

	(void)state;
	snprintf(b.arguments, sizeof b.arguments, "ptr");
	snprintf(c.call, sizeof c.call, "chroot");
	d.pid++;
	d.exec++;
	assert_true(iso_record_key(&a) != iso_record_key(&b));
	assert_true(iso_record_key(&a) != iso_record_key(&c));
	assert_true(iso_record_key(&a) == iso_record_key(&d));
	assert_string_equal(iso_record_object(&a, object, sizeof object), "mount(NULL)");
}

/* A flood of one call does not swallow the first of another. */
static void the_first_of_each_call_passes(void **state)
{
	struct iso_run_context context = sample_run;
	struct iso_record r;
	struct iso_run *run;

	(void)state;
	context.events_per_second = 3;
	run = new_run(&context);
	for (unsigned i = 0; i < 100; i++) {
		r = call_record("mount", SYS_mount, "");
		assert_int_equal(iso_gate_admit(run, &r, 0), i < 4);
	}
	r = call_record("bpf", SYS_bpf, "");
	assert_true(iso_gate_admit(run, &r, 0));
	assert_false(iso_gate_admit(run, &r, 0));
	iso_run_free(run);
}

/* The hook's name is also the name of a call: it must not stand for all of them. */
static void a_call_is_expected_by_its_name(void **state)
{
	char *items[] = {(char *)(uintptr_t) "syscall:mount",
			 (char *)(uintptr_t) "syscall:seccomp"};
	const struct iso_strv expected = {items, 2};
	struct iso_run_context context = sample_run;
	struct iso_record mount = call_record("mount", SYS_mount, ""),
			  seccomp = call_record("seccomp", SYS_seccomp, ""),
			  bpf = call_record("bpf", SYS_bpf, "");
	struct iso_run *run;

	(void)state;
	context.expected = &expected;
	run = new_run(&context);
	assert_true(iso_run_expects(run, &mount));
	assert_true(iso_run_expects(run, &seccomp));
	assert_false(iso_run_expects(run, &bpf));
	iso_run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_says_call_and_arguments),
		cmocka_unit_test(call_and_arguments_are_the_object),
		cmocka_unit_test(the_first_of_each_call_passes),
		cmocka_unit_test(a_call_is_expected_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
