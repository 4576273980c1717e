/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/read.h"
#include "manifest/scan.h"

struct diff {
	struct iso_changes *changes;
	int r;
};

static void compare(struct diff *d, const struct iso_field *row, const char *pointer, json_t *a,
		    json_t *b);

static char *dump(struct diff *d, const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	if (v && !text)
		d->r = -ENOMEM;
	return text;
}

static void report(struct diff *d, enum iso_direction direction, const char *pointer,
		   const json_t *before, const json_t *after)
{
	struct iso_change *items;

	items = reallocarray(d->changes->items, d->changes->count + 1, sizeof *items);
	if (!items) {
		d->r = -ENOMEM;
		return;
	}
	d->changes->items = items;
	items[d->changes->count] =
		(struct iso_change){direction, strdup(pointer), dump(d, before), dump(d, after)};
	if (!items[d->changes->count++].pointer)
		d->r = -ENOMEM;
}

/* parent + "/" + key; the caller frees. */
static char *below(struct diff *d, const char *parent, const char *key)
{
	size_t n = strlen(parent);
	char *text = malloc(n + 2 * strlen(key) + 2);

	if (!text) {
		d->r = -ENOMEM;
		return NULL;
	}
	iso_pointer_add(mempcpy(text, parent, n), key);
	return text;
}

static char *below_index(struct diff *d, const char *parent, size_t i)
{
	char number[24];

	snprintf(number, sizeof number, "%zu", i);
	return below(d, parent, number);
}

/* The value's place on the scale of its row; what is not bounded stands above all. */
static uint64_t place(const struct iso_field *row, const json_t *v)
{
	int i;

	if (!v)
		return UINT64_MAX;
	if (row->type == ISO_TYPE_BOOL)
		return json_is_true(v);
	if (row->type != ISO_TYPE_WORD)
		return iso_quantity(row->type, v);
	i = iso_word_index(row->words, json_string_value(v));
	return i < 0 ? UINT64_MAX : (uint64_t)i;
}

static void compare_scalar(struct diff *d, const struct iso_field *row, const char *pointer,
			   const json_t *a, const json_t *b)
{
	enum iso_direction direction = ISO_WIDER;
	uint64_t x = place(row, a), y = place(row, b);

	if (json_equal(a, b) || (!a && !b))
		return;
	if (row->widens == ISO_WIDENS_NEVER)
		direction = ISO_NEUTRAL;
	else if (row->widens == ISO_WIDENS_UP && x == y)
		return; /* "1GiB" and "1024MiB" */
	else if ((row->widens == ISO_WIDENS_UP && y < x) ||
		 (row->widens == ISO_WIDENS_DOWN && y > x))
		direction = ISO_NARROWER;
	report(d, direction, pointer, a, b);
}

/* Is the entry in the list, or, for paths, inside one of its entries? */
static bool covered(const struct iso_field *entry, json_t *list, const json_t *v)
{
	bool paths = entry->type == ISO_TYPE_PATH || entry->type == ISO_TYPE_RELATIVE;
	json_t *other;
	size_t i;

	json_array_foreach (list, i, other)
		if (json_equal(other, v) ||
		    (paths && iso_path_within(json_string_value(v), json_string_value(other))))
			return true;
	return false;
}

static void entries_not_in(struct diff *d, const struct iso_field *entry, const char *pointer,
			   json_t *list, json_t *other, enum iso_direction direction, bool gone)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		ISO_AUTO_FREE char *at = NULL;

		if (covered(entry, other, v))
			continue;
		at = below_index(d, pointer, i);
		if (at)
			report(d, direction, at, gone ? v : NULL, gone ? NULL : v);
	}
}

static void compare_set(struct diff *d, const struct iso_field *row, const struct iso_field *entry,
			const char *pointer, json_t *a, json_t *b)
{
	bool down = row->widens == ISO_WIDENS_DOWN;

	/* none stands for all */
	if (row->widens == ISO_WIDENS_FIRST && !json_array_size(a) != !json_array_size(b)) {
		report(d, json_array_size(b) ? ISO_NARROWER : ISO_WIDER, pointer, a, b);
		return;
	}
	entries_not_in(d, entry, pointer, a, b, down ? ISO_WIDER : ISO_NARROWER, true);
	entries_not_in(d, entry, pointer, b, a, down ? ISO_NARROWER : ISO_WIDER, false);
}

/* The member by which an entry of a list of objects is the same one in both. */
static json_t *identity(const json_t *entry)
{
	static const char *const names[] = {"target", "path", "name", "host"};
	json_t *v = NULL;

	for (size_t i = 0; i < 4 && !v; i++)
		v = json_object_get(entry, names[i]);
	return v;
}

static json_t *same_entry(json_t *list, const json_t *entry)
{
	json_t *other;
	size_t i;

	json_array_foreach (list, i, other)
		if (json_equal(identity(other), identity(entry)))
			return other;
	return NULL;
}

static void compare_objects(struct diff *d, const struct iso_field *entry, const char *pointer,
			    json_t *a, json_t *b)
{
	json_t *v;
	size_t i;

	json_array_foreach (a, i, v) {
		ISO_AUTO_FREE char *at = below_index(d, pointer, i);

		if (at && !same_entry(b, v))
			report(d, ISO_NARROWER, at, v, NULL);
	}
	json_array_foreach (b, i, v) {
		ISO_AUTO_FREE char *at = below_index(d, pointer, i);
		json_t *before = same_entry(a, v);

		if (at && before)
			compare(d, entry, at, before, v);
		else if (at)
			report(d, ISO_WIDER, at, NULL, v);
	}
}

static void compare_map(struct diff *d, const struct iso_field *row, const struct iso_field *entry,
			const char *pointer, json_t *a, json_t *b)
{
	enum iso_direction gone = row->widens == ISO_WIDENS_UP ? ISO_NARROWER : ISO_WIDER;
	const char *key;
	json_t *v;

	if (row->widens == ISO_WIDENS_NEVER)
		gone = ISO_NEUTRAL;
	json_object_foreach (a, key, v) {
		ISO_AUTO_FREE char *at = below(d, pointer, key);

		if (at && !json_object_get(b, key))
			report(d, gone, at, v, NULL);
	}
	json_object_foreach (b, key, v) {
		ISO_AUTO_FREE char *at = below(d, pointer, key);
		json_t *before = json_object_get(a, key);

		if (at && before)
			compare_scalar(d, entry, at, before, v);
		else if (at)
			report(d, row->widens == ISO_WIDENS_NEVER ? ISO_NEUTRAL : ISO_WIDER, at,
			       NULL, v);
	}
}

/* The member of an object, or its row's default: a new reference. */
static json_t *member(struct diff *d, const json_t *object, const struct iso_field *row)
{
	json_t *v = json_object_get(object, iso_field_name(row));

	if (v || !row->absent)
		return json_incref(v);
	v = json_loads(row->absent, JSON_DECODE_ANY, NULL);
	if (!v)
		d->r = -ENOMEM;
	return v;
}

static void compare_members(struct diff *d, const struct iso_field *parent, const char *pointer,
			    json_t *a, json_t *b)
{
	const struct iso_field *row;
	size_t at = 0;

	while ((row = iso_field_next(&iso_manifest_table, parent, &at))) {
		ISO_AUTO_FREE char *where = below(d, pointer, iso_field_name(row));
		json_t *x = member(d, a, row), *y = member(d, b, row);

		if (where)
			compare(d, row, where, x, y);
		json_decref(x);
		json_decref(y);
	}
}

static void compare(struct diff *d, const struct iso_field *row, const char *pointer, json_t *a,
		    json_t *b)
{
	const struct iso_field *entry = iso_field_member(&iso_manifest_table, row, "*");

	if (d->r)
		return;
	if (row->type == ISO_TYPE_OBJECT)
		compare_members(d, row, pointer, a, b);
	else if (row->type == ISO_TYPE_MAP)
		compare_map(d, row, entry, pointer, a, b);
	else if (row->type != ISO_TYPE_LIST)
		compare_scalar(d, row, pointer, a, b);
	else if (entry->type == ISO_TYPE_OBJECT)
		compare_objects(d, entry, pointer, a, b);
	else if (row->widens != ISO_WIDENS_ANY && row->widens != ISO_WIDENS_NEVER)
		compare_set(d, row, entry, pointer, a, b);
	else if (json_array_size(a) + json_array_size(b) && !(a && b && json_equal(a, b)))
		report(d, row->widens == ISO_WIDENS_ANY ? ISO_WIDER : ISO_NEUTRAL, pointer, a, b);
}

/* Defaults that follow from other fields: the same text may mean another place. */
static void compare_computed(struct diff *d, const struct iso_manifest *old,
			     const struct iso_manifest *new)
{
	const struct {
		const char *pointer, *before, *after;
	} computed[] = {
		{"/process/directory", old->process.directory, new->process.directory},
		{"/process/environment/set/HOME", old->process.home, new->process.home},
		{"/process/environment/set/TMPDIR", old->process.tmpdir, new->process.tmpdir},
	};

	for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
		bool said = false;
		json_t *a, *b;

		for (size_t k = 0; k < d->changes->count; k++)
			said |= !strcmp(d->changes->items[k].pointer, computed[i].pointer);
		if (said || !strcmp(computed[i].before, computed[i].after))
			continue;
		a = json_string(computed[i].before);
		b = json_string(computed[i].after);
		report(d, ISO_WIDER, computed[i].pointer, a, b);
		json_decref(a);
		json_decref(b);
	}
}

int iso_manifest_diff(const struct iso_manifest *old, const struct iso_manifest *new,
		      struct iso_changes *ret)
{
	const struct iso_source *a = old->private, *b = new->private;
	struct diff d = {ret, 0};

	compare_members(&d, NULL, "", a->root, b->root);
	if (!d.r)
		compare_computed(&d, old, new);
	return d.r;
}

void iso_changes_free(struct iso_changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->items[i].pointer);
		free(c->items[i].before);
		free(c->items[i].after);
	}
	free(c->items);
	*c = (struct iso_changes){0};
}
