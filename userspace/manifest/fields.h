/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one table of manifest fields (fields.def), and the one of the host's ceiling (ceiling.def).
 * Shape check, JSON Schema, manual page, completion words, fuzz dictionary, `manifest new` and
 * `manifest diff` are all made from these rows.
 */
#ifndef ISO_MANIFEST_FIELDS_H
#define ISO_MANIFEST_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum iso_type {
	ISO_TYPE_OBJECT, /* its members are the rows one level below */
	ISO_TYPE_MAP,	 /* names of type .key to values, the row "…/ *" below */
	ISO_TYPE_LIST,	 /* of the row "…/ *" below */
	ISO_TYPE_TEXT,	 /* any text */
	ISO_TYPE_LINE,	 /* text without control characters */
	ISO_TYPE_WORD,	 /* one of .words */
	ISO_TYPE_BOOL,
	ISO_TYPE_INTEGER,
	ISO_TYPE_CPUS,	  /* number, thousandths count */
	ISO_TYPE_SIZE,	  /* bytes: integer, or text with a unit */
	ISO_TYPE_RATE,	  /* text with a unit */
	ISO_TYPE_TIME,	  /* text with a unit; range in ms */
	ISO_TYPE_ATTEMPT, /* integer or "auto" */
	ISO_TYPE_UMASK,	  /* text of octal digits */
	ISO_TYPE_PATH,	  /* absolute, normal */
	ISO_TYPE_RELATIVE,
	ISO_TYPE_ID,
	ISO_TYPE_LABEL,
	ISO_TYPE_VARIABLE, /* name of an environment variable */
	ISO_TYPE_HOSTNAME,
	ISO_TYPE_SYSCALL,
	ISO_TYPE_HOST,	  /* of a network rule */
	ISO_TYPE_REQUEST, /* "allow GET,HEAD /packages/" */
	ISO_TYPE_URL,
	ISO_TYPE_DIGEST,
	ISO_TYPE_EXPECTED, /* "file:/path" */
	ISO_TYPE_MAX,
};

enum iso_need {
	ISO_NEED_OPTIONAL,
	ISO_NEED_REQUIRED,
	ISO_NEED_DOMAIN, /* required, with its own message */
};

/* What makes a changed value grant more, for `manifest diff`. */
enum iso_widens {
	ISO_WIDENS_ANY,	  /* every change: what it names is another thing now */
	ISO_WIDENS_NEVER, /* says something, grants nothing */
	ISO_WIDENS_UP,	  /* larger, later in .words, true, one more entry */
	ISO_WIDENS_DOWN,  /* smaller, earlier in .words, false, one entry fewer */
	ISO_WIDENS_FIRST, /* an absent or empty list grants more than a short one */
};

#define ISO_IN_INSPECT	   (1u << 0)
#define ISO_IN_QUESTIONS   (1u << 1)
#define ISO_IN_PLAN	   (1u << 2)
#define ISO_IN_REVIEW	   (1u << 3)
#define ISO_IN_EXECUTE	   (1u << 4)
#define ISO_IN_BUILD	   (1u << 5)
#define ISO_IN_GUEST_BUILD (1u << 6)
#define ISO_IN_WRITERS	   (ISO_IN_EXECUTE | ISO_IN_BUILD | ISO_IN_GUEST_BUILD)
#define ISO_IN_RUNNERS	   (ISO_IN_WRITERS | ISO_IN_REVIEW)

struct iso_field {
	const char *pointer; /* JSON pointer; `*` stands for every entry of a list or map */
	enum iso_type type;
	enum iso_need need;
	uint64_t min, max;    /* value; entries of lists and maps; bytes of text */
	enum iso_type key;    /* MAP */
	const char *words;    /* accepted values, "a|b"; also for BOOL and INTEGER when fixed */
	const char *enforced; /* NULL: all; "": none, may not be there; "[]": only when empty; else
				 the values this version enforces */
	unsigned profiles;    /* ISO_IN_*; 0: all */
	const char *absent;   /* what its absence means, as JSON; NULL: nothing, or computed */
	enum iso_widens widens;
	const char *sample; /* as JSON, in `manifest new`; NULL: left out of it */
	const char *text;   /* for people: one sentence, no full stop */
};

struct iso_table {
	const struct iso_field *rows;
	size_t count;
};

extern const struct iso_table iso_manifest_table;
extern const struct iso_table iso_ceiling_table;

/* What a value of the type is called ("a size") and what is right ("an integer with KiB..."). */
struct iso_type_name {
	const char *word;    /* for schema $defs and the manual */
	const char *what;    /* "a size" */
	const char *right;   /* what would be right */
	const char *pattern; /* ECMA 262, for the schema; NULL: none */
};
extern const struct iso_type_name iso_type_names[ISO_TYPE_MAX];

/* The row of a pattern ("" is the document: NULL), or of its member; NULL when there is none. */
const struct iso_field *iso_field_find(const struct iso_table *t, const char *pattern, size_t n);
const struct iso_field *iso_field_member(const struct iso_table *t, const struct iso_field *parent,
					 const char *name);
/* Members in table order: start with at = 0; NULL at the end. `*` rows are left out. */
const struct iso_field *iso_field_next(const struct iso_table *t, const struct iso_field *parent,
				       size_t *at);
/* The row of a concrete pointer ("/filesystem/inputs/0/source"), or NULL. */
const struct iso_field *iso_field_of(const struct iso_table *t, const char *pointer);
/* Last component of the row's pointer. */
const char *iso_field_name(const struct iso_field *f);

/* Walks "a|b|c": returns the word at *p with its length in *n and moves on; NULL at the end. */
const char *iso_word_next(const char **p, size_t *n);
/* Position of `word` in "a|b|c", or -1. */
int iso_word_index(const char *words, const char *word);

#endif
