/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Varlink interface descriptions (varlink.org/Interface-Definition): parsed once at start, they are
 * the only table of methods, members and types. Messages are held to them in both directions.
 */
#ifndef ISO_RUN_IDL_H
#define ISO_RUN_IDL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct iso_idl;
struct iso_idl_type;

enum iso_idl_member_kind {
	ISO_IDL_TYPE,
	ISO_IDL_METHOD,
	ISO_IDL_ERROR,
};

struct iso_idl_member {
	enum iso_idl_member_kind kind;
	char *name;
	struct iso_idl_type *in;  /* METHOD: parameters; TYPE, ERROR: its type */
	struct iso_idl_type *out; /* METHOD: reply */
};

/* -EBADMSG and *ret_line (from 1) when the text is not a well-formed, closed description. */
int iso_idl_parse(const char *text, struct iso_idl **ret, unsigned *ret_line);
void iso_idl_free(struct iso_idl *idl);

const char *iso_idl_name(const struct iso_idl *idl);
const struct iso_idl_member *iso_idl_find(const struct iso_idl *idl, enum iso_idl_member_kind kind,
					  const char *name);
/* Members in the order of the text. */
const struct iso_idl_member *iso_idl_members(const struct iso_idl *idl, size_t *ret_count);

/*
 * Holds a value to a type: every member known, of the right type, none missing but optional ones.
 * 0, or -EINVAL with the name of the offending top-level member in name[0..size).
 */
int iso_idl_check(const struct iso_idl *idl, const struct iso_idl_type *type, json_t *value,
		  char *name, size_t size);

#endif
