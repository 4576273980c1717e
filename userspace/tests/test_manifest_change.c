/* SPDX-License-Identifier: BSD-2-Clause */
/* Manifests made from others, compared with others, and described. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "manifest/describe.h"
#include "manifest/diff.h"
#include "manifest/fields.h"
#include "manifest/pointer.h"
#include "manifest/template.h"
#include "tests/manifest_file.h"

static char *rendered(const char *base, const char *const *assignments, size_t count)
{
	struct iso_error e = {0};
	char *out = NULL;
	int r = iso_manifest_render(base, strlen(base), assignments, count, &out, &e);

	if (r)
		print_error("%s; %s\n", e.message, e.remedy);
	assert_int_equal(r, 0);
	return out;
}

static struct iso_manifest *parsed(const char *text)
{
	struct iso_findings f = {0};
	struct iso_manifest *m = NULL;
	int r = iso_manifest_parse(text, strlen(text), &m, &f);

	for (size_t i = 0; i < f.count; i++)
		print_error("%s: %s\n", f.items[i].pointer, f.items[i].message);
	assert_int_equal(r, 0);
	iso_findings_free(&f);
	return m;
}

/* The changes that one assignment to valid.json makes: "D /pointer" each, D one of =-+. */
static const char *change(const char *assignment)
{
	static char out[2048];
	struct iso_changes c = {0};
	struct iso_manifest *old, *new;
	size_t size = 0;
	ISO_AUTO_FREE char *base = manifest_text("valid.json", &size);
	ISO_AUTO_FREE char *text = rendered(base, &assignment, 1);

	old = parsed(base);
	new = parsed(text);
	assert_int_equal(iso_manifest_diff(old, new, &c), 0);
	out[0] = '\0';
	for (size_t i = 0; i < c.count; i++)
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s%c %s", i ? "\n" : "",
			 "=-+"[c.items[i].direction], c.items[i].pointer);
	iso_changes_free(&c);
	iso_manifest_free(old);
	iso_manifest_free(new);
	return out;
}

static void each_kind_of_change_has_a_direction(void **state)
{
	static const struct {
		const char *assignment, *changes;
	} rows[] = {
		{"/task/id=other", "= /task/id"},
		{"/task/labels/new=x", "= /task/labels/new"},
		{"/task/labels={}", "= /task/labels/pipeline"},
		{"/task/outputs=[]", "= /task/outputs"},
		{"/task/command=[\"/usr/bin/true\"]", "+ /task/command"},
		{"/host/profile=build", ""},
		{"/host/runtime=kernel", "+ /host/runtime"},
		/* quantities */
		{"/process/limits/memory=2GiB", "+ /process/limits/memory"},
		{"/process/limits/memory=1024MiB", ""},
		{"/process/limits/cpus=1", "- /process/limits/cpus"},
		{"/process/limits/files=255", "- /process/limits/files"},
		{"/limits/wall_time=11m", "+ /limits/wall_time"},
		{"/limits/events_per_second=51", "+ /limits/events_per_second"},
		/* words and booleans */
		{"/response/exec=count", "+ /response/exec"},
		{"/response/file=stop", "- /response/file"},
		{"/process/stdin=inherit", "+ /process/stdin"},
		{"/network/proxy/loopback=private", "+ /network/proxy/loopback"},
		{"/process/umask=022", "+ /process/umask"},
		/* lists */
		{"/filesystem/root/host/5=/opt", "+ /filesystem/root/host/5"},
		{"/filesystem/root/host=[\"/usr\", \"/bin\", \"/lib\", \"/lib64\"]",
		 "- /filesystem/root/host/4"},
		{"/filesystem/deny=[]", "+ /filesystem/deny/0"},
		{"/filesystem/deny/-=/usr/src", "- /filesystem/deny/1"},
		{"/filesystem/deny=[\"/usr/share\"]", "- /filesystem/deny/0"},
		{"/process/execute/0=/usr/bin", "- /process/execute/0"},
		{"/process/environment/pass/-=TZ", "+ /process/environment/pass/1"},
		{"/filesystem/inputs/0/protect=[\".git\"]", "+ /filesystem/inputs/0/protect/1"},
		{"/filesystem/inputs/1/paths=[]", "+ /filesystem/inputs/1/paths"},
		{"/filesystem/inputs/0/paths=[\"test\", \"Makefile\", \".git\"]",
		 "- /filesystem/inputs/0/paths"},
		/* objects in lists, known by their place inside */
		{"/filesystem/inputs/1/size=2MiB", "+ /filesystem/inputs/1/size"},
		{"/filesystem/inputs/1/access=write", "+ /filesystem/inputs/1/access"},
		{"/filesystem/inputs/1/source=/srv/other", "+ /filesystem/inputs/1/source"},
		{"/filesystem/inputs/1/target=/other",
		 "- /filesystem/inputs/1\n+ /filesystem/inputs/1"},
		/* maps */
		{"/process/environment/set/CI=2", "+ /process/environment/set/CI"},
		{"/process/environment/set/A=2", "+ /process/environment/set/A"},
		/* what follows from others */
		{"/filesystem/scratch/0/path=/home/other",
		 "- /filesystem/scratch/0\n+ /filesystem/scratch/0\n"
		 "+ /process/environment/set/HOME"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(change(rows[i].assignment), rows[i].changes);
}

static void an_absent_bound_is_the_widest(void **state)
{
	struct iso_changes c = {0};
	struct iso_manifest *with = manifest_valid("valid.json");
	struct iso_manifest *without = manifest_valid("minimal.json");
	bool found = false;

	(void)state;
	assert_int_equal(iso_manifest_diff(with, without, &c), 0);
	for (size_t i = 0; i < c.count; i++)
		if (!strcmp(c.items[i].pointer, "/process/limits/file_size")) {
			found = true;
			assert_int_equal(c.items[i].direction, ISO_WIDER);
			assert_string_equal(c.items[i].before, "\"32MiB\"");
			assert_null(c.items[i].after);
		}
	assert_true(found);
	iso_changes_free(&c);
	iso_manifest_free(with);
	iso_manifest_free(without);
}

static void render_sets_what_the_pointer_names(void **state)
{
	ISO_AUTO_FREE char *text =
		rendered("{\"task\": {\"id\": \"a\"}, \"list\": [1, 2]}",
			 (const char *const[]){"/task/id=7", "/process/limits/pids=8",
					       "/process/limits/memory=1GiB", "/list/1=null",
					       "/list/-={\"a\": []}", "/a~1b/c~0d=x y"},
			 6);
	json_t *got = json_loads(text, 0, NULL), *want;

	(void)state;
	/* a task's id is a text whatever it looks like; a number of processes is none */
	want = json_loads("{\"task\": {\"id\": \"7\"}, \"list\": [1, null, {\"a\": []}],"
			  " \"process\": {\"limits\": {\"pids\": 8, \"memory\": \"1GiB\"}},"
			  " \"a/b\": {\"c~d\": \"x y\"}}",
			  0, NULL);
	assert_true(json_equal(got, want));
	json_decref(got);
	json_decref(want);
}

static void render_refuses(const char *base, const char *assignment, int expected)
{
	struct iso_error e = {0};
	char *out = NULL;

	assert_int_equal(iso_manifest_render(base, strlen(base), &assignment, 1, &out, &e),
			 expected);
	assert_null(out);
	assert_string_not_equal(e.message, "");
	assert_string_not_equal(e.remedy, "");
}

static void render_refuses_what_leads_nowhere(void **state)
{
	(void)state;
	render_refuses("{", "/a=1", -EINVAL);
	render_refuses("{}", "a=1", -EINVAL);
	render_refuses("{}", "/a", -EINVAL);
	render_refuses("{}", "/a=\xff", -EILSEQ);
	render_refuses("{\"a\": 1}", "/a/b=1", -ENOENT);
	render_refuses("{\"a\": [1]}", "/a/2=1", -ENOENT);
	render_refuses("{\"a\": [1]}", "/a/01=1", -ENOENT);
	render_refuses("{\"a\": [1]}", "/a/b/c=1", -ENOENT);
	render_refuses("{\"a\": [[]]}", "/a/x/0=1", -ENOENT);
	render_refuses("{}", "/a~2=1", -ENOENT);
}

static void a_new_manifest_is_valid(void **state)
{
	static const char *const profiles[] = {"execute", "build"};
	struct iso_repository none = {0}, large = {"/srv/My Project (2)", 3ull << 30, 123456};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct iso_error e = {0};
		struct iso_manifest *m;
		char *text = NULL;

		assert_int_equal(iso_manifest_new(profiles[i], &none, &text, &e), 0);
		m = parsed(text);
		assert_int_equal(m->profile, i ? ISO_PROFILE_BUILD : ISO_PROFILE_EXECUTE);
		iso_manifest_free(m);
		free(text);
		assert_int_equal(iso_manifest_new(profiles[i], &large, &text, &e), 0);
		m = parsed(text);
		assert_string_equal(m->task.id, "my-project--2-");
		assert_string_equal(m->filesystem.inputs[0].source, large.source);
		assert_true(m->filesystem.inputs[0].size >= large.bytes);
		assert_true(m->filesystem.inputs[0].inodes >= large.inodes);
		iso_manifest_free(m);
		free(text);
	}
}

static void a_new_manifest_needs_a_profile_that_is_enforced(void **state)
{
	struct iso_repository none = {0};
	struct iso_error e = {0};
	char *text = NULL;

	(void)state;
	assert_int_equal(iso_manifest_new("plan", &none, &text, &e), -EINVAL);
	assert_non_null(strstr(e.message, "not enforced"));
	assert_int_equal(iso_manifest_new("bild", &none, &text, &e), -EINVAL);
	assert_non_null(strstr(e.message, "no profile"));
	assert_null(text);
}

/* Follows a row's pointer through the schema. */
static json_t *schema_of(json_t *schema, const char *pointer)
{
	json_t *at = schema;
	char name[64];

	while (at && *pointer == '/') {
		size_t n = strcspn(++pointer, "/");

		snprintf(name, sizeof name, "%.*s", (int)n, pointer);
		if (!strcmp(name, "*") && json_object_get(at, "items"))
			at = json_object_get(at, "items");
		else if (!strcmp(name, "*"))
			at = json_object_get(at, "additionalProperties");
		else
			at = json_object_get(json_object_get(at, "properties"), name);
		pointer += n;
	}
	return at;
}

static void the_schema_has_every_row(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *schema;

	(void)state;
	assert_int_equal(iso_manifest_schema(out), 0);
	fclose(out);
	schema = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(schema);
	for (size_t i = 0; i < iso_manifest_table.count; i++) {
		const struct iso_field *row = &iso_manifest_table.rows[i];
		json_t *s = schema_of(schema, row->pointer);
		bool inside_refused = !strncmp(row->pointer, "/filesystem/output/", 19);

		if (inside_refused)
			continue;
		if (!s)
			fail_msg("%s is not in the schema", row->pointer);
		assert_string_equal(json_string_value(json_object_get(s, "description")),
				    row->text);
		if (row->enforced && !row->enforced[0])
			assert_non_null(json_object_get(s, "not"));
	}
	json_decref(schema);
	free(text);
}

static void rows_are_found_by_pointer(void **state)
{
	const struct iso_table *t = &iso_manifest_table;

	(void)state;
	assert_string_equal(iso_field_of(t, "/filesystem/inputs/12/source")->pointer,
			    "/filesystem/inputs/*/source");
	assert_string_equal(iso_field_of(t, "/task/labels/a")->pointer, "/task/labels/*");
	assert_null(iso_field_of(t, "/filesystem/inputs/0/nothing"));
	assert_null(iso_field_of(t, "/task/*"));
	assert_null(iso_field_of(t, "task"));
	assert_null(iso_field_of(t, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_change_has_a_direction),
		cmocka_unit_test(an_absent_bound_is_the_widest),
		cmocka_unit_test(render_sets_what_the_pointer_names),
		cmocka_unit_test(render_refuses_what_leads_nowhere),
		cmocka_unit_test(a_new_manifest_is_valid),
		cmocka_unit_test(a_new_manifest_needs_a_profile_that_is_enforced),
		cmocka_unit_test(the_schema_has_every_row),
		cmocka_unit_test(rows_are_found_by_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
