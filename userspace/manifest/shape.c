/* SPDX-License-Identifier: BSD-2-Clause */
/* Every value of the document against its row of the table, and every row against the document. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/check.h"
#include "manifest/scan.h"
#include "manifest/shape.h"
#include "manifest/suggest.h"

static void walk(struct iso_check *c, const struct iso_field *row, json_t *v, bool refused);

/* Makes c->at the pointer of one entry; returns the length to go back to. */
static size_t enter(struct iso_check *c, const char *key)
{
	size_t back = c->at_length, need = back + 2 * strlen(key) + 2;

	if (need > c->at_room) {
		char *more = realloc(c->at, need * 2);

		if (!more) {
			c->r = -ENOMEM;
			return back;
		}
		c->at = more;
		c->at_room = need * 2;
	}
	c->at_length = (size_t)(iso_pointer_add(c->at + back, key) - c->at);
	return back;
}

static void leave(struct iso_check *c, size_t back)
{
	c->at_length = back;
	c->at[back] = '\0';
}

/* "a, b or c" of "a|b|c", quoted when they are texts. */
static char *list_words(const char *words, bool quote, char *out, size_t size)
{
	size_t n, used = 0;
	const char *w, *mark = quote ? "\"" : "";

	out[0] = '\0';
	while ((w = iso_word_next(&words, &n)) && used < size) {
		const char *join = !used ? "" : words[0] ? ", " : " or ";
		int k = snprintf(out + used, size - used, "%s%s%.*s%s", join, mark, (int)n, w,
				 mark);

		used += (size_t)k;
	}
	return out;
}

static void unknown_key(struct iso_check *c, const struct iso_field *parent, const char *key)
{
	const struct iso_field *row;
	struct iso_suggest near;
	char right[400];
	size_t at = 0, used = 0;

	iso_suggest_begin(&near, key);
	while ((row = iso_field_next(c->table, parent, &at)))
		iso_suggest_consider(&near, iso_field_name(row), strlen(iso_field_name(row)));
	if (near.best) {
		snprintf(right, sizeof right, "%.*s", (int)near.best_length, near.best);
		iso_report(c, c->at, MISTYPED_KEY, key, right);
		return;
	}
	right[0] = '\0';
	for (at = 0; (row = iso_field_next(c->table, parent, &at)) && used < sizeof right;)
		used += (size_t)snprintf(right + used, sizeof right - used, "%s%s",
					 used ? ", " : "", iso_field_name(row));
	iso_report(c, c->at, UNKNOWN_KEY, key, right);
}

static void missing(struct iso_check *c, const struct iso_field *row)
{
	size_t back = enter(c, iso_field_name(row));

	if (row->need == ISO_NEED_DOMAIN)
		iso_report(c, c->at, DOMAIN_MISSING, iso_field_name(row));
	else
		iso_report(c, c->at, MISSING, iso_field_name(row), row->text);
	leave(c, back);
}

/* Tools write these two; they say nothing to us. Texts only, so that no grant can hide in one. */
static bool annotation(const char *key, const json_t *v)
{
	return (!strcmp(key, "$schema") || !strcmp(key, "$comment")) && json_is_string(v);
}

static void walk_object(struct iso_check *c, const struct iso_field *parent, json_t *object,
			bool refused)
{
	const struct iso_field *row;
	const char *key;
	json_t *v;
	size_t at = 0;

	json_object_foreach (object, key, v) {
		size_t back;

		if (c->enough)
			return;
		if (annotation(key, v))
			continue;
		row = strcmp(key, "*") ? iso_field_member(c->table, parent, key) : NULL;
		back = enter(c, key);
		if (row)
			walk(c, row, v, refused);
		else
			unknown_key(c, parent, key);
		leave(c, back);
	}
	while ((row = iso_field_next(c->table, parent, &at)))
		if (row->need != ISO_NEED_OPTIONAL && !json_object_get(object, iso_field_name(row)))
			missing(c, row);
}

static bool count_ok(struct iso_check *c, const struct iso_field *row, size_t n)
{
	char has[24], bound[24];

	snprintf(has, sizeof has, "%zu", n);
	if (n > row->max) {
		snprintf(bound, sizeof bound, "%llu", (unsigned long long)row->max);
		iso_report(c, c->at, TOO_MANY, has, bound);
		return false;
	}
	if (n < row->min) {
		snprintf(bound, sizeof bound, "%llu", (unsigned long long)row->min);
		iso_report(c, c->at, TOO_FEW, has, bound);
	}
	return true;
}

static void walk_map(struct iso_check *c, const struct iso_field *row, json_t *object, bool refused)
{
	const struct iso_type_name *t = &iso_type_names[row->key];
	const struct iso_field *entry = iso_field_member(c->table, row, "*");
	const char *key;
	json_t *v;

	if (!count_ok(c, row, json_object_size(object)))
		return;
	json_object_foreach (object, key, v) {
		size_t back = enter(c, key);

		if (!iso_key_ok(row->key, key))
			iso_report(c, c->at, KEY_FORMAT, key, t->what, t->right);
		walk(c, entry, v, refused);
		leave(c, back);
	}
}

static void walk_list(struct iso_check *c, const struct iso_field *row, json_t *list, bool refused)
{
	const struct iso_field *entry = iso_field_member(c->table, row, "*");
	char number[24];
	json_t *v;
	size_t i;

	if (!count_ok(c, row, json_array_size(list)))
		return;
	json_array_foreach (list, i, v) {
		size_t back;

		snprintf(number, sizeof number, "%zu", i);
		back = enter(c, number);
		walk(c, entry, v, refused);
		leave(c, back);
	}
}

/* The value as one of a row's words, or NULL when it cannot be one. */
static const char *as_word(const json_t *v, char *number, size_t size)
{
	if (json_is_boolean(v))
		return json_is_true(v) ? "true" : "false";
	if (json_is_integer(v)) {
		snprintf(number, size, "%lld", (long long)json_integer_value(v));
		return number;
	}
	return json_string_value(v);
}

static void mistyped_word(struct iso_check *c, const struct iso_field *row, const char *typed)
{
	const char *words = row->words, *w;
	char right[200];
	struct iso_suggest near;
	size_t n;

	iso_suggest_begin(&near, typed);
	while ((w = iso_word_next(&words, &n)))
		iso_suggest_consider(&near, w, n);
	if (near.best) {
		snprintf(right, sizeof right, "%.*s", (int)near.best_length, near.best);
		iso_report(c, c->at, MISTYPED_WORD, typed, right);
	} else {
		iso_report(c, c->at, WORD, typed,
			   list_words(row->words, true, right, sizeof right));
	}
}

/* Is the value one of the row's words? Reports when it is not. */
static bool word_ok(struct iso_check *c, const struct iso_field *row, const char *word)
{
	char right[200];

	if (!row->words || iso_word_index(row->words, word) >= 0)
		return true;
	if (row->type == ISO_TYPE_WORD && strchr(row->words, '|'))
		mistyped_word(c, row, word);
	else
		iso_report(c, c->at, FIXED, word,
			   list_words(row->words, row->type == ISO_TYPE_WORD, right, sizeof right));
	return false;
}

static bool empty(const json_t *v)
{
	return json_is_array(v) ? json_array_size(v) == 0 : json_object_size(v) == 0;
}

/* Does this version enforce what the value asks for? Reports when it does not. */
static bool enforced(struct iso_check *c, const struct iso_field *row, const json_t *v)
{
	char number[24], right[200], shown[80];
	const char *word;

	if (!row->enforced)
		return true;
	if (!row->enforced[0] || !strcmp(row->enforced, "[]")) {
		if (row->enforced[0] && empty(v))
			return true;
		iso_report(c, c->at, NOT_ENFORCED);
		return false;
	}
	word = as_word(v, number, sizeof number);
	if (iso_word_index(row->enforced, word) >= 0)
		return true;
	snprintf(shown, sizeof shown, row->type == ISO_TYPE_WORD ? "\"%s\"" : "%s", word);
	iso_report(c, c->at, VALUE_NOT_ENFORCED, shown,
		   list_words(row->enforced, row->type == ISO_TYPE_WORD, right, sizeof right));
	return false;
}

static void profile_ok(struct iso_check *c, const struct iso_field *row, const json_t *v)
{
	const struct iso_field *profile = iso_field_find(c->table, "/host/profile", 13);
	char words[128] = "";
	const char *all, *w, *mine = "";
	size_t n, mine_length = 0;

	if (!row->profiles || !c->profile || !profile || (row->profiles & c->profile) ||
	    ((json_is_array(v) || json_is_object(v)) && empty(v)))
		return;
	all = profile->words;
	for (unsigned bit = 1; (w = iso_word_next(&all, &n)); bit <<= 1) {
		if (bit == c->profile) {
			mine = w;
			mine_length = n;
		}
		if (row->profiles & bit)
			snprintf(words + strlen(words), sizeof words - strlen(words), "%s%.*s",
				 words[0] ? ", " : "profile ", (int)n, w);
	}
	iso_report(c, c->at, NOT_IN_PROFILE, iso_at(c, "%.*s", (int)mine_length, mine), words);
}

/* `refused`: a value around this one is not enforced as a whole and said so. */
static void walk(struct iso_check *c, const struct iso_field *row, json_t *v, bool refused)
{
	char number[24];

	if (c->r || c->enough)
		return;
	if (!iso_type_matches(row, v)) {
		iso_report_type(c, row, v);
		return;
	}
	if (!refused)
		profile_ok(c, row, v);
	switch (row->type) {
	case ISO_TYPE_OBJECT:
		refused = refused || !enforced(c, row, v);
		walk_object(c, row, v, refused);
		return;
	case ISO_TYPE_MAP:
		refused = refused || !enforced(c, row, v);
		walk_map(c, row, v, refused);
		return;
	case ISO_TYPE_LIST:
		refused = refused || !enforced(c, row, v);
		walk_list(c, row, v, refused);
		return;
	case ISO_TYPE_WORD:
	case ISO_TYPE_BOOL:
		if (!word_ok(c, row, as_word(v, number, sizeof number)))
			return;
		break;
	default:
		iso_check_scalar(c, row, v);
	}
	if (!refused)
		enforced(c, row, v);
}

static unsigned profile_of(struct iso_check *c)
{
	const struct iso_field *row = iso_field_find(c->table, "/host/profile", 13);
	const char *word =
		json_string_value(json_object_get(json_object_get(c->root, "host"), "profile"));
	int i = row && word ? iso_word_index(row->words, word) : -1;

	return i < 0 ? 0 : 1u << i;
}

void iso_check_shape(struct iso_check *c)
{
	static const struct iso_field document = {.pointer = "", .type = ISO_TYPE_OBJECT};

	c->at = calloc(1, c->at_room = 256);
	if (!c->at) {
		c->r = -ENOMEM;
		return;
	}
	if (!json_is_object(c->root)) {
		iso_report_type(c, &document, c->root);
		return;
	}
	c->profile = profile_of(c);
	walk_object(c, NULL, c->root, false);
}
