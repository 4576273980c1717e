/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	iso-kernel-judge VARIANT OUTPUT EVENTS
 *	iso-kernel-judge outside VARIANT OUTPUT	what operations got outside any sandbox
 *	iso-kernel-judge names FILE	operations.def against the names of operations.txt
 *	iso-kernel-judge hooks		iso_hooks.def against the tables of tests
 *	iso-kernel-judge opcodes	uring_opcodes.def against uring.def
 *	iso-kernel-judge value FILE KEY.KEY...	prints a value of a JSON document
 *
 * Holds what the probe said (OUTPUT) and the run's events (EVENTS, OCSF lines) against the rows of
 * cases.def: verdict and errno of each case, exactly one event with kind, hook, reason, errno,
 * object, operation, deciding rule and an exec id of its own where one is owed, none where not, and
 *no event that belongs to no case. A case that did not run has failed.
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cases.h"
#include "judge.h"

#define EVENTS_MAX 4096
#define NOT_RUN	   (-2)

struct event {
	char kind[32], hook[64], reason[64], error[32], object[1024], rule[256], actor[64];
	char operation[64];
	long exec, count;
	bool taken;
};

static struct event events[EVENTS_MAX];
static size_t event_count;
static int verdicts[4096];

static const char *text_at(json_t *o, const char *a, const char *b, const char *c)
{
	json_t *v = json_object_get(o, a);

	if (b)
		v = json_object_get(v, b);
	if (c)
		v = json_object_get(v, c);
	return json_string_value(v) ? json_string_value(v) : "";
}

static void object_of(json_t *o, char *out, size_t size)
{
	json_t *end = json_object_get(o, "dst_endpoint");
	const char *second = text_at(o, "unmapped", "isoctl", "path2");

	if (end && *text_at(end, "ip", NULL, NULL))
		snprintf(out, size, "%s:%d", text_at(end, "ip", NULL, NULL),
			 (int)json_integer_value(json_object_get(end, "port")));
	else if (end)
		snprintf(out, size, "%s", text_at(end, "name", NULL, NULL));
	else if (*text_at(o, "kernel", "system_call", NULL))
		snprintf(out, size, "%s(%s)", text_at(o, "kernel", "system_call", NULL),
			 text_at(o, "unmapped", "isoctl", "arguments"));
	else if (json_object_get(o, "file"))
		snprintf(out, size, "%s%s%s", text_at(o, "file", "path", NULL),
			 *second ? " -> " : "", second);
	else
		snprintf(out, size, "%s", text_at(o, "process", "file", "path"));
}

static bool is_refusal(const char *kind)
{
	static const char *const kinds[] = {"file", "absent-path", "network", "exec", "kernel"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i], kind))
			return true;
	return false;
}

static void add_event(json_t *o)
{
	struct event *e = &events[event_count];
	json_t *count = json_object_get(o, "count");

	snprintf(e->kind, sizeof e->kind, "%s", text_at(o, "unmapped", "isoctl", "kind"));
	if (!is_refusal(e->kind))
		return;
	snprintf(e->hook, sizeof e->hook, "%s", text_at(o, "unmapped", "isoctl", "hook"));
	snprintf(e->operation, sizeof e->operation, "%s",
		 text_at(o, "unmapped", "isoctl", "operation"));
	snprintf(e->reason, sizeof e->reason, "%s", text_at(o, "unmapped", "isoctl", "reason"));
	snprintf(e->error, sizeof e->error, "%s", text_at(o, "status_code", NULL, NULL));
	snprintf(e->rule, sizeof e->rule, "%s", text_at(o, "firewall_rule", "uid", NULL));
	snprintf(e->actor, sizeof e->actor, "%s", text_at(o, "actor", "process", "name"));
	e->exec = strtol(text_at(o, "actor", "process", "uid"), NULL, 10);
	e->count = count ? (long)json_integer_value(count) : 1;
	object_of(o, e->object, sizeof e->object);
	event_count++;
}

static int read_events(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return -1;
	while (getline(&line, &size, f) > 0 && event_count < EVENTS_MAX) {
		json_t *o = json_loads(line, 0, NULL);

		if (!o) {
			printf("not JSON: %s", line);
			return -1;
		}
		add_event(o);
		json_decref(o);
	}
	free(line);
	fclose(f);
	return 0;
}

static int read_output(const char *variant, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, name[128], verdict[16];
	size_t size = 0;

	if (!f)
		return -1;
	while (getline(&line, &size, f) > 0) {
		if (sscanf(line, "case %127s %15s", name, verdict) != 2) {
			printf("  the probe says: %s", line);
			continue;
		}
		for (size_t i = 0; i < iso_case_count; i++)
			if (!strcmp(iso_case_rows[i].variant, variant) &&
			    !strcmp(iso_case_rows[i].name, name))
				verdicts[i] = (int)strtol(verdict, NULL, 10);
	}
	free(line);
	fclose(f);
	return 0;
}

/* One of the alternatives between '|'; a "*" at the end is anything. */
static bool matches(const char *pattern, const char *text)
{
	size_t n = strlen(text), all = strlen(pattern);

	if (all && pattern[all - 1] == '*' && !strncmp(pattern, text, all - 1))
		return true;
	for (const char *p = pattern; p; p = strchr(p, '|')) {
		if (*p == '|')
			p++;
		if (!strncmp(p, text, n) && (p[n] == 0 || p[n] == '|'))
			return true;
	}
	return false;
}

/* By the name that the case's program has given itself; what that executed, by its object. */
static bool belongs(const struct event *e, const struct iso_kernel_case *c, size_t number)
{
	char name[32];

	snprintf(name, sizeof name, "case-%zu", number);
	if (!strncmp(e->actor, "case-", 5))
		return !strcmp(e->actor, name);
	return *c->event && strcmp(c->object, "*") != 0 && matches(c->object, e->object);
}

static bool wrong(const char *name, const char *what, const char *got, const char *want)
{
	printf("  %s: %s is \"%s\", not \"%s\"\n", name, what, got, want);
	return true;
}

static bool event_differs(const struct iso_kernel_case *c, const struct event *e)
{
	char kind[32], hook[96], reason[64];
	bool bad = false;

	if (sscanf(c->event, "%31s %95s %63s", kind, hook, reason) != 3)
		return wrong(c->name, "event", c->event, "KIND HOOK REASON");
	if (strcmp(e->kind, kind) != 0)
		bad = wrong(c->name, "kind", e->kind, kind);
	if (!matches(hook, e->hook))
		bad = wrong(c->name, "hook", e->hook, hook);
	if (!judge_operation(e->hook, e->operation))
		bad = wrong(c->name, "operation", e->operation, "that of the hook");
	if (strcmp(e->reason, reason) != 0)
		bad = wrong(c->name, "reason", e->reason, reason);
	if (strcmp(e->error, strerrorname_np(c->error)) != 0)
		bad = wrong(c->name, "errno", e->error, strerrorname_np(c->error));
	if (!matches(c->object, e->object))
		bad = wrong(c->name, "object", e->object, c->object);
	if (!matches(c->rule, e->rule))
		bad = wrong(c->name, "rule", e->rule, c->rule);
	if (e->count != 1)
		bad = wrong(c->name, "event", "said more than once", "one");
	return bad;
}

/* Is the running kernel older than that? */
static bool is_older(int since)
{
	struct utsname name;
	int major = 0, minor = 0;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return CASES_SINCE(major, minor) < since;
}

/* The errno that an operation gets outside, on the running kernel. */
static int expected_outside(const struct iso_kernel_case *c)
{
	if (!(c->outside & CASES_SINCE(0, 0)))
		return c->outside;
	return is_older(c->outside) ? ENOSYS : 0;
}

static const char *verdict_word(int verdict)
{
	if (verdict < 0)
		return verdict == NOT_RUN ? "did not run" : "cannot be tried";
	return verdict ? strerrorname_np(verdict) : "works";
}

/* The control: outside each operation works, or has the errno that the table says. */
static int judge_outside(const char *variant)
{
	size_t ran = 0, passed = 0;

	for (size_t i = 0; i < iso_case_count; i++) {
		const struct iso_kernel_case *c = &iso_case_rows[i];
		bool ok;

		if (!c->decider || strcmp(c->variant, variant) != 0)
			continue;
		ok = verdicts[i] == expected_outside(c);
		if (!ok)
			wrong(c->name, "verdict outside", verdict_word(verdicts[i]),
			      verdict_word(expected_outside(c)));
		ran++;
		passed += ok;
		printf("%s outside/%s: %s\n", ok ? "PASS" : "FAIL", c->name,
		       verdict_word(verdicts[i]));
	}
	printf("%s outside: %zu of %zu operations as expected\n", variant, passed, ran);
	return ran && passed == ran ? 0 : 1;
}

/* Verdict and events of one case. Exec ids rise from case to case: each is a program of its own. */
static bool passes(size_t number, long *last_exec)
{
	struct iso_kernel_case row = iso_case_rows[number], *c = &row;
	const struct event *found = NULL;
	bool bad = false;
	size_t n = 0;

	if (is_older(c->since)) {
		row.error = EINVAL;
		row.event = "";
	}
	if (verdicts[number] == NOT_RUN)
		return !wrong(c->name, "verdict", "did not run", "one");
	if (verdicts[number] != c->error)
		bad = wrong(c->name, "verdict",
			    verdicts[number] < 0   ? "cannot be tried"
			    : verdicts[number] > 0 ? strerror(verdicts[number])
						   : "allowed",
			    c->error ? strerror(c->error) : "allowed");
	for (size_t i = 0; i < event_count; i++) {
		if (events[i].taken || !belongs(&events[i], c, number))
			continue;
		events[i].taken = true;
		found = &events[i];
		n++;
		if (!*c->event)
			printf("  %s: %s %s %s %s %s\n", c->name, found->kind, found->hook,
			       found->reason, found->object, found->rule);
	}
	if (n != (*c->event ? 1 : 0)) {
		printf("  %s: %zu events\n", c->name, n);
		bad = true;
	}
	if (n != 1 || !*c->event)
		return !bad;
	if (found->exec <= *last_exec) {
		printf("  %s: exec id %ld after %ld\n", c->name, found->exec, *last_exec);
		bad = true;
	}
	*last_exec = found->exec;
	return !event_differs(c, found) && !bad;
}

/* A value of a JSON document, by keys with dots between: the scripts have no parser of their own.
 */
static int print_value(const char *file, char *path)
{
	json_t *document = json_load_file(file, 0, NULL), *v = document;
	char *save, *text;

	for (char *key = strtok_r(path, ".", &save); key; key = strtok_r(NULL, ".", &save))
		v = json_object_get(v, key);
	if (!v)
		return 1;
	text = json_is_string(v) ? strdup(json_string_value(v)) : json_dumps(v, JSON_ENCODE_ANY);
	puts(text);
	free(text);
	json_decref(document);
	return 0;
}

int main(int argc, char **argv)
{
	size_t ran = 0, passed = 0, strangers = 0;
	long last_exec = 1;

	if (argc == 4 && !strcmp(argv[1], "value"))
		return print_value(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "names"))
		return judge_names(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "hooks"))
		return judge_hooks();
	if (argc == 2 && !strcmp(argv[1], "opcodes"))
		return judge_opcodes();
	if (argc != 4 || iso_case_count > sizeof verdicts / sizeof *verdicts)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < iso_case_count; i++)
		verdicts[i] = NOT_RUN;
	if (!strcmp(argv[1], "outside"))
		return read_output(argv[2], argv[3]) ? 1 : judge_outside(argv[2]);
	if (read_output(argv[1], argv[2]) || read_events(argv[3])) {
		printf("cannot read %s or %s\n", argv[2], argv[3]);
		return 1;
	}
	for (size_t i = 0; i < iso_case_count; i++) {
		bool ok;

		if (strcmp(iso_case_rows[i].variant, argv[1]) != 0)
			continue;
		ran++;
		ok = passes(i, &last_exec);
		passed += ok;
		printf("%s %s/%s%s%s\n", ok ? "PASS" : "FAIL", argv[1], iso_case_rows[i].name,
		       iso_case_rows[i].decider ? ": " : "",
		       iso_case_rows[i].decider ? iso_case_rows[i].decider : "");
	}
	for (size_t i = 0; i < event_count; i++) {
		if (events[i].taken)
			continue;
		strangers++;
		printf("  an event of no case: %s %s %s %s by %s\n", events[i].kind, events[i].hook,
		       events[i].reason, events[i].object, events[i].actor);
	}
	printf("%s: %zu of %zu cases passed, %zu events of no case\n", argv[1], passed, ran,
	       strangers);
	return ran && passed == ran && !strangers ? 0 : 1;
}
