/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/fields.h"

#include <string.h>

#include "manifest/units.h"

#define REQUIRED	 .need = ISO_NEED_REQUIRED
#define DOMAIN		 .need = ISO_NEED_DOMAIN
#define FIELD(p, t, ...) {.pointer = (p), .type = ISO_TYPE_##t, __VA_ARGS__},

static const struct iso_field manifest_rows[] = {
#include "manifest/fields.def"
};

static const struct iso_field ceiling_rows[] = {
#include "manifest/ceiling.def"
};

const struct iso_table iso_manifest_table = {manifest_rows,
					     sizeof manifest_rows / sizeof *manifest_rows};
const struct iso_table iso_ceiling_table = {ceiling_rows,
					    sizeof ceiling_rows / sizeof *ceiling_rows};

#define METHODS "(\\*|[A-Z]+(,[A-Z]+)*)"

const struct iso_type_name iso_type_names[ISO_TYPE_MAX] = {
#define TYPE(name, word, what, right, pattern) [ISO_TYPE_##name] = {word, what, right, pattern},
#include "manifest/types.def"
#undef TYPE
};

const struct iso_field *iso_field_find(const struct iso_table *t, const char *pattern, size_t n)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strncmp(t->rows[i].pointer, pattern, n) && !t->rows[i].pointer[n])
			return &t->rows[i];
	return NULL;
}

/* The member's name when `row` is a direct member of `parent`, else NULL. */
static const char *member_name(const struct iso_field *row, const struct iso_field *parent)
{
	size_t n = parent ? strlen(parent->pointer) : 0;

	if (parent && strncmp(row->pointer, parent->pointer, n))
		return NULL;
	if (row->pointer[n] != '/' || strchr(row->pointer + n + 1, '/'))
		return NULL;
	return row->pointer + n + 1;
}

const struct iso_field *iso_field_member(const struct iso_table *t, const struct iso_field *parent,
					 const char *name)
{
	for (size_t i = 0; i < t->count; i++) {
		const char *member = member_name(&t->rows[i], parent);

		if (member && !strcmp(member, name))
			return &t->rows[i];
	}
	return NULL;
}

const struct iso_field *iso_field_next(const struct iso_table *t, const struct iso_field *parent,
				       size_t *at)
{
	while (*at < t->count) {
		const struct iso_field *row = &t->rows[(*at)++];
		const char *name = member_name(row, parent);

		if (name && strcmp(name, "*"))
			return row;
	}
	return NULL;
}

const struct iso_field *iso_field_of(const struct iso_table *t, const char *pointer)
{
	const struct iso_field *row = NULL;
	char name[256];

	while (*pointer == '/') {
		size_t n = strcspn(++pointer, "/");

		if (row && (row->type == ISO_TYPE_LIST || row->type == ISO_TYPE_MAP)) {
			row = iso_field_member(t, row, "*");
		} else {
			if (n >= sizeof name)
				return NULL;
			memcpy(name, pointer, n);
			name[n] = '\0';
			/* `*` is a pattern, not a key that a file can have */
			row = strcmp(name, "*") ? iso_field_member(t, row, name) : NULL;
		}
		if (!row)
			return NULL;
		pointer += n;
	}
	return *pointer ? NULL : row;
}

const char *iso_field_name(const struct iso_field *f)
{
	return strrchr(f->pointer, '/') + 1;
}

const char *iso_word_next(const char **p, size_t *n)
{
	const char *word = *p;

	if (!word || !*word)
		return NULL;
	*n = strcspn(word, "|");
	*p = word + *n + (word[*n] == '|');
	return word;
}

int iso_word_index(const char *words, const char *word)
{
	size_t n, length = strlen(word);
	const char *w;

	for (int i = 0; (w = iso_word_next(&words, &n)); i++)
		if (n == length && !memcmp(w, word, n))
			return i;
	return -1;
}
