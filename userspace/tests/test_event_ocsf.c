/* SPDX-License-Identifier: BSD-2-Clause */
/* Every kind of record against a table of the schema that the encoder knows nothing of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/cleanup.h"
#include "event/run.h"
#include "test_event_samples.h"

enum type { INTEGER, STRING, BOOLEAN, OBJECT, ARRAY, TIME };
enum need { OPTIONAL, REQUIRED };

static const struct row {
	int class;
	const char *path;
	enum type type;
	enum need need;
	const char *values, *page;
} rows[] = {
#define ROW(...) {__VA_ARGS__},
#include "test_event_ocsf_table.h"
#undef ROW
};

static char complaint[256];

static bool type_fits(const json_t *v, enum type type)
{
	switch (type) {
	case INTEGER:
		return json_is_integer(v);
	case STRING:
		return json_is_string(v) && json_string_length(v);
	case BOOLEAN:
		return json_is_boolean(v);
	case OBJECT:
		return json_is_object(v);
	case ARRAY:
		return json_is_array(v) && json_array_size(v);
	default: /* milliseconds between 2000 and 2100 */
		return json_is_integer(v) && json_integer_value(v) > 946684800000 &&
		       json_integer_value(v) < 4102444800000;
	}
}

static bool value_fits(const json_t *v, const char *values)
{
	char word[128];

	if (!values)
		return true;
	if (json_is_integer(v))
		snprintf(word, sizeof word, "|%lld|", (long long)json_integer_value(v));
	else
		snprintf(word, sizeof word, "|%s|", json_string_value(v));
	return strstr(values, word) != NULL;
}

/* Each value must have a row, and fit every row it has. */
static bool check_value(int class, const char *path, const json_t *v)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *row = &rows[i];

		if ((row->class && row->class != class) || strcmp(row->path, path))
			continue;
		found = row;
		if (type_fits(v, row->type) && value_fits(v, row->values))
			continue;
		snprintf(complaint, sizeof complaint, "%s does not fit %s", path, row->page);
		return false;
	}
	if (!found)
		snprintf(complaint, sizeof complaint, "%s has no row", path);
	return found;
}

static bool check_tree(int class, const char *path, const json_t *v)
{
	char below[256];
	const char *key;
	json_t *item;
	size_t i;

	if (*path && !check_value(class, path, v))
		return false;
	json_array_foreach ((json_t *)v, i, item) {
		snprintf(below, sizeof below, "%s[]", path);
		if (!check_tree(class, below, item))
			return false;
	}
	json_object_foreach ((json_t *)v, key, item) {
		snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", key);
		if (!check_tree(class, below, item))
			return false;
	}
	return true;
}

/* The value at a path, going through the first item of arrays. `parent`: what it should lie in. */
static const json_t *find(const json_t *v, const char *path, const json_t **parent)
{
	char part[64];

	*parent = v;
	while (v && *path) {
		size_t n = strcspn(path, ".[");

		*parent = v;
		if (n) {
			snprintf(part, sizeof part, "%.*s", (int)n, path);
			v = json_object_get(v, part);
		} else {
			v = json_array_get(v, 0);
			n = 2;
		}
		path += n;
		path += *path == '.';
		if (!v && *path)
			*parent = NULL;
	}
	return v;
}

static bool conforms(const json_t *line)
{
	int class = (int)json_integer_value(json_object_get(line, "class_uid"));
	json_int_t type = json_integer_value(json_object_get(line, "type_uid"));
	const json_t *parent;

	if (!check_tree(class, "", line))
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *row = &rows[i];

		if ((row->class && row->class != class) || row->need != REQUIRED)
			continue;
		if (!find(line, row->path, &parent) && parent) {
			snprintf(complaint, sizeof complaint, "%s is missing (%s)", row->path,
				 row->page);
			return false;
		}
	}
	if (type != class * 100 + json_integer_value(json_object_get(line, "activity_id")) ||
	    class / 1000 != json_integer_value(json_object_get(line, "category_uid"))) {
		snprintf(complaint, sizeof complaint, "type_uid or category_uid does not add up");
		return false;
	}
	return true;
}

static json_t *encode(const struct iso_record *r)
{
	ISO_AUTO_FREE char *line = NULL;
	struct iso_run *run = NULL;
	struct iso_program p = {.exec = 5,
				.pid = 3000,
				.start_time = 1700000000000000000,
				.path = "/usr/bin/sh",
				.command_line = "sh -c true"};
	json_t *o;

	assert_int_equal(iso_run_new(&sample_run, &run), 0);
	assert_int_equal(iso_run_add_program(run, &p), 0);
	line = iso_ocsf_encode(run, r, 1);
	assert_non_null(line);
	assert_null(strchr(line, '\n'));
	o = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	iso_run_free(run);
	return o;
}

static json_int_t number(const json_t *o, const char *path)
{
	const json_t *parent;

	return json_integer_value(find(o, path, &parent));
}

static const char *text(const json_t *o, const char *path)
{
	const json_t *parent;
	const char *s = json_string_value(find(o, path, &parent));

	return s ? s : "(absent)";
}

static void every_kind_conforms(void **state)
{
	static const int types[ISO_RECORD_KINDS] = {
		[ISO_RECORD_FILE] = 100114,	[ISO_RECORD_ABSENT] = 100114,
		[ISO_RECORD_NET] = 400101,	[ISO_RECORD_EXEC] = 100701,
		[ISO_RECORD_KERNEL] = 100304,	[ISO_RECORD_TAMPER] = 200401,
		[ISO_RECORD_STARTED] = 100701,	[ISO_RECORD_ENDED] = 100702,
		[ISO_RECORD_SURVIVOR] = 100702, [ISO_RECORD_LIMIT] = 200401,
		[ISO_RECORD_STATE] = 501901,	[ISO_RECORD_GAP] = 200401,
	};

	(void)state;
	for (int kind = 0; kind < ISO_RECORD_KINDS; kind++) {
		struct iso_record r = sample_record(kind);
		json_t *o = encode(&r);

		if (!conforms(o))
			fail_msg("%s: %s", iso_record_kind_word(kind), complaint);
		assert_int_equal(number(o, "type_uid"), types[kind]);
		assert_int_equal(number(o, "metadata.sequence"), 1);
		assert_string_equal(text(o, "metadata.uid"), "run-1:1");
		json_decref(o);
	}
}

static void every_hook_conforms(void **state)
{
	(void)state;
	for (uint32_t hook = 0; hook <= ISO_HOOK_seccomp; hook++) {
		for (int kind = ISO_RECORD_FILE; kind <= ISO_RECORD_TAMPER; kind++) {
			struct iso_record r = sample_record(kind);
			json_t *o;

			r.hook = hook;
			r.count = hook;
			r.first_time = r.time;
			iso_record_set_text(r.path2, NULL, "/elsewhere", hook % 2 ? 10 : 0);
			o = encode(&r);
			if (!conforms(o))
				fail_msg("hook %u, %s: %s", hook, iso_record_kind_word(kind),
					 complaint);
			json_decref(o);
		}
	}
}

static void every_family_conforms(void **state)
{
	(void)state;
	for (uint16_t family = 0; family < 48; family++) {
		struct iso_record r = sample_record(ISO_RECORD_NET);
		json_t *o;

		r.family = family;
		o = encode(&r);
		if (!conforms(o))
			fail_msg("family %u: %s", family, complaint);
		json_decref(o);
	}
}

static void a_refusal_says_all_that_is_promised(void **state)
{
	struct iso_record r = sample_record(ISO_RECORD_FILE);
	json_t *o = encode(&r);

	(void)state;
	assert_int_equal(number(o, "action_id"), 2);
	assert_int_equal(number(o, "disposition_id"), 2);
	assert_int_equal(number(o, "status_id"), 2);
	assert_string_equal(text(o, "status_code"), "EACCES");
	assert_string_equal(text(o, "status_detail"),
			    "the rule that covers it does not grant this");
	assert_string_equal(text(o, "firewall_rule.uid"), "/filesystem/inputs/0/protect");
	assert_string_equal(text(o, "file.path"), "/work/.git/hooks/pre-commit");
	assert_string_equal(text(o, "file.name"), "pre-commit");
	assert_string_equal(text(o, "file.uid"), "8:1:99");
	assert_string_equal(text(o, "actor.process.uid"), "5");
	assert_int_equal(number(o, "actor.process.pid"), 3000);
	assert_int_equal(number(o, "actor.process.namespace_pid"), 12);
	assert_int_equal(number(o, "actor.process.parent_process.pid"), 2999);
	assert_string_equal(text(o, "actor.process.name"), "sh");
	assert_string_equal(text(o, "actor.process.cmd_line"), "sh -c true");
	assert_string_equal(text(o, "actor.process.file.path"), "/usr/bin/sh");
	assert_string_equal(text(o, "actor.process.user.uid"), "165536");
	assert_string_equal(text(o, "policy.uid"), SAMPLE_SHA);
	assert_string_equal(text(o, "metadata.labels[]"), "pipeline=ci");
	assert_string_equal(text(o, "device.os.kernel_release"), "6.12.0");
	assert_int_equal(number(o, "unmapped.isoctl.cgroup_id"), 4242);
	assert_string_equal(text(o, "unmapped.isoctl.hook"), "file_open");
	assert_string_equal(text(o, "unmapped.isoctl.operation"), "open-for-write");
	assert_string_equal(text(o, "unmapped.isoctl.prev"), ISO_CHAIN_START);
	json_decref(o);
}

static void what_special_classes_carry(void **state)
{
	struct iso_record r = sample_record(ISO_RECORD_TAMPER);
	json_t *o = encode(&r);

	(void)state;
	assert_int_equal(number(o, "severity_id"), 5);
	assert_string_equal(text(o, "evidences[].process.uid"), "5");
	assert_int_equal(number(o, "unmapped.isoctl.map_id"), 17);
	json_decref(o);

	r = sample_record(ISO_RECORD_GAP);
	o = encode(&r);
	assert_int_equal(number(o, "unmapped.isoctl.lost"), 3);
	assert_int_equal(number(o, "unmapped.isoctl.first_seq"), 1);
	assert_int_equal(number(o, "unmapped.isoctl.last_seq"), 3);
	assert_string_equal(text(o, "unmapped.isoctl.cause"), "ring-full");
	assert_string_equal(text(o, "finding_info.types[]"), "event_gap");
	json_decref(o);

	r = sample_record(ISO_RECORD_ENDED);
	o = encode(&r);
	assert_int_equal(number(o, "exit_code"), 137);
	assert_int_equal(number(o, "action_id"), 3);
	assert_int_equal(number(o, "disposition_id"), 17);
	json_decref(o);

	r = sample_record(ISO_RECORD_NET);
	o = encode(&r);
	assert_string_equal(text(o, "dst_endpoint.ip"), "192.0.2.1");
	assert_int_equal(number(o, "dst_endpoint.port"), 443);
	assert_int_equal(number(o, "connection_info.direction_id"), 2);
	assert_string_equal(text(o, "firewall_rule.uid"), "none");
	json_decref(o);
}

static void text_of_the_task_is_escaped(void **state)
{
	struct iso_record r = sample_record(ISO_RECORD_FILE);
	ISO_AUTO_FREE char *line = NULL;
	struct iso_run *run = NULL;
	json_t *o;

	(void)state;
	snprintf(r.path, sizeof r.path, "%s", "/a\x1b[2J\n\xff\xe2\x80\xae\"\\");
	memcpy(r.comm, "\x9b\x01", 3);
	o = encode(&r);
	assert_true(conforms(o));
	assert_string_equal(text(o, "file.path"), "/a\\u{1b}[2J\\u{a}\\xff\\u{202e}\"\\\\");
	assert_string_equal(text(o, "actor.process.name"), "\\x9b\\u{1}");
	json_decref(o);
	assert_int_equal(iso_run_new(&sample_run, &run), 0);
	line = iso_ocsf_encode(run, &r, 1);
	for (const char *p = line; *p; p++)
		assert_in_range(*p, 0x20, 0x7e);
	iso_run_free(run);
}

/* Longest of everything: a line must stay within what the queue reckons with. */
static void the_longest_line_has_a_bound(void **state)
{
	struct iso_record r = sample_record(ISO_RECORD_FILE);
	ISO_AUTO_FREE char *line = NULL;
	char command[5000];
	struct iso_program p = {.exec = 5, .path = r.path, .command_line = command};
	struct iso_run *run = NULL;

	(void)state;
	memset(r.path, 1, sizeof r.path - 1);
	memset(r.path2, 1, sizeof r.path2 - 1);
	memset(command, 1, sizeof command - 1);
	command[sizeof command - 1] = '\0';
	assert_int_equal(iso_run_new(&sample_run, &run), 0);
	assert_int_equal(iso_run_add_program(run, &p), 0);
	line = iso_ocsf_encode(run, &r, 1);
	assert_in_range(strlen(line), 1000, 16 * 1024);
	iso_run_free(run);
}

/* The table must be able to fail: one mutation of a good line each. */
static void the_table_refuses_what_is_wrong(void **state)
{
	static const char *const mutations[] = {
		"{\"class_uid\":1002}",
		"{\"class_uid\":\"1001\"}",
		"{\"category_uid\":2}",
		"{\"activity_id\":15}",
		"{\"type_uid\":100101}",
		"{\"severity_id\":7}",
		"{\"time\":1}",
		"{\"time\":\"2026-01-01\"}",
		"{\"status_id\":1}",
		"{\"action_id\":1}",
		"{\"disposition_id\":3}",
		"{\"surprise\":1}",
		"{\"file\":{\"name\":\"x\"}}",
		"{\"file\":{\"name\":\"x\",\"type_id\":8}}",
		"{\"file\":{\"name\":\"\",\"type_id\":1}}",
		"{\"file\":{\"name\":\"x\",\"type_id\":1,\"surprise\":1}}",
		"{\"actor\":{}}",
		"{\"actor\":{\"process\":{}}}",
		"{\"device\":{\"hostname\":\"x\"}}",
		"{\"metadata\":{}}",
		"{\"firewall_rule\":{\"uid\":\"\",\"name\":\"x\"}}",
		"{\"unmapped\":{}}",
	};
	static const char *const removals[] = {"file",	   "actor",    "device",	"metadata",
					       "policy",   "type_uid", "firewall_rule", "time",
					       "unmapped", "status_id"};
	struct iso_record r = sample_record(ISO_RECORD_FILE);

	(void)state;
	for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
		json_t *o = encode(&r), *change = json_loads(mutations[i], 0, NULL);

		assert_non_null(change);
		assert_true(conforms(o));
		json_object_update(o, change);
		if (conforms(o))
			fail_msg("%s was taken", mutations[i]);
		json_decref(change);
		json_decref(o);
	}
	for (size_t i = 0; i < sizeof removals / sizeof *removals; i++) {
		json_t *o = encode(&r);

		json_object_del(o, removals[i]);
		if (conforms(o))
			fail_msg("a line without %s was taken", removals[i]);
		json_decref(o);
	}
}

static void a_run_with_a_malformed_name_is_refused(void **state)
{
	static const char *const bad[] = {"", "a b", "a/b", "a\n", "\xc3\xa9"};
	struct iso_run_context ctx = sample_run;
	struct iso_run *run = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		ctx.run_id = bad[i];
		assert_int_equal(iso_run_new(&ctx, &run), -EINVAL);
	}
	ctx = sample_run;
	ctx.manifest_sha256 = "abc";
	assert_int_equal(iso_run_new(&ctx, &run), -EINVAL);
	assert_null(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_conforms),
		cmocka_unit_test(every_hook_conforms),
		cmocka_unit_test(every_family_conforms),
		cmocka_unit_test(a_refusal_says_all_that_is_promised),
		cmocka_unit_test(what_special_classes_carry),
		cmocka_unit_test(text_of_the_task_is_escaped),
		cmocka_unit_test(the_longest_line_has_a_bound),
		cmocka_unit_test(the_table_refuses_what_is_wrong),
		cmocka_unit_test(a_run_with_a_malformed_name_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
