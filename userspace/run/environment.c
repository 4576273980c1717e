/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "manifest/secrets.h"

#define STEP "environment"

/* In the order of growing precedence: a later value replaces an earlier one of its name. */
enum origin { DEFAULT, SET, PASSED, FORCED };

struct entry {
	const char *key, *value;
	enum origin origin;
};

/*
 * git, docker, npm and pip look for credentials outside HOME too (system files that the root may
 * show, helpers, prompts): they find nothing.
 */
static const struct iso_pair forced[] = {
	{(char *)"GIT_CONFIG_NOSYSTEM", (char *)"1"},
	{(char *)"GIT_TERMINAL_PROMPT", (char *)"0"},
	{(char *)"DOCKER_CONFIG", (char *)"/nonexistent"},
	{(char *)"NPM_CONFIG_USERCONFIG", (char *)"/dev/null"},
	{(char *)"NPM_CONFIG_GLOBALCONFIG", (char *)"/dev/null"},
	{(char *)"PIP_CONFIG_FILE", (char *)"/dev/null"},
};
#define FORCED_COUNT (sizeof forced / sizeof *forced)

static int refuse(struct iso_failure *f, const char *name, const char *remedy, const char *what)
{
	char shown[80];

	return iso_failure_set(f, ISO_CLASS_ENVIRONMENT, -EPERM, STEP, remedy,
			       "environment variable %s %s",
			       iso_text_escape(name, strlen(name), shown, sizeof shown), what);
}

static int put(struct entry *entries, size_t *count, const char *key, const char *value,
	       enum origin origin, struct iso_failure *f)
{
	for (size_t i = 0; i < *count; i++) {
		if (strcmp(entries[i].key, key) != 0)
			continue;
		if (origin == FORCED && entries[i].origin != DEFAULT)
			return refuse(f, key, "leave it out of the manifest",
				      "is kept by isoctl so that credentials are not found");
		entries[i] = (struct entry){key, value, origin};
		return 0;
	}
	entries[(*count)++] = (struct entry){key, value, origin};
	return 0;
}

static bool listed(const struct iso_strv *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

static int check_passed(const struct iso_manifest *m, const struct iso_pair *p,
			struct iso_failure *f)
{
	if (!listed(&m->process.environment_pass, p->key))
		return refuse(f, p->key, "name it in /process/environment/pass",
			      "is not one that the manifest lets through");
	if (iso_secret_name(p->key) || iso_secret_value(p->value) || iso_agent_name(p->key))
		return refuse(f, p->key, "unset it, or take it out of /process/environment/pass",
			      "looks like a credential");
	if (iso_loader_name(p->key) != ISO_LOADER_NONE)
		return refuse(f, p->key, "take it out of /process/environment/pass",
			      "decides what code programs load");
	return 0;
}

/* One block: the pointers, then the texts. */
static char **pack(const struct entry *entries, size_t count)
{
	size_t bytes = (count + 1) * sizeof(char *);
	char **block, *text;

	for (size_t i = 0; i < count; i++)
		bytes += strlen(entries[i].key) + strlen(entries[i].value) + 2;
	block = malloc(bytes);
	if (!block)
		return NULL;
	text = (char *)(block + count + 1);
	for (size_t i = 0; i < count; i++) {
		block[i] = text;
		text = stpcpy(text, entries[i].key);
		*text++ = '=';
		text = stpcpy(text, entries[i].value) + 1;
	}
	block[count] = NULL;
	return block;
}

int iso_environment_build(const struct iso_manifest *m, const struct iso_pairs *passed, char ***ret,
			  struct iso_failure *f)
{
	const struct iso_pair defaults[] = {
		{(char *)"PATH", (char *)"/usr/local/bin:/usr/bin:/bin"},
		{(char *)"HOME", m->process.home},
		{(char *)"LANG", (char *)"C.UTF-8"},
		{(char *)"TMPDIR", m->process.tmpdir},
		{(char *)"USER", (char *)"task"},
		{(char *)"LOGNAME", (char *)"task"},
	};
	const size_t default_count = sizeof defaults / sizeof *defaults;
	const struct iso_pairs *set = &m->process.environment_set;
	ISO_AUTO_FREE struct entry *entries =
		calloc(default_count + set->count + passed->count + FORCED_COUNT, sizeof *entries);
	size_t count = 0;
	char **block;
	int r = 0;

	if (!entries)
		return iso_failure_set(f, ISO_CLASS_SETUP, -ENOMEM, STEP, NULL, "out of memory");
	for (size_t i = 0; i < default_count; i++)
		put(entries, &count, defaults[i].key, defaults[i].value, DEFAULT, f);
	for (size_t i = 0; i < set->count; i++)
		put(entries, &count, set->items[i].key, set->items[i].value, SET, f);
	for (size_t i = 0; i < passed->count && r == 0; i++) {
		r = check_passed(m, &passed->items[i], f);
		put(entries, &count, passed->items[i].key, passed->items[i].value, PASSED, f);
	}
	for (size_t i = 0; i < FORCED_COUNT && r == 0; i++)
		r = put(entries, &count, forced[i].key, forced[i].value, FORCED, f);
	if (r < 0)
		return r;
	block = pack(entries, count);
	if (!block)
		return iso_failure_set(f, ISO_CLASS_SETUP, -ENOMEM, STEP, NULL, "out of memory");
	*ret = block;
	return 0;
}
