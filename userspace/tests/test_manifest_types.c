/* SPDX-License-Identifier: BSD-2-Clause */
/* Each type of value, each rule of its format: what is refused with which code, and what is not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "manifest/template.h"
#include "tests/manifest_file.h"

/* A network rule that is right; what it lacks is only enforcement. */
#define RULES "/network/rules=[{\"host\": \"a.example.com\", \"port\": 443, \"purpose\": \"x\", "
#define BACKEND                                                               \
	"/inference/backends=[{\"name\": \"m\", \"port\": 1, \"requests\": [" \
	"\"allow GET /\"], \"upstream\": "

static const struct {
	const char *assignment, *code; /* code "": valid */
} rows[] = {
	/* JSON types */
	{"/task/attempt=null", "type"},
	{"/task/attempt=true", "type"},
	{"/task/attempt=[]", "type"},
	{"/task/attempt={}", "type"},
	{"/task/attempt=1.5", "type"},
	{"/task/attempt=soon", "format"},
	{"/task/attempt=0", "range"},
	{"/task/attempt=auto", ""},
	{"/process/limits=1", "type"},
	{"/task/labels=1", "type"},
	{"/filesystem/deny=1", "type"},
	{"/host/lock_at_creation=1", "type"},
	{"/process/limits/pids=8.0", "type"},
	{"/process/limits/cpus=\"2\"", "type"},
	{"/process/limits/memory=1.5", "type"},
	{"/$comment=1", "unknown-key"},
	{"/$comment=\"a text\"", ""},
	{"/host/$schema=\"a text\"", ""},
	{"/*=1", "unknown-key"},
	/* quantities */
	{"/process/limits/memory=-1", "range"},
	{"/process/limits/memory=2147483648", ""},
	{"/process/limits/memory=128MB", "unit"},
	{"/limits/wall_time=90s", ""},
	{"/limits/wall_time=99ms", "range"},
	{"/process/limits/io_read=1", "unit"},
	{"/process/umask=0027", ""},
	{"/process/umask=1777", "format"},
	/* names */
	{"/task/id=-a", "format"},
	{"/task/labels/a b=x", "key-format"},
	{"/task/labels/a.b~1c=x", ""},
	{"/process/hostname=Task", "format"},
	{"/process/hostname=a.b", "format"},
	{"/process/hostname=a-", "format"},
	{"/process/hostname=builder-7", ""},
	{"/process/syscalls/deny=[\"Read\"]", "format"},
	{"/process/environment/pass=[\"1A\"]", "format"},
	/* refusals that are expected */
	{"/response/expected=[\"file:/a\", \"syscall:x\", \"limit:pids\", \"network:::1\"]", ""},
	{"/response/expected=[\"file:a\"]", "format"},
	{"/response/expected=[\"limit:\"]", "format"},
	{"/response/expected=[\"disk:/a\"]", "format"},
	/* what is not enforced yet has formats all the same */
	{RULES "\"requests\": [\"allow GET,HEAD /a/\", \"deny * =/b\"]}]", "not-enforced"},
	{RULES "\"requests\": [\"permit GET /a/\"]}]", "format"},
	{RULES "\"requests\": [\"allow get /a/\"]}]", "format"},
	{RULES "\"requests\": [\"allow GET, /a/\"]}]", "format"},
	{RULES "\"requests\": [\"allow GET\"]}]", "format"},
	{RULES "\"requests\": [\"allow GET a\"]}]", "format"},
	{RULES "\"requests\": [\"allow GET /a b\"]}]", "format"},
	{RULES "\"requests\": [\"deny POST /\", \"allow OPTIONS /\"], \"elevation\": \"E\"}]",
	 "format"},
	{RULES "\"requests\": [\"allow * /\", \"deny GET /\"]}]", "request-covered"},
	{RULES "\"requests\": [\"allow GET =/a\", \"allow GET =/a\"]}]", "request-covered"},
	{"/network/rules=[{\"host\": \"a..b\"}]", "format"},
	{"/network/rules=[{\"host\": \"*\"}]", "format"},
	{"/network/rules=[{\"host\": \"A.example.com\"}]", "format"},
	{"/network/limits={\"rate\": \"1MiB\"}", "unit"},
	{"/network/limits={\"rate\": \"0MiB/s\"}", "range"},
	{BACKEND "\"https://m.example.com:8443\"}]", "not-enforced"},
	{BACKEND "\"ftp://m.example.com\"}]", "format"},
	{BACKEND "\"https://m.example.com:x\"}]", "format"},
	{BACKEND "\"http://\"}]", "format"},
	{"/filesystem/root={\"image\": \"/a\", \"digest\": \"sha256:00\"}", "format"},
	/* parts of an input */
	{"/filesystem/inputs/0/protect=[\"\"]", "too-short"},
	{"/filesystem/inputs/0/protect=[\"a\", \"a\"]", "protect-covered"},
	{"/filesystem/inputs/0/not_secret={\"/a\": \"b\"}", "key-format"},
	{"/filesystem/inputs/0/mode=git", "value-not-enforced"},
	{"/filesystem/scratch/0/storage=disk", "value-not-enforced"},
	{"/filesystem/scratch/0/path=relative", "path-relative"},
	{"/filesystem/scratch/0/path=/", "target-root"},
	{"/filesystem/root/host=[\"/\"]", "source-root"},
	/* the entry command */
	{"/task/command=[\"make\"]", ""},
	{"/task/command=[1]", "type"},
	{"/process/directory=/srv", "directory-invisible"},
	{"/process/directory=/", ""},
	{"/process/directory=/proc/self", ""},
	/* credentials */
	{"/process/environment/set={\"A\": \"k7Qz2mXw9RtY4bNv8LpJ3hGf6DsA1cVe\"}", "secret-value"},
	{"/process/environment/set/LD_LIBRARY_PATH=/work/lib", ""},
	{"/process/environment/set={\"TMPDIR\": \"relative\"}", "home-outside"},
	{"/process/environment/set={\"DOCKER_HOST\": \"x\"}", "agent-name"},
	{"/process/environment/pass=[\"LD_PRELOAD\"]", "loader-name"},
	{"/process/environment/pass=[1]", "type"},
};

static void each_value_is_judged_by_its_type(void **state)
{
	size_t size = 0, wrong = 0;
	ISO_AUTO_FREE char *base = manifest_text("valid.json", &size);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct iso_findings f = {0};
		struct iso_manifest *m = NULL;
		struct iso_error e = {0};
		ISO_AUTO_FREE char *text = NULL;
		bool found = false;
		int r;

		assert_int_equal(iso_manifest_render(base, size, &rows[i].assignment, 1, &text, &e),
				 0);
		r = iso_manifest_parse(text, strlen(text), &m, &f);
		for (size_t k = 0; k < f.count; k++)
			found |= !strcmp(f.items[k].code, rows[i].code);
		if (rows[i].code[0] ? !found : r != 0) {
			print_error("%s: wanted \"%s\", first finding is %s\n", rows[i].assignment,
				    rows[i].code, f.count ? f.items[0].code : "none");
			wrong++;
		}
		iso_findings_free(&f);
		iso_manifest_free(m);
	}
	assert_int_equal(wrong, 0);
}

/* A mistake must not hide another one: all of them come at once, in order of their places. */
static void everything_wrong_is_said_at_once(void **state)
{
	static const char text[] =
		"{\"manifest_version\": 2,\n"
		"\"tsk\": {},\n"
		"\"host\": {\"profile\": \"build\", \"lock_at_creation\": false},\n"
		"\"filesystem\": {\"deny\": [\"a\", \"/b/\"], \"zzz\": 0},\n"
		"\"process\": {\"setuid\": \"allow\", \"limits\": {\"cpus\": 0}},\n"
		"\"limits\": {\"wall_time\": \"1\"}}";
	static const char *const codes[] = {"missing",	       "domain-missing",
					    "domain-missing", /* task, network, inference */
					    "range",	       "mistyped-key",
					    "fixed",	       "path-relative",
					    "path-not-normal", "unknown-key",
					    "missing",	       "fixed",
					    "missing",	       "missing",
					    "missing",	       "range",
					    "missing",	       "unit"};
	struct iso_findings f = {0};
	struct iso_manifest *m = NULL;

	(void)state;
	assert_int_equal(iso_manifest_parse(text, strlen(text), &m, &f), -EINVAL);
	assert_int_equal(f.count, sizeof codes / sizeof *codes);
	for (size_t i = 0; i < f.count; i++)
		assert_string_equal(f.items[i].code, codes[i]);
	iso_findings_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_is_judged_by_its_type),
		cmocka_unit_test(everything_wrong_is_said_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
