/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl manifest new: the rows' samples, fitted to the profile and to a repository. */
#include "manifest/template.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "manifest/fields.h"
#include "manifest/pointer.h"
#include "manifest/units.h"

#define STEP "new"
#define ROOM 4 /* a build makes of a tree about as much again; twice that */

static int set(json_t *root, const char *pointer, json_t *value)
{
	return iso_pointer_set(root, pointer, value);
}

static int set_size(json_t *root, const char *pointer, uint64_t bytes)
{
	char text[32];

	return set(root, pointer, json_string(iso_size_format(bytes, text, sizeof text)));
}

/* A task id of a folder's name: what an id may hold, the rest as '-'. */
static json_t *id_of(const char *source)
{
	const char *name = strrchr(source, '/') + 1;
	char id[64] = "task";
	size_t n = 0;

	for (; *name && n < sizeof id - 1; name++) {
		char c = (char)tolower((unsigned char)*name);
		bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (letter || (n && strchr("._-", c)))
			id[n++] = c;
		else if (n)
			id[n++] = '-';
	}
	if (n)
		id[n] = '\0';
	return json_string(id);
}

static int fit_repository(json_t *root, const struct iso_repository *repository)
{
	uint64_t size = 256 * ISO_MIB, inodes = 50000, memory;
	int r;

	if (repository->bytes * ROOM > size)
		size = (repository->bytes * ROOM / ISO_MIB + 1) * ISO_MIB;
	if (repository->inodes * ROOM > inodes)
		inodes = repository->inodes * ROOM;
	/* the input, the sample's scratch of 256 MiB, and as much as the sample leaves free */
	memory = size + 256 * ISO_MIB + 1536 * ISO_MIB;
	r = set(root, "/task/id", id_of(repository->source));
	if (!r)
		r = set(root, "/filesystem/inputs/0/source", json_string(repository->source));
	if (!r)
		r = set_size(root, "/filesystem/inputs/0/size", size);
	if (!r)
		r = set(root, "/filesystem/inputs/0/inodes", json_integer((json_int_t)inodes));
	if (!r)
		r = set_size(root, "/process/limits/memory", memory);
	return r;
}

static int fit_profile(json_t *root, const char *profile)
{
	int r = set(root, "/host/profile", json_string(profile));

	if (r || strcmp(profile, "build"))
		return r;
	r = set(root, "/process/syscalls/profile", json_string("build"));
	if (!r)
		r = set(root, "/process/execute/-", json_string("/work"));
	return r;
}

static int dump(json_t *root, char **ret)
{
	*ret = json_dumps(root, JSON_INDENT(2));
	return *ret ? 0 : -ENOMEM;
}

int iso_manifest_new(const char *profile, const struct iso_repository *repository, char **ret,
		     struct iso_error *e)
{
	const struct iso_field *row = iso_field_of(&iso_manifest_table, "/host/profile");
	json_t *root = json_object();
	int r = root ? 0 : -ENOMEM;

	if (iso_word_index(row->enforced, profile) < 0) {
		json_decref(root);
		return iso_error_set(e, -EINVAL, STEP, "use execute or build",
				     iso_word_index(row->words, profile) < 0
					     ? "no profile is named %.64s"
					     : "profile %.64s is not enforced by this version",
				     profile);
	}
	for (size_t i = 0; i < iso_manifest_table.count && !r; i++) {
		const struct iso_field *f = &iso_manifest_table.rows[i];

		if (f->sample)
			r = set(root, f->pointer, json_loads(f->sample, JSON_DECODE_ANY, NULL));
	}
	if (!r)
		r = fit_profile(root, profile);
	if (!r && repository->source)
		r = fit_repository(root, repository);
	if (!r)
		r = dump(root, ret);
	json_decref(root);
	return r ? iso_error_set(e, r, STEP, "try again", "cannot write a manifest: %m") : 0;
}

/* Is the value of this pointer a text whatever it looks like? */
static bool is_text(const char *pointer)
{
	const struct iso_field *row = iso_field_of(&iso_manifest_table, pointer);

	if (!row)
		return false;
	switch (row->type) {
	case ISO_TYPE_OBJECT:
	case ISO_TYPE_MAP:
	case ISO_TYPE_LIST:
	case ISO_TYPE_BOOL:
	case ISO_TYPE_INTEGER:
	case ISO_TYPE_CPUS:
	case ISO_TYPE_SIZE:
	case ISO_TYPE_ATTEMPT:
		return false;
	default:
		return true;
	}
}

static int assign(json_t *root, const char *assignment, struct iso_error *e)
{
	const char *equals = strchr(assignment, '=');
	ISO_AUTO_FREE char *pointer = NULL;
	json_t *value = NULL;
	int r;

	if (!equals || assignment[0] != '/')
		return iso_error_set(e, -EINVAL, "set", "write --set /pointer=value",
				     "\"%.100s\" is not an assignment", assignment);
	pointer = strndup(assignment, (size_t)(equals - assignment));
	if (!pointer)
		return iso_error_set(e, -ENOMEM, "set", "try again", "cannot set a value: %m");
	if (!is_text(pointer))
		value = json_loads(equals + 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	if (!value)
		value = json_string(equals + 1);
	if (!value)
		return iso_error_set(e, -EILSEQ, "set", "write it in UTF-8",
				     "the value for %.100s is not UTF-8", pointer);
	r = iso_pointer_set(root, pointer, value);
	if (r)
		return iso_error_set(e, r, "set", "an index that the list has, or - to append",
				     "nothing can be set at %.100s", pointer);
	return 0;
}

int iso_manifest_render(const char *base, size_t size, const char *const *assignments, size_t count,
			char **ret, struct iso_error *e)
{
	json_error_t error;
	json_t *root = json_loadb(base, size, JSON_REJECT_DUPLICATES, &error);
	int r = 0;

	if (!root)
		return iso_error_set(e, -EINVAL, "base", "isoctl validate says more about it",
				     "the base is not JSON, line %d", error.line);
	for (size_t i = 0; i < count && !r; i++)
		r = assign(root, assignments[i], e);
	if (!r && dump(root, ret))
		r = iso_error_set(e, -ENOMEM, "render", "try again", "cannot render: %m");
	json_decref(root);
	return r;
}
