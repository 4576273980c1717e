/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/idl.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	KIND_BOOL,
	KIND_INT,
	KIND_FLOAT,
	KIND_STRING,
	KIND_OBJECT,
	KIND_NAME,
	KIND_STRUCT,
	KIND_ENUM,
	KIND_ARRAY,
	KIND_MAP,
};

#define NESTING_MAX 16 /* of types in a description, and of values that are checked */

struct field {
	char *name;
	struct iso_idl_type *type; /* NULL in an enum */
};

struct iso_idl_type {
	enum kind kind;
	bool optional;
	char *name;		      /* KIND_NAME */
	struct iso_idl_type *element; /* KIND_ARRAY, KIND_MAP */
	struct field *fields;
	size_t field_count;
};

struct iso_idl {
	char *name;
	struct iso_idl_member *members;
	size_t count;
};

struct parser {
	const char *p;
	unsigned line;
	int r; /* the first error sticks: every function below returns NULL or false after it */
};

static void type_free(struct iso_idl_type *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->field_count; i++) {
		free(t->fields[i].name);
		type_free(t->fields[i].type);
	}
	free(t->fields);
	free(t->name);
	type_free(t->element);
	free(t);
}

void iso_idl_free(struct iso_idl *idl)
{
	if (!idl)
		return;
	for (size_t i = 0; i < idl->count; i++) {
		free(idl->members[i].name);
		type_free(idl->members[i].in);
		type_free(idl->members[i].out);
	}
	free(idl->members);
	free(idl->name);
	free(idl);
}

static bool fail(struct parser *p, int r)
{
	if (!p->r)
		p->r = r;
	return false;
}

static void skip(struct parser *p)
{
	for (;; p->p++) {
		if (*p->p == '#')
			p->p += strcspn(p->p, "\n");
		if (*p->p == '\n')
			p->line++;
		else if (*p->p != ' ' && *p->p != '\t' && *p->p != '\r')
			return;
	}
}

static bool take(struct parser *p, const char *token)
{
	skip(p);
	if (p->r || strncmp(p->p, token, strlen(token)) != 0)
		return false;
	p->p += strlen(token);
	return true;
}

static bool need(struct parser *p, const char *token)
{
	return take(p, token) || fail(p, -EBADMSG);
}

/* A name: letters, digits and underscores; dots and dashes too where `dotted`. */
static char *word(struct parser *p, bool dotted)
{
	const char *start;
	char *s;

	skip(p);
	start = p->p;
	while (isalnum((unsigned char)*p->p) || *p->p == '_' ||
	       (dotted && (*p->p == '.' || *p->p == '-')))
		p->p++;
	if (p->r || p->p == start || !isalpha((unsigned char)*start)) {
		fail(p, -EBADMSG);
		return NULL;
	}
	s = strndup(start, (size_t)(p->p - start));
	if (!s)
		fail(p, -ENOMEM);
	return s;
}

static struct iso_idl_type *parse_type(struct parser *p, unsigned depth);

static bool add_field(struct parser *p, struct iso_idl_type *t, char *name,
		      struct iso_idl_type *type)
{
	struct field *more = realloc(t->fields, (t->field_count + 1) * sizeof *more);

	if (!more) {
		free(name);
		type_free(type);
		return fail(p, -ENOMEM);
	}
	t->fields = more;
	t->fields[t->field_count++] = (struct field){name, type};
	return !p->r;
}

/* After "(": a struct when the first name is followed by a colon, else an enum. */
static bool parse_fields(struct parser *p, struct iso_idl_type *t, unsigned depth)
{
	t->kind = KIND_STRUCT;
	if (take(p, ")"))
		return true;
	do {
		char *name = word(p, false);
		struct iso_idl_type *type = NULL;
		bool typed = take(p, ":");

		if (t->field_count == 0)
			t->kind = typed ? KIND_STRUCT : KIND_ENUM;
		else if (typed != (t->kind == KIND_STRUCT))
			fail(p, -EBADMSG);
		if (typed)
			type = parse_type(p, depth + 1);
		if (!add_field(p, t, name, type))
			return false;
	} while (take(p, ","));
	return need(p, ")");
}

static bool parse_named(struct parser *p, struct iso_idl_type *t)
{
	static const struct {
		const char *name;
		enum kind kind;
	} basic[] = {
		{"bool", KIND_BOOL},	 {"int", KIND_INT},	  {"float", KIND_FLOAT},
		{"string", KIND_STRING}, {"object", KIND_OBJECT},
	};

	t->kind = KIND_NAME;
	t->name = word(p, false);
	if (!t->name)
		return false;
	for (size_t i = 0; i < sizeof basic / sizeof *basic; i++)
		if (strcmp(t->name, basic[i].name) == 0)
			t->kind = basic[i].kind;
	if (t->kind == KIND_NAME && !isupper((unsigned char)*t->name))
		return fail(p, -EBADMSG);
	return true;
}

static struct iso_idl_type *parse_type(struct parser *p, unsigned depth)
{
	struct iso_idl_type *t;

	if (depth > NESTING_MAX) {
		fail(p, -EBADMSG);
		return NULL;
	}
	t = calloc(1, sizeof *t);
	if (!t) {
		fail(p, -ENOMEM);
		return NULL;
	}
	t->optional = take(p, "?");
	if (take(p, "[]") || take(p, "[string]")) {
		t->kind = p->p[-2] == '[' ? KIND_ARRAY : KIND_MAP;
		t->element = parse_type(p, depth + 1);
	} else if (take(p, "(")) {
		parse_fields(p, t, depth);
	} else {
		parse_named(p, t);
	}
	if (p->r) {
		type_free(t);
		return NULL;
	}
	return t;
}

static struct iso_idl_type *parse_struct(struct parser *p)
{
	struct iso_idl_type *t = parse_type(p, 0);

	if (t && (t->kind != KIND_STRUCT || t->optional))
		fail(p, -EBADMSG);
	return t;
}

static bool parse_member(struct parser *p, struct iso_idl *idl)
{
	struct iso_idl_member *more, *m;

	more = realloc(idl->members, (idl->count + 1) * sizeof *more);
	if (!more)
		return fail(p, -ENOMEM);
	idl->members = more;
	m = &more[idl->count++];
	*m = (struct iso_idl_member){.kind = ISO_IDL_TYPE};
	if (take(p, "method"))
		m->kind = ISO_IDL_METHOD;
	else if (take(p, "error"))
		m->kind = ISO_IDL_ERROR;
	else if (!need(p, "type"))
		return false;
	m->name = word(p, false);
	if (m->kind == ISO_IDL_TYPE) {
		m->in = parse_type(p, 0);
		return m->in != NULL;
	}
	m->in = parse_struct(p);
	if (m->kind == ISO_IDL_METHOD && need(p, "->"))
		m->out = parse_struct(p);
	return !p->r;
}

/* Every name that a type uses is defined: a message is never held to a type that is not there. */
static bool closed(const struct iso_idl *idl, const struct iso_idl_type *t)
{
	if (!t)
		return true;
	if (t->kind == KIND_NAME && !iso_idl_find(idl, ISO_IDL_TYPE, t->name))
		return false;
	for (size_t i = 0; i < t->field_count; i++)
		if (!closed(idl, t->fields[i].type))
			return false;
	return closed(idl, t->element);
}

int iso_idl_parse(const char *text, struct iso_idl **ret, unsigned *ret_line)
{
	struct parser p = {.p = text, .line = 1};
	struct iso_idl *idl = calloc(1, sizeof *idl);

	if (!idl)
		return -ENOMEM;
	if (need(&p, "interface"))
		idl->name = word(&p, true);
	for (skip(&p); !p.r && *p.p; skip(&p))
		parse_member(&p, idl);
	for (size_t i = 0; !p.r && i < idl->count; i++)
		if (!closed(idl, idl->members[i].in) || !closed(idl, idl->members[i].out))
			fail(&p, -EBADMSG);
	if (p.r) {
		if (ret_line)
			*ret_line = p.line;
		iso_idl_free(idl);
		return p.r;
	}
	*ret = idl;
	return 0;
}

const char *iso_idl_name(const struct iso_idl *idl)
{
	return idl->name;
}

const struct iso_idl_member *iso_idl_find(const struct iso_idl *idl, enum iso_idl_member_kind kind,
					  const char *name)
{
	for (size_t i = 0; i < idl->count; i++)
		if (idl->members[i].kind == kind && strcmp(idl->members[i].name, name) == 0)
			return &idl->members[i];
	return NULL;
}

const struct iso_idl_member *iso_idl_members(const struct iso_idl *idl, size_t *ret_count)
{
	*ret_count = idl->count;
	return idl->members;
}

static bool fits(const struct iso_idl *idl, const struct iso_idl_type *t, json_t *v, unsigned depth,
		 const char **offender);

static const struct field *find_field(const struct iso_idl_type *t, const char *name)
{
	for (size_t i = 0; i < t->field_count; i++)
		if (strcmp(t->fields[i].name, name) == 0)
			return &t->fields[i];
	return NULL;
}

static bool fits_struct(const struct iso_idl *idl, const struct iso_idl_type *t, json_t *v,
			unsigned depth, const char **offender)
{
	const char *name, *inner;
	json_t *member;

	if (!json_is_object(v))
		return false;
	json_object_foreach (v, name, member) {
		*offender = name;
		if (!find_field(t, name))
			return false;
	}
	for (size_t i = 0; i < t->field_count; i++) {
		*offender = t->fields[i].name;
		if (!fits(idl, t->fields[i].type, json_object_get(v, t->fields[i].name), depth + 1,
			  &inner))
			return false;
	}
	*offender = NULL;
	return true;
}

static bool fits_elements(const struct iso_idl *idl, const struct iso_idl_type *t, json_t *v,
			  unsigned depth)
{
	const char *name, *inner;
	json_t *element;
	size_t i;

	if (t->kind == KIND_ARRAY) {
		if (!json_is_array(v))
			return false;
		json_array_foreach (v, i, element) {
			if (!fits(idl, t->element, element, depth + 1, &inner))
				return false;
		}
		return true;
	}
	if (!json_is_object(v))
		return false;
	json_object_foreach (v, name, element) {
		if (!fits(idl, t->element, element, depth + 1, &inner))
			return false;
	}
	return true;
}

static bool fits(const struct iso_idl *idl, const struct iso_idl_type *t, json_t *v, unsigned depth,
		 const char **offender)
{
	if (depth > NESTING_MAX)
		return false;
	if (!v || json_is_null(v))
		return t->optional;
	switch (t->kind) {
	case KIND_BOOL:
		return json_is_boolean(v);
	case KIND_INT:
		return json_is_integer(v);
	case KIND_FLOAT:
		return json_is_number(v);
	case KIND_STRING:
		return json_is_string(v);
	case KIND_OBJECT:
		return json_is_object(v);
	case KIND_ENUM:
		return json_is_string(v) && find_field(t, json_string_value(v));
	case KIND_NAME:
		return fits(idl, iso_idl_find(idl, ISO_IDL_TYPE, t->name)->in, v, depth + 1,
			    offender);
	case KIND_STRUCT:
		return fits_struct(idl, t, v, depth, offender);
	case KIND_ARRAY:
	case KIND_MAP:
		return fits_elements(idl, t, v, depth);
	}
	return false;
}

int iso_idl_check(const struct iso_idl *idl, const struct iso_idl_type *type, json_t *value,
		  char *name, size_t size)
{
	const char *offender = NULL;

	if (fits(idl, type, value, 0, &offender))
		return 0;
	snprintf(name, size, "%s", offender ? offender : "parameters");
	return -EINVAL;
}
