/* SPDX-License-Identifier: BSD-2-Clause */
/* Attempts at the enforcement: what the ring says of them, what is refused, what the SOC reads. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "test_event_samples.h"

static const struct iso_tamper sample = {
	.time = 1000000000,
	.sequence = 1,
	.hook = ISO_HOOK_bpf,
	.reason = ISO_REASON_GUARDED,
	.error = EPERM,
	.object = ISO_OBJECT_MAP,
	.id = 17,
	.command = 14,
	.pid = 4000,
	.tid = 4001,
	.ppid = 3999,
	.name = "iso_rules",
	.comm = "bpftool",
	.exe = "bpftool",
};

static void a_record_says_who_and_what(void **state)
{
	struct iso_record r;
	struct iso_tamper t;

	(void)state;
	assert_int_equal(iso_tamper_decode(&sample, sizeof sample, &t), 0);
	iso_record_from_tamper(&t, 5, &r);
	assert_int_equal(r.kind, ISO_RECORD_TAMPER);
	assert_int_equal(r.time, 1000000005);
	assert_int_equal(r.map_id, 17);
	assert_int_equal(r.bpf_cmd, 14);
	assert_int_equal(r.pid, 4000);
	assert_string_equal(r.path, "map 17 iso_rules");
	assert_string_equal(r.program, "bpftool");
	t.object = ISO_OBJECT_PROCESS;
	t.hook = ISO_HOOK_task_kill;
	t.command = 15;
	snprintf(t.name, sizeof t.name, "isod");
	iso_record_from_tamper(&t, 0, &r);
	assert_int_equal(r.target_pid, 17);
	assert_int_equal(r.signal, 15);
	assert_int_equal(r.bpf_cmd, 0);
	assert_string_equal(r.path, "process 17 isod");
	t.object = ISO_OBJECT_SYSCTL;
	t.id = 0;
	t.name[0] = '\0';
	iso_record_from_tamper(&t, 0, &r);
	assert_string_equal(r.path, "kernel.ftrace_enabled");
}

/* Nothing of it is taken on trust; a whole event is none. */
static void what_does_not_fit_is_refused(void **state)
{
	struct iso_event event = sample_event(1);
	struct iso_tamper t = sample, out;

	(void)state;
	assert_int_equal(iso_tamper_decode(&event, sizeof event, &out), -EBADMSG);
	assert_int_equal(iso_event_decode(&sample, sizeof sample, &event), -EBADMSG);
	assert_int_equal(iso_tamper_decode(&t, sizeof t - 1, &out), -EBADMSG);
#define BAD(member, value)  \
	t = sample;         \
	t.member = (value); \
	assert_int_equal(iso_tamper_decode(&t, sizeof t, &out), -EBADMSG)
	BAD(hook, 999);
	BAD(reason, 0);
	BAD(object, 0);
	BAD(object, 99);
	BAD(error, 0);
	BAD(error, 4096);
	BAD(sequence, 0);
	BAD(sequence, UINT64_MAX);
#undef BAD
	t = sample;
	memset(t.exe, 'x', sizeof t.exe);
	assert_int_equal(iso_tamper_decode(&t, sizeof t, &out), -EBADMSG);
}

static void the_host_has_a_chain_of_its_own(void **state)
{
	char directory[] = "/tmp/iso-tamper-XXXXXX";
	const struct iso_stream_options o = {.directory = mkdtemp(directory)};
	const struct iso_run_context host = {
		.sandbox = ISO_RUN_HOST,
		.run_id = "host-1",
		.task_id = "host",
		.manifest_sha256 = SAMPLE_SHA,
	};
	ISO_AUTO_FREE char *text = NULL;
	struct iso_run_summary summary;
	struct iso_tamper t = sample;
	struct iso_stream *s;
	char path[64];
	json_t *line;

	(void)state;
	assert_int_equal(iso_stream_new(&o, &s, NULL), 0);
	assert_int_equal(iso_stream_tamper(s, &t), -ENOENT);
	assert_int_equal(iso_stream_add_run(s, &host), 0);
	assert_int_equal(iso_stream_tamper(s, &t), 0);
	assert_int_equal(iso_stream_tamper(s, &t), -EALREADY);
	t.sequence = 4; /* 2 and 3 were over the rate */
	assert_int_equal(iso_stream_tamper(s, &t), 0);
	assert_int_equal(iso_stream_end_run(s, ISO_RUN_HOST, NULL, &summary), 0);
	assert_int_equal(summary.happened[ISO_RECORD_TAMPER], 2);
	assert_int_equal(summary.lost, 2);
	iso_run_summary_free(&summary);
	iso_stream_free(s);

	snprintf(path, sizeof path, "%s/events.ndjson", directory);
	assert_int_equal(iso_read_file(AT_FDCWD, path, 65536, &text, NULL), 0);
	line = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	assert_non_null(line);
	assert_int_equal(json_integer_value(json_object_get(line, "severity_id")), 5);
	assert_non_null(strstr(text, "\"kind\":\"tamper\""));
	assert_non_null(strstr(text, "\"object\":\"map 17 iso_rules\""));
	assert_non_null(strstr(text, "\"uid\":\"host:4000\""));
	assert_null(strstr(text, "\"container\":{"));
	json_decref(line);
	sample_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_says_who_and_what),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(the_host_has_a_chain_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
