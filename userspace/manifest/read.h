/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of a document in which the checker found nothing: each is either absent, and then its
 * row's default counts, or what its row says.
 */
#ifndef ISO_MANIFEST_READ_H
#define ISO_MANIFEST_READ_H

#include <jansson.h>

#include "manifest/fields.h"
#include "manifest/manifest.h"

/* One document being read; r keeps the first failure (-ENOMEM), so that no reader has to. */
struct iso_reader {
	const struct iso_table *table;
	json_t *root;
	int r;
};

/* The value at a pointer below `from`, as it is in the document (borrowed), or NULL. */
json_t *iso_read_at(json_t *from, const char *pointer);

/*
 * By the pattern of the row; what stands behind its last `*` is looked for below `from`. A default
 * of the row counts; a new reference, or NULL.
 */
json_t *iso_read_value(struct iso_reader *d, json_t *from, const char *pattern);
uint64_t iso_read_number(struct iso_reader *d, json_t *from, const char *pattern);
char *iso_read_text(struct iso_reader *d, json_t *from, const char *pattern);
/* Is it this word; for a boolean, "true"? */
bool iso_read_is(struct iso_reader *d, json_t *from, const char *pattern, const char *word);
/* A quantity of the type as a plain number: bytes, ms, thousandths. */
uint64_t iso_quantity(enum iso_type type, const json_t *v);

void iso_read_list(struct iso_reader *d, json_t *from, const char *pointer, struct iso_strv *ret);
void iso_read_map(struct iso_reader *d, json_t *from, const char *pointer, struct iso_pairs *ret);
char *iso_read_copy(struct iso_reader *d, const char *s);
void iso_strv_add(struct iso_reader *d, struct iso_strv *list, const char *s);
void iso_pairs_add(struct iso_reader *d, struct iso_pairs *pairs, const char *key,
		   const char *value);
void iso_strv_free(struct iso_strv *list);
void iso_pairs_free(struct iso_pairs *pairs);

#endif
