/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/capture.h"

#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "run/attempts.h"
#include "run/environment.h"
#include "run/loop.h"

static void free_strings(char **v)
{
	for (char **s = v; s && *s; s++)
		free(*s);
	free(v);
}

void iso_capture_free(struct iso_capture *c)
{
	if (!c)
		return;
	iso_policy_free(c->policy);
	iso_manifest_free(c->manifest);
	free_strings(c->argv);
	free(c->environment); /* one block */
	free(c->caller.groups);
	free(c);
}

static int out_of_memory(struct iso_failure *f)
{
	iso_failure_set(f, ISO_CLASS_SETUP, -ENOMEM, "capture", NULL, "out of memory");
	return -ENOMEM;
}

static bool same_command(const struct iso_strv *a, json_t *b)
{
	if (a->count != json_array_size(b))
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], json_string_value(json_array_get(b, i))) != 0)
			return false;
	return true;
}

/* The command of the manifest and the one of the command line: one of them, or both alike. */
static int take_command(struct iso_capture *c, json_t *command, struct iso_failure *f)
{
	const struct iso_strv *named = &c->manifest->task.command;
	size_t n = named->count ? named->count : json_array_size(command);

	if (n == 0)
		return iso_failure_set(f, ISO_CLASS_COMMAND, -EINVAL, "command",
				       "give one after --, or in /task/command",
				       "there is no command to run");
	if (named->count && json_array_size(command) && !same_command(named, command))
		return iso_failure_set(f, ISO_CLASS_COMMAND, -EINVAL, "command",
				       "leave the command out, or give exactly /task/command",
				       "the command is not the one of /task/command");
	c->argv = calloc(n + 1, sizeof *c->argv);
	if (!c->argv)
		return out_of_memory(f);
	for (size_t i = 0; i < n; i++) {
		c->argv[i] = strdup(named->count ? named->items[i]
						 : json_string_value(json_array_get(command, i)));
		if (!c->argv[i])
			return out_of_memory(f);
	}
	if (!*c->argv[0])
		return iso_failure_set(f, ISO_CLASS_COMMAND, -EINVAL, "command", NULL,
				       "the command's name is empty");
	return 0;
}

static int take_environment(struct iso_capture *c, json_t *environment, struct iso_failure *f)
{
	struct iso_pairs passed = {0};
	ISO_AUTO_FREE struct iso_pair *items = NULL;
	const char *name;
	json_t *value;

	items = calloc(json_object_size(environment) + 1, sizeof *items);
	if (!items)
		return out_of_memory(f);
	json_object_foreach (environment, name, value) {
		items[passed.count++] =
			(struct iso_pair){(char *)name, (char *)json_string_value(value)};
	}
	passed.items = items;
	return iso_environment_build(c->manifest, &passed, &c->environment, f);
}

static int take_caller(struct iso_capture *c, const struct iso_caller *caller,
		       struct iso_failure *f)
{
	c->caller = *caller;
	c->caller.groups = calloc(caller->group_count + 1, sizeof *caller->groups);
	if (!c->caller.groups)
		return out_of_memory(f);
	if (caller->group_count)
		memcpy(c->caller.groups, caller->groups,
		       caller->group_count * sizeof *caller->groups);
	return 0;
}

static void name_manifest(struct iso_capture *c, const char *text, size_t size)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	SHA256((const unsigned char *)text, size, digest);
	for (size_t i = 0; i < sizeof digest; i++)
		snprintf(c->manifest_sha256 + 2 * i, 3, "%02x", digest[i]);
}

static int fill(struct iso_capture *c, const struct iso_capture_request *request,
		struct iso_findings *findings, struct iso_failure *f)
{
	struct iso_error e = {0};
	int r;

	r = iso_manifest_parse(request->manifest, request->size, &c->manifest, findings);
	if (r == -EINVAL)
		return iso_failure_set(f, ISO_CLASS_MANIFEST, r, "manifest",
				       "see isoctl validate FILE", "the manifest is not valid");
	if (r < 0)
		return out_of_memory(f);
	name_manifest(c, request->manifest, request->size);
	r = take_command(c, request->command, f);
	if (r == 0)
		r = take_environment(c, request->environment, f);
	if (r == 0)
		r = take_caller(c, request->caller, f);
	if (r < 0)
		return r;
	r = iso_policy_compile(c->manifest, &c->policy, &e);
	if (r < 0)
		iso_failure_wrap(f, ISO_CLASS_POLICY, &e);
	return r;
}

int iso_capture_new(const struct iso_capture_request *request, struct iso_capture **ret,
		    struct iso_findings *findings, struct iso_failure *f)
{
	struct iso_capture *c = calloc(1, sizeof *c);
	int r;

	if (!c)
		return out_of_memory(f);
	r = fill(c, request, findings, f);
	if (r < 0) {
		iso_capture_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

int iso_capture_commit(struct iso_capture *c, int state_fd, int run_fd, struct iso_failure *f)
{
	struct iso_attempt a = {.task = c->manifest->task.id,
				.attempt = c->manifest->task.attempt,
				.time_ms = iso_realtime_ms(),
				.manifest_sha256 = c->manifest_sha256,
				.uid = c->caller.uid};
	int r = iso_sandbox_id_next(run_fd, &c->sandbox);

	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_SETUP, r, "id", "check /run/isoctl",
				       "cannot take a sandbox id: %m");
	r = iso_attempts_capture(state_fd, &a, &c->attempt, f);
	if (r < 0)
		return r;
	c->time_ms = a.time_ms;
	r = iso_run_id_make(c->manifest->task.id, c->attempt, c->run);
	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_SETUP, r, "id", NULL,
				       "cannot name the run: %m");
	return 0;
}
