/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/units.h"

json_t *iso_read_at(json_t *from, const char *pointer)
{
	char name[64];

	while (from && *pointer == '/') {
		size_t n = strcspn(++pointer, "/");

		memcpy(name, pointer, n);
		name[n] = '\0';
		from = json_object_get(from, name);
		pointer += n;
	}
	return from;
}

char *iso_read_copy(struct iso_reader *d, const char *s)
{
	char *text = s ? strdup(s) : NULL;

	if (s && !text)
		d->r = -ENOMEM;
	return text;
}

void iso_strv_add(struct iso_reader *d, struct iso_strv *list, const char *s)
{
	char **items = reallocarray(list->items, list->count + 1, sizeof *items);

	if (!items) {
		d->r = -ENOMEM;
		return;
	}
	list->items = items;
	items[list->count] = iso_read_copy(d, s);
	list->count += items[list->count] != NULL;
}

void iso_pairs_add(struct iso_reader *d, struct iso_pairs *pairs, const char *key,
		   const char *value)
{
	struct iso_pair *items = reallocarray(pairs->items, pairs->count + 1, sizeof *items);

	if (!items) {
		d->r = -ENOMEM;
		return;
	}
	pairs->items = items;
	items[pairs->count++] = (struct iso_pair){iso_read_copy(d, key), iso_read_copy(d, value)};
}

void iso_read_list(struct iso_reader *d, json_t *from, const char *pointer, struct iso_strv *ret)
{
	json_t *list = iso_read_at(from, pointer), *v;
	size_t i;

	json_array_foreach (list, i, v)
		iso_strv_add(d, ret, json_string_value(v));
}

void iso_read_map(struct iso_reader *d, json_t *from, const char *pointer, struct iso_pairs *ret)
{
	json_t *map = iso_read_at(from, pointer), *v;
	const char *key;

	json_object_foreach (map, key, v)
		iso_pairs_add(d, ret, key, json_string_value(v));
}

uint64_t iso_quantity(enum iso_type type, const json_t *v)
{
	const char *s = json_string_value(v);
	uint64_t n = 0;
	uint32_t mask = 0;

	if (type == ISO_TYPE_CPUS)
		iso_cpus_milli(json_number_value(v), &n);
	else if (json_is_integer(v))
		n = (uint64_t)json_integer_value(v);
	else if (s && type == ISO_TYPE_SIZE)
		iso_size_parse(s, &n);
	else if (s && type == ISO_TYPE_TIME)
		iso_time_parse(s, &n);
	else if (s && type == ISO_TYPE_UMASK && !iso_umask_parse(s, &mask))
		n = mask;
	return n;
}

/* The value at a row's pointer, or the row's default; `from` is the object, `pattern` the row. */
json_t *iso_read_value(struct iso_reader *d, json_t *from, const char *pattern)
{
	const struct iso_field *row = iso_field_find(d->table, pattern, strlen(pattern));
	const char *slash = strrchr(pattern, '*');
	json_t *v = iso_read_at(from, slash ? slash + 1 : pattern);

	if (v)
		return json_incref(v);
	if (!row || !row->absent)
		return NULL;
	v = json_loads(row->absent, JSON_DECODE_ANY, NULL);
	if (!v)
		d->r = -ENOMEM;
	return v;
}

uint64_t iso_read_number(struct iso_reader *d, json_t *from, const char *pattern)
{
	const struct iso_field *row = iso_field_find(d->table, pattern, strlen(pattern));
	json_t *v = iso_read_value(d, from, pattern);
	uint64_t n = row ? iso_quantity(row->type, v) : 0;

	json_decref(v);
	return n;
}

char *iso_read_text(struct iso_reader *d, json_t *from, const char *pattern)
{
	json_t *v = iso_read_value(d, from, pattern);
	char *s = iso_read_copy(d, json_string_value(v));

	json_decref(v);
	return s;
}

bool iso_read_is(struct iso_reader *d, json_t *from, const char *pattern, const char *word)
{
	json_t *v = iso_read_value(d, from, pattern);
	const char *s = json_is_true(v) ? "true" : json_string_value(v);
	bool yes = s && !strcmp(s, word);

	json_decref(v);
	return yes;
}

void iso_strv_free(struct iso_strv *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
}

void iso_pairs_free(struct iso_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		free(pairs->items[i].key);
		free(pairs->items[i].value);
	}
	free(pairs->items);
}
