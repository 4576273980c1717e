/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON Schema from the rows. It says what a row says; rules about several fields are the checker's
 * alone. Lengths in the schema count characters where rows count bytes, so it may be the milder
 * one.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "manifest/describe.h"
#include "manifest/fields.h"

static json_t *row_schema(const struct iso_table *t, const struct iso_field *row);

/* Members are stolen; a failure to set one leaves NULL behind and shows in the end. */
static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static json_t *words(const char *list, enum iso_type type)
{
	json_t *out = json_array();
	const char *w;
	size_t n;

	while ((w = iso_word_next(&list, &n))) {
		if (type == ISO_TYPE_BOOL)
			json_array_append_new(out, json_boolean(n == 4));
		else if (type == ISO_TYPE_WORD)
			json_array_append_new(out, json_stringn(w, n));
		else
			json_array_append_new(out, json_loadb(w, n, JSON_DECODE_ANY, NULL));
	}
	return out;
}

static json_t *text_type(const struct iso_type_name *name)
{
	json_t *s = json_pack("{s:s, s:s}", "type", "string", "description", name->right);

	if (name->pattern)
		put(s, "pattern", json_string(name->pattern));
	return s;
}

/* The $defs: one for each type that is more than a JSON type. */
static json_t *definitions(void)
{
	json_t *defs = json_object();

	for (enum iso_type i = ISO_TYPE_LINE; i < ISO_TYPE_MAX; i++) {
		const struct iso_type_name *name = &iso_type_names[i];
		json_t *s;

		if (!name->pattern && i != ISO_TYPE_ATTEMPT)
			continue;
		if (i == ISO_TYPE_SIZE)
			s = json_pack("{s:s, s:[{s:s, s:i}, {s:s, s:s}]}", "description",
				      name->right, "anyOf", "type", "integer", "minimum", 0, "type",
				      "string", "pattern", name->pattern);
		else if (i == ISO_TYPE_ATTEMPT)
			s = json_pack("{s:s, s:[{s:s, s:i}, {s:s}]}", "description", name->right,
				      "anyOf", "type", "integer", "minimum", 1, "const", "auto");
		else
			s = text_type(name);
		put(defs, name->word, s);
	}
	return defs;
}

static void add_bounds(json_t *s, const struct iso_field *row)
{
	json_int_t min = (json_int_t)row->min, max = (json_int_t)row->max;

	switch (row->type) {
	case ISO_TYPE_INTEGER:
		put(s, "minimum", json_integer(min));
		put(s, "maximum", json_integer(max));
		break;
	case ISO_TYPE_CPUS:
		put(s, "minimum", json_real((double)min / 1000));
		put(s, "maximum", json_real((double)max / 1000));
		break;
	case ISO_TYPE_TEXT:
	case ISO_TYPE_LINE:
		if (min)
			put(s, "minLength", json_integer(min));
		put(s, "maxLength", json_integer(max));
		break;
	default:
		break;
	}
}

static json_t *members(const struct iso_table *t, const struct iso_field *parent, json_t *required)
{
	json_t *out = json_object();
	const struct iso_field *row;
	size_t at = 0;

	put(out, "$schema", json_pack("{s:s}", "type", "string"));
	put(out, "$comment", json_pack("{s:s}", "type", "string"));
	while ((row = iso_field_next(t, parent, &at))) {
		put(out, iso_field_name(row), row_schema(t, row));
		if (row->need != ISO_NEED_OPTIONAL)
			json_array_append_new(required, json_string(iso_field_name(row)));
	}
	return out;
}

static void add_object(json_t *s, const struct iso_table *t, const struct iso_field *row)
{
	json_t *required = json_array();

	put(s, "type", json_string("object"));
	put(s, "additionalProperties", json_false());
	put(s, "properties", members(t, row, required));
	if (json_array_size(required))
		put(s, "required", required);
	else
		json_decref(required);
}

static void add_entries(json_t *s, const struct iso_table *t, const struct iso_field *row)
{
	bool map = row->type == ISO_TYPE_MAP;
	json_int_t max = row->enforced ? 0 : (json_int_t)row->max;

	put(s, "type", json_string(map ? "object" : "array"));
	put(s, map ? "maxProperties" : "maxItems", json_integer(max));
	if (row->min && !map)
		put(s, "minItems", json_integer((json_int_t)row->min));
	if (map)
		put(s, "propertyNames",
		    json_pack("{s:s+}", "$ref", "#/$defs/", iso_type_names[row->key].word));
	put(s, map ? "additionalProperties" : "items",
	    row_schema(t, iso_field_member(t, row, "*")));
}

static json_t *row_schema(const struct iso_table *t, const struct iso_field *row)
{
	json_t *s = json_pack("{s:s}", "description", row->text);
	const char *accepted = row->enforced ? row->enforced : row->words;

	if (row->absent)
		put(s, "default", json_loads(row->absent, JSON_DECODE_ANY, NULL));
	if (row->enforced && !row->enforced[0]) {
		put(s, "$comment", json_string("not enforced by this version"));
		put(s, "not", json_object());
		return s;
	}
	if (row->type == ISO_TYPE_OBJECT) {
		add_object(s, t, row);
		if (row->enforced)
			put(s, "maxProperties", json_integer(0));
		if (row->enforced)
			json_object_del(s, "required");
	} else if (row->type == ISO_TYPE_LIST || row->type == ISO_TYPE_MAP) {
		add_entries(s, t, row);
	} else if (accepted) {
		put(s, "enum", words(accepted, row->type));
	} else if (row->type == ISO_TYPE_BOOL) {
		put(s, "type", json_string("boolean"));
	} else if (row->type == ISO_TYPE_INTEGER || row->type == ISO_TYPE_CPUS) {
		put(s, "type", json_string(row->type == ISO_TYPE_CPUS ? "number" : "integer"));
		add_bounds(s, row);
	} else if (row->type == ISO_TYPE_TEXT) {
		put(s, "type", json_string("string"));
		add_bounds(s, row);
	} else {
		put(s, "$ref", json_sprintf("#/$defs/%s", iso_type_names[row->type].word));
		add_bounds(s, row);
	}
	return s;
}

int iso_manifest_schema(FILE *out)
{
	json_t *s = json_pack("{s:s, s:s, s:s}", "$schema",
			      "https://json-schema.org/draft/2020-12/schema", "title",
			      "isoctl manifest, version 1", "description",
			      "The isolation manifest of a task. What it does not name is denied.");
	int r;

	if (!s)
		return -ENOMEM;
	add_object(s, &iso_manifest_table, NULL);
	put(s, "$defs", definitions());
	r = json_dumpf(s, out, JSON_INDENT(1)) ? -EIO : 0;
	json_decref(s);
	fputc('\n', out);
	return r || ferror(out) ? -EIO : 0;
}
