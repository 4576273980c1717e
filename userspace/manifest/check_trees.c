/* SPDX-License-Identifier: BSD-2-Clause */
/* What the sandbox shows: the root's host paths, inputs, scratch, and what none of them may be. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/places.h"

/* Every rule about a host path that the sandbox would show. */
static void check_source(struct iso_check *c, const char *path, const char *pointer, bool input)
{
	const char *what;

	if (!strcmp(path, "/"))
		iso_report(c, pointer, SOURCE_ROOT);
	else if (iso_place_home(path))
		iso_report(c, pointer, SOURCE_HOME, path);
	else if (iso_place_kernel(path))
		iso_report(c, pointer, SOURCE_KERNEL, path);
	else if (iso_place_device(path))
		iso_report(c, pointer, SOURCE_DEVICE, path);
	else if ((what = iso_place_socket(path)))
		iso_report(c, pointer, SOURCE_SOCKET, path, what);
	else if ((what = iso_place_secret(path)))
		iso_report(c, pointer, SOURCE_SECRET, path, what,
			   input ? ", or show a directory beside it" : "");
}

static void show(struct iso_check *c, struct iso_shown tree)
{
	const struct iso_shown *other = NULL;
	const char *reserved = iso_place_reserved(tree.path);

	if (!strcmp(tree.path, "/")) {
		if (tree.kind != ISO_SHOWN_HOST)
			iso_report(c, tree.pointer, TARGET_ROOT);
		return; /* everything would overlap it */
	}
	if (reserved)
		iso_report(c, tree.pointer, TARGET_RESERVED, tree.path, reserved);
	for (size_t i = 0; i < c->shown_count && !other; i++)
		if (iso_path_overlaps(tree.path, c->shown[i].path))
			other = &c->shown[i];
	if (other && other->kind == ISO_SHOWN_HOST && tree.kind == ISO_SHOWN_HOST)
		iso_report(c, tree.pointer, TREE_COVERED, tree.path, other->path);
	else if (other)
		iso_report(c, tree.pointer, TREE_OVERLAP, tree.path, other->path);
	if (!other)
		c->shown[c->shown_count++] = tree;
}

static void check_root(struct iso_check *c)
{
	static const char *const ways[] = {"/filesystem/root/host", "/filesystem/root/directory",
					   "/filesystem/root/image"};
	json_t *hosts = iso_get_list(c, NULL, ways[0]), *v;
	size_t i, declared = 0;

	for (i = 0; i < 3; i++)
		declared += iso_get(c, NULL, ways[i]) != NULL;
	if (declared > 1)
		iso_report(c, "/filesystem/root", ROOT_SEVERAL);
	json_array_foreach (hosts, i, v) {
		const char *path = iso_as_path(v), *pointer;

		if (!path)
			continue;
		pointer = iso_at(c, "%s/%zu", ways[0], i);
		check_source(c, path, pointer, false);
		show(c, (struct iso_shown){ISO_SHOWN_HOST, path, pointer, NULL, false, true});
	}
}

/* A later input whose source lies in an earlier one's, or the other way round. */
static void check_overlap(struct iso_check *c, json_t *inputs, size_t i, const char *source,
			  const char *pointer)
{
	for (size_t k = 0; k < i; k++) {
		const char *other = iso_get_path(c, json_array_get(inputs, k), "/source");

		if (other && iso_path_overlaps(source, other)) {
			iso_report(c, pointer, SOURCE_OVERLAP, source, other);
			return;
		}
	}
}

/* paths[]: below the source, each once; not_secret says which of them only look like secrets. */
static void check_paths(struct iso_check *c, json_t *input, const char *source, const char *pointer)
{
	json_t *paths = iso_get_list(c, input, "/paths"), *v;
	json_t *not_secret = iso_get_map(c, input, "/not_secret");
	size_t i;

	json_array_foreach (paths, i, v) {
		const char *path = iso_as_relative(v), *at, *what, *whole;

		if (!path)
			continue;
		at = iso_at(c, "%s/paths/%zu", pointer, i);
		for (size_t k = 0; k < json_array_size(paths); k++) {
			const char *other = iso_as_relative(json_array_get(paths, k));

			if (!other || k == i || !iso_path_within(path, other) ||
			    (!strcmp(path, other) && k > i))
				continue;
			iso_report(c, at, PATHS_COVERED, path, other);
			break;
		}
		whole = source ? iso_at(c, "%s/%s", source, path) : path;
		if ((what = iso_place_socket(whole)))
			iso_report(c, at, SOURCE_SOCKET, path, what);
		else if ((what = iso_place_secret(whole)) && !json_object_get(not_secret, path))
			iso_report(c, at, SOURCE_SECRET, path, what,
				   ", or give the reason why it is none under not_secret");
	}
}

static void check_not_secret(struct iso_check *c, json_t *input, const char *source,
			     const char *pointer)
{
	json_t *map = iso_get_map(c, input, "/not_secret"), *v;
	const char *key;

	json_object_foreach (map, key, v) {
		const char *at;

		if (iso_path_relative(key) != ISO_PATH_OK || !source)
			continue;
		at = iso_at_key(c, iso_at(c, "%s/not_secret", pointer), key);
		if (!iso_place_secret(iso_at(c, "%s/%s", source, key)))
			iso_report(c, at, NOT_SECRET_UNUSED, key);
	}
}

static void check_inputs(struct iso_check *c)
{
	json_t *inputs = iso_get_list(c, NULL, "/filesystem/inputs"), *input;
	size_t i;

	json_array_foreach (inputs, i, input) {
		const char *source = iso_get_path(c, input, "/source");
		const char *target = iso_get_path(c, input, "/target");
		const char *access = iso_get_text(c, input, "/access");
		const char *pointer = iso_at(c, "/filesystem/inputs/%zu", i);
		bool write = access && !strcmp(access, "write");

		if (source) {
			const char *at = iso_at(c, "%s/source", pointer);

			check_source(c, source, at, true);
			check_overlap(c, inputs, i, source, at);
		}
		check_paths(c, input, source, pointer);
		check_not_secret(c, input, source, pointer);
		if (write && c->profile && !(c->profile & ISO_IN_WRITERS))
			iso_report(c, iso_at(c, "%s/access", pointer), READ_ONLY_PROFILE,
				   iso_get_text(c, NULL, "/host/profile"));
		if (target)
			show(c, (struct iso_shown){ISO_SHOWN_INPUT, target,
						   iso_at(c, "%s/target", pointer), input, write,
						   true});
	}
}

static void check_scratch(struct iso_check *c)
{
	json_t *scratch = iso_get_list(c, NULL, "/filesystem/scratch"), *row;
	size_t i;

	json_array_foreach (scratch, i, row) {
		const char *path = iso_get_path(c, row, "/path");

		if (path)
			show(c,
			     (struct iso_shown){ISO_SHOWN_SCRATCH, path,
						iso_at(c, "/filesystem/scratch/%zu/path", i), row,
						true, json_is_true(iso_get(c, row, "/execute"))});
	}
}

void iso_check_trees(struct iso_check *c)
{
	size_t most = json_array_size(iso_get_list(c, NULL, "/filesystem/root/host")) +
		      json_array_size(iso_get_list(c, NULL, "/filesystem/inputs")) +
		      json_array_size(iso_get_list(c, NULL, "/filesystem/scratch"));

	c->shown = calloc(most + 1, sizeof *c->shown);
	if (!c->shown) {
		c->r = -ENOMEM;
		return;
	}
	check_root(c);
	check_inputs(c);
	check_scratch(c);
}
