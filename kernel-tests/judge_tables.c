/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tables owe each other: no guest is needed for it. */
#include "judge.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "iso_abi.h"

static const struct {
	const char *name, *presence, *operation;
	unsigned number;
} hooks[] = {
#define ISO_HOOK(number_, name_, category_, presence_, operation_) \
	{#name_, #presence_, operation_, number_},
#include "iso_hooks.def"
#undef ISO_HOOK
};

/* Hooks that no operation of a sandbox comes to, since something else decides before them. */
static const char *const behind[] = {
#define BACKSTOP(hook, ...)  #hook,
#define BACKSTOPS(hook, ...) #hook,
#define UNREACHED(hook, why) #hook,
#include "backstops.def"
#undef BACKSTOP
#undef BACKSTOPS
#undef UNREACHED
};

static unsigned rows_of(const char *operation)
{
	unsigned n = 0;

	for (size_t i = 0; i < iso_case_count; i++)
		n += iso_case_rows[i].decider && !strcmp(iso_case_rows[i].name, operation);
	return n;
}

/* A row says who decides; one without an event also says why. */
static bool row_is_whole(const struct iso_kernel_case *c)
{
	return *c->decider && *c->action && (*c->event || *c->why);
}

int judge_names(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned listed = 0, rows = 0, bad = 0;
	char name[256];

	while (f && fgets(name, sizeof name, f)) {
		unsigned n;

		name[strcspn(name, "\n")] = 0;
		if (*name == '#')
			continue;
		n = rows_of(name);

		listed++;
		if (n != 1) {
			printf("  %s: %u rows in operations.def, not one\n", name, n);
			bad++;
		}
	}
	if (f)
		fclose(f);
	for (size_t i = 0; i < iso_case_count; i++) {
		if (!iso_case_rows[i].decider)
			continue;
		rows++;
		if (!row_is_whole(&iso_case_rows[i])) {
			printf("  %s: no decider, or nothing that shows it\n",
			       iso_case_rows[i].name);
			bad++;
		}
	}
	printf("%u operations are listed, %u have rows\n", listed, rows);
	return listed && listed == rows && !bad ? 0 : 1;
}

/* Is the hook one of "KIND HOOK|HOOK REASON"? */
static bool event_names(const char *event, const char *hook)
{
	const char *from = strchr(event, ' ');
	size_t n = strlen(hook);

	for (; from && from[1]; from = strpbrk(from + 1, "| ")) {
		const char *word = from + 1;

		if (!strncmp(word, hook, n) && (word[n] == ' ' || word[n] == '|'))
			return true;
	}
	return false;
}

static bool has_case(const char *hook)
{
	for (size_t i = 0; i < iso_case_count; i++)
		if (event_names(iso_case_rows[i].event, hook))
			return true;
	return false;
}

static bool is_behind(const char *hook)
{
	for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
		if (!strcmp(behind[i], hook))
			return true;
	return false;
}

int judge_hooks(void)
{
	unsigned bad = 0;

	for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
		if (!has_case(hooks[i].name) && !is_behind(hooks[i].name)) {
			printf("  %s: no row in cases.def, operations.def or backstops.def\n",
			       hooks[i].name);
			bad++;
		}
	printf("%zu hooks, %u without a test\n", sizeof hooks / sizeof *hooks, bad);
	return bad ? 1 : 0;
}

/* Is there a row of uring.def that does this, and is allowed or denied? */
static bool has_request(const char *verb, bool denied)
{
	size_t n = strlen(verb);

	for (size_t i = 0; i < iso_case_count; i++) {
		const struct iso_kernel_case *c = &iso_case_rows[i];

		if (!strncmp(c->action, verb, n) && (c->action[n] == ' ' || !c->action[n]) &&
		    denied == (c->error && *c->event))
			return true;
	}
	return false;
}

int judge_opcodes(void)
{
	static const struct {
		const char *name, *allowed, *denied;
	} rows[] = {
#define OPCODE(number, name, allowed, denied) {#name, allowed, denied},
#define HARMLESS(number, name, why)
#include "uring_opcodes.def"
#undef OPCODE
#undef HARMLESS
	};
	unsigned bad = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if ((!*rows[i].allowed || has_request(rows[i].allowed, false)) &&
		    has_request(rows[i].denied, true))
			continue;
		printf("  %s: uring.def does not have it allowed and denied\n", rows[i].name);
		bad++;
	}
	printf("%zu requests are judged, %u without a test\n", sizeof rows / sizeof *rows, bad);
	return bad ? 1 : 0;
}

/* file_open says in its operation what it was asked for. */
bool judge_operation(const char *hook, const char *operation)
{
	if (!strcmp(hook, "file_open"))
		return !strncmp(operation, "open-for-", 9) || !strcmp(operation, "open");
	for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
		if (!strcmp(hooks[i].name, hook))
			return !strcmp(hooks[i].operation, operation);
	return false;
}
