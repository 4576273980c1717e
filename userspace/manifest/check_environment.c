/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment: no credential, no way to an agent, no code that comes before the command. */
#include <string.h>

#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/secrets.h"

#define SET	   "/process/environment/set"
#define PASS	   "/process/environment/pass"
#define NOT_SECRET "/process/environment/not_secret"

/* HOME and TMPDIR are the sandbox's own: inside a scratch, where there is one. */
static const char *const homes[] = {"HOME", "TMPDIR"};

static bool in_scratch(struct iso_check *c, const char *path)
{
	const struct iso_shown *tree = iso_shown_of(c, path);

	return tree && tree->kind == ISO_SHOWN_SCRATCH;
}

static bool is_home(const char *name)
{
	return !strcmp(name, homes[0]) || !strcmp(name, homes[1]);
}

static bool passed(struct iso_check *c, const char *name, size_t before)
{
	json_t *pass = iso_get_list(c, NULL, PASS), *v;
	size_t i;

	json_array_foreach (pass, i, v) {
		if (i >= before)
			return false;
		if (json_string_value(v) && !strcmp(json_string_value(v), name))
			return true;
	}
	return false;
}

/* Rules that hold for every name, set or passed. */
static void check_name(struct iso_check *c, const char *name, const char *at)
{
	const char *what = iso_secret_name(name);

	if (iso_agent_name(name))
		iso_report(c, at, AGENT_NAME, name);
	else if (what && !json_object_get(iso_get_map(c, NULL, NOT_SECRET), name))
		iso_report(c, at, SECRET_NAME, name, what);
}

static void check_set(struct iso_check *c)
{
	json_t *set = iso_get_map(c, NULL, SET), *v;
	const char *name;

	json_object_foreach (set, name, v) {
		const char *value = json_string_value(v), *at = iso_at_key(c, SET, name), *what;

		check_name(c, name, at);
		if (iso_loader_name(name) == ISO_LOADER_CODE)
			iso_report(c, at, LOADER_NAME, name, "leave it out");
		if (!value)
			continue;
		what = iso_secret_value(value);
		if (what && !json_object_get(iso_get_map(c, NULL, NOT_SECRET), name))
			iso_report(c, at, SECRET_VALUE, what);
		if (is_home(name) &&
		    (iso_path_absolute(value) != ISO_PATH_OK || !in_scratch(c, value)))
			iso_report(c, at, HOME_OUTSIDE, value);
	}
}

static void check_pass(struct iso_check *c)
{
	json_t *pass = iso_get_list(c, NULL, PASS), *v;
	size_t i;

	json_array_foreach (pass, i, v) {
		const char *name = json_string_value(v), *at = iso_at(c, "%s/%zu", PASS, i);

		if (!name)
			continue;
		if (passed(c, name, i))
			iso_report(c, at, DUPLICATE, name);
		else if (is_home(name))
			iso_report(c, at, PASS_COMPUTED, name);
		else if (json_object_get(iso_get_map(c, NULL, SET), name))
			iso_report(c, at, SET_AND_PASS, name);
		else if (iso_loader_name(name) != ISO_LOADER_NONE)
			iso_report(c, at, LOADER_NAME, name,
				   "leave it out; the manifest may set where the task's own trees "
				   "hold code");
		else
			check_name(c, name, at);
	}
}

/* A reason for what is not there, or for what nobody would take for a credential. */
static void check_reasons(struct iso_check *c)
{
	json_t *map = iso_get_map(c, NULL, NOT_SECRET), *v;
	const char *name;

	json_object_foreach (map, name, v) {
		json_t *entry = json_object_get(iso_get_map(c, NULL, SET), name);
		const char *value = json_string_value(entry);

		if (entry ? iso_secret_name(name) || (value && iso_secret_value(value))
			  : passed(c, name, SIZE_MAX)) /* its value is only known later */
			continue;
		iso_report(c, iso_at_key(c, NOT_SECRET, name), REASON_UNUSED, name);
	}
}

void iso_check_environment(struct iso_check *c)
{
	check_set(c);
	check_pass(c);
	check_reasons(c);
}
