/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules inside the trees that are shown: none may be one that can never take effect. */
#include <string.h>

#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/places.h"

/* An entry of the list that covers entry i: an earlier equal one, or one that it lies in. */
static const char *covered(json_t *list, size_t i, const char *(*as)(json_t *value))
{
	const char *path = as(json_array_get(list, i));

	for (size_t k = 0; k < json_array_size(list); k++) {
		const char *other = as(json_array_get(list, k));

		if (other && k != i && iso_path_within(path, other) &&
		    (k < i || strcmp(path, other)))
			return other;
	}
	return NULL;
}

static const char *denied_by(struct iso_check *c, const char *path)
{
	json_t *deny = iso_get_list(c, NULL, "/filesystem/deny"), *v;
	size_t i;

	json_array_foreach (deny, i, v) {
		const char *closed = iso_as_path(v);

		if (closed && iso_path_within(path, closed))
			return closed;
	}
	return NULL;
}

static void check_deny(struct iso_check *c)
{
	json_t *deny = iso_get_list(c, NULL, "/filesystem/deny"), *v;
	size_t i;

	json_array_foreach (deny, i, v) {
		const char *path = iso_as_path(v), *at, *other;
		const struct iso_shown *tree;

		if (!path)
			continue;
		at = iso_at(c, "/filesystem/deny/%zu", i);
		tree = iso_shown_of(c, path);
		other = covered(deny, i, iso_as_path);
		if (other)
			iso_report(c, at, DENY_COVERED, path, other);
		else if (tree && !strcmp(tree->path, path))
			iso_report(c, at, DENY_TREE, path);
		else if (!tree && iso_place_reserved(path) && strcmp(path, "/") &&
			 strcmp(path, "/etc"))
			iso_report(c, at, DENY_RESERVED, path);
		else if (!tree)
			iso_report(c, at, DENY_INVISIBLE, path);
	}
}

static bool among_paths(struct iso_check *c, json_t *input, const char *path)
{
	json_t *paths = iso_get_list(c, input, "/paths"), *v;
	size_t i;

	if (!json_array_size(paths))
		return true;
	json_array_foreach (paths, i, v) {
		const char *copied = iso_as_relative(v);

		/* above one of them: the directories that lead to it are copied too */
		if (!copied || iso_path_overlaps(path, copied))
			return true;
	}
	return false;
}

static void check_protect(struct iso_check *c)
{
	json_t *inputs = iso_get_list(c, NULL, "/filesystem/inputs"), *input, *v;
	size_t n, i;

	json_array_foreach (inputs, n, input) {
		json_t *protect = iso_get_list(c, input, "/protect");
		const char *access = iso_get_text(c, input, "/access");
		const char *target = iso_get_path(c, input, "/target");

		if (json_array_size(protect) && (!access || !strcmp(access, "read"))) {
			iso_report(c, iso_at(c, "/filesystem/inputs/%zu/protect", n),
				   PROTECT_READ_ONLY);
			continue;
		}
		json_array_foreach (protect, i, v) {
			const char *path = iso_as_relative(v), *at, *other;

			if (!path)
				continue;
			at = iso_at(c, "/filesystem/inputs/%zu/protect/%zu", n, i);
			other = covered(protect, i, iso_as_relative);
			if (other)
				iso_report(c, at, PROTECT_COVERED, path, other);
			else if (!among_paths(c, input, path))
				iso_report(c, at, PROTECT_OUTSIDE, path);
			else if (target && denied_by(c, iso_at(c, "%s/%s", target, path)))
				iso_report(c, at, PROTECT_DENIED, path);
		}
	}
}

static bool may_write_and_execute(const struct iso_check *c)
{
	return !c->profile || (c->profile & (ISO_IN_BUILD | ISO_IN_GUEST_BUILD));
}

/* "/filesystem/scratch/0/execute" from ".../path" */
static const char *execute_of(struct iso_check *c, const struct iso_shown *scratch)
{
	size_t n = strlen(scratch->pointer) - strlen("path");

	return iso_at(c, "%.*sexecute", (int)n, scratch->pointer);
}

static void check_execute(struct iso_check *c)
{
	json_t *execute = iso_get_list(c, NULL, "/process/execute"), *v;
	size_t i;

	json_array_foreach (execute, i, v) {
		const char *path = iso_as_path(v), *at, *other;
		const struct iso_shown *tree;

		if (!path)
			continue;
		at = iso_at(c, "/process/execute/%zu", i);
		tree = iso_shown_of(c, path);
		if ((other = covered(execute, i, iso_as_path)))
			iso_report(c, at, EXECUTE_COVERED, path, other);
		else if (!tree)
			iso_report(c, at, EXECUTE_INVISIBLE, path);
		else if (!tree->execute)
			iso_report(c, at, EXECUTE_SCRATCH, path, execute_of(c, tree));
		else if ((other = denied_by(c, path)))
			iso_report(c, at, EXECUTE_DENIED, path, other);
		else if (tree->writable && !may_write_and_execute(c))
			iso_report(c, at, WRITABLE_EXECUTABLE, path);
	}
}

/* A scratch that says execute and that no execute entry names, not even in part. */
static void check_scratch_execute(struct iso_check *c)
{
	json_t *execute = iso_get_list(c, NULL, "/process/execute"), *v;
	size_t i;

	for (size_t n = 0; n < c->shown_count; n++) {
		const struct iso_shown *tree = &c->shown[n];
		bool named = false;

		if (tree->kind != ISO_SHOWN_SCRATCH || !tree->execute)
			continue;
		json_array_foreach (execute, i, v) {
			const char *path = iso_as_path(v);

			named |= path && iso_path_within(path, tree->path);
		}
		if (!named)
			iso_report(c, execute_of(c, tree), SCRATCH_UNLISTED, tree->path);
	}
}

static void check_absent(struct iso_check *c)
{
	json_t *absent = iso_get_list(c, NULL, "/filesystem/assert_absent"), *v;
	size_t i;

	json_array_foreach (absent, i, v) {
		const char *path = iso_as_path(v), *at, *by = NULL;

		if (!path)
			continue;
		at = iso_at(c, "/filesystem/assert_absent/%zu", i);
		for (size_t k = 0; k < i; k++) {
			const char *other = iso_as_path(json_array_get(absent, k));

			if (other && !strcmp(other, path)) {
				iso_report(c, at, DUPLICATE, path);
				break;
			}
		}
		/* a place above a tree is a directory that leads to it; one inside may be absent,
		   but what lies in a scratch is the task's own to make */
		for (size_t k = 0; k < c->shown_count && !by; k++)
			if (iso_path_within(c->shown[k].path, path) ||
			    (c->shown[k].kind == ISO_SHOWN_SCRATCH &&
			     iso_path_within(path, c->shown[k].path)))
				by = c->shown[k].path;
		if (!by)
			by = iso_place_reserved(path);
		if (by)
			iso_report(c, at, ABSENT_SHOWN, path, by);
	}
}

/* The entry command and the working directory, where the manifest names them. */
static void check_entry(struct iso_check *c)
{
	json_t *command = iso_get_list(c, NULL, "/task/command");
	json_t *execute = iso_get_list(c, NULL, "/process/execute"), *v;
	const char *program = json_string_value(json_array_get(command, 0));
	const char *directory = iso_get_path(c, NULL, "/process/directory"), *by;
	const struct iso_shown *tree;
	bool named = !json_array_size(execute);
	size_t i;

	if (program && !program[0])
		iso_report(c, "/task/command/0", TOO_SHORT);
	if (directory && (by = denied_by(c, directory)))
		iso_report(c, "/process/directory", DIRECTORY_DENIED, directory, by);
	if (!program || iso_path_absolute(program) != ISO_PATH_OK)
		return; /* found along PATH, inside */
	tree = iso_shown_of(c, program);
	json_array_foreach (execute, i, v) {
		const char *path = iso_as_path(v);

		named |= !path || iso_path_within(program, path);
	}
	if (!tree)
		iso_report(c, "/task/command/0", COMMAND_INVISIBLE, program);
	else if ((by = denied_by(c, program)))
		iso_report(c, "/task/command/0", EXECUTE_DENIED, program, by);
	else if (!named)
		iso_report(c, "/task/command/0", COMMAND_NOT_EXECUTABLE, program);
	else if (!tree->execute)
		iso_report(c, "/task/command/0", EXECUTE_SCRATCH, program, execute_of(c, tree));
	else if (!json_array_size(execute) && tree->writable && !may_write_and_execute(c))
		iso_report(c, "/task/command/0", WRITABLE_EXECUTABLE, program);
}

void iso_check_rules(struct iso_check *c)
{
	check_deny(c);
	check_protect(c);
	check_execute(c);
	check_scratch_execute(c);
	check_absent(c);
	check_entry(c);
}
