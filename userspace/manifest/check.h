/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of the checker; for manifest/ only. */
#ifndef ISO_MANIFEST_CHECK_H
#define ISO_MANIFEST_CHECK_H

#include <jansson.h>
#include <stdbool.h>

#include "manifest/fields.h"
#include "manifest/manifest.h"

enum iso_message {
#define MESSAGE(name, ...) ISO_MESSAGE_##name,
#include "manifest/messages.def"
#undef MESSAGE
	ISO_MESSAGE_MAX,
};

enum iso_message_at {
	AT_VALUE,
	AT_KEY,
};

#define ISO_LIST_MOST 4096u /* the largest .max of a list or map whose entries are compared */

#define ISO_FINDINGS_MOST 1000u /* what is more than that is one more finding, which says so */

struct iso_message_row {
	const char *code;
	enum iso_message_at at;
	const char *wrong;
	const char *right;
};
extern const struct iso_message_row iso_messages[ISO_MESSAGE_MAX];

struct iso_found {
	enum iso_message message;
	char *pointer;
	char *text;
	unsigned line, column;
	size_t order;
};

/* What iso_manifest.private is: the text, for positions of later findings. */
struct iso_source {
	json_t *root;
	char *text;
	size_t size;
};

/* A tree that the manifest shows, for the rules that are about several fields. */
struct iso_shown {
	enum {
		ISO_SHOWN_HOST,
		ISO_SHOWN_INPUT,
		ISO_SHOWN_SCRATCH,
	} kind;
	const char *path;
	const char *pointer; /* of the path's value */
	json_t *row;	     /* the input or scratch; NULL for HOST */
	bool writable, execute;
};

struct iso_check {
	const char *text;
	size_t size;
	const struct iso_table *table;
	json_t *root;
	unsigned profile; /* ISO_IN_*; 0: not known */
	struct iso_found *found;
	size_t found_count, found_room;
	struct iso_shown *shown;
	size_t shown_count;
	char *at; /* pointer of the value that the shape check is at */
	size_t at_length, at_room;
	char **kept; /* pointers made by iso_at() */
	size_t kept_count, kept_room;
	bool enough; /* ISO_FINDINGS_MOST is reached: nothing more is looked at */
	int r;	     /* the first failure that is not a finding: -ENOMEM */
};

/*
 * Adds a finding. The texts fill {1}, {2}, {3} of the message row and are escaped and cut; the
 * position is found later from the pointer, or from the nearest parent that exists.
 */
#define iso_report(c, pointer, name, ...)                  \
	iso_report_row((c), (pointer), ISO_MESSAGE_##name, \
		       (const char *const[]){"", ##__VA_ARGS__, NULL})
void iso_report_row(struct iso_check *c, const char *pointer, enum iso_message message,
		    const char *const *texts);

/* The same at a known place of the text (syntax errors). */
#define iso_report_place(c, offset, name, ...)               \
	iso_report_offset((c), (offset), ISO_MESSAGE_##name, \
			  (const char *const[]){"", ##__VA_ARGS__, NULL})
void iso_report_offset(struct iso_check *c, size_t offset, enum iso_message message,
		       const char *const *texts);

/* A pointer that lives as long as the check; "" when there is no memory for it. */
const char *iso_at(struct iso_check *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* parent + "/" + key with RFC 6901's escapes. */
const char *iso_at_key(struct iso_check *c, const char *parent, const char *key);

/* Finds positions, sorts by them, hands the findings over (appended). */
/* A check of a manifest that is valid, for what the host says about it. */
void iso_check_again(struct iso_check *c, const struct iso_manifest *m);
int iso_check_finish(struct iso_check *c, struct iso_findings *findings);
void iso_check_release(struct iso_check *c);

/* document.c: the text as JSON. 0 with c->root, or -EINVAL and one finding. */
int iso_check_document(struct iso_check *c);
/* shape.c: every value against its row of c->table. */
void iso_check_shape(struct iso_check *c);
/* types.c: one scalar against its row; the pointer is c->at. */
void iso_check_scalar(struct iso_check *c, const struct iso_field *row, json_t *value);
/* The rules about several fields, and about what a path or a name is. */
void iso_check_trees(struct iso_check *c);	 /* check_trees.c */
void iso_check_rules(struct iso_check *c);	 /* check_rules.c */
void iso_check_process(struct iso_check *c);	 /* check_process.c */
void iso_check_environment(struct iso_check *c); /* check_environment.c */
void iso_check_network(struct iso_check *c);	 /* check_network.c */

/*
 * Values at a pointer without list indexes, from `from` (NULL: the document): NULL or the default
 * when they are absent or of another type. A path that is not absolute and normal is NULL too: the
 * shape check has reported it.
 */
json_t *iso_get(struct iso_check *c, json_t *from, const char *pointer);
json_t *iso_get_list(struct iso_check *c, json_t *from, const char *pointer);
json_t *iso_get_map(struct iso_check *c, json_t *from, const char *pointer);
const char *iso_get_text(struct iso_check *c, json_t *from, const char *pointer);
const char *iso_get_path(struct iso_check *c, json_t *from, const char *pointer);
/* The text of a value when it is an absolute, or a relative, normal path; else NULL. */
const char *iso_as_path(json_t *value);
const char *iso_as_relative(json_t *value);
/* A size in bytes; -EINVAL when it is none. */
int iso_as_size(json_t *value, uint64_t *ret);

/* The tree that shows `path`, or NULL. */
const struct iso_shown *iso_shown_of(const struct iso_check *c, const char *path);

#endif
