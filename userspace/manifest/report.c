/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings: collected by pointer, then given positions in one pass over the text. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "manifest/check.h"
#include "manifest/scan.h"

#define TEXT_SHOWN 200 /* bytes of one text from the file that a message repeats */

const struct iso_message_row iso_messages[ISO_MESSAGE_MAX] = {
#define MESSAGE(name, code, at, wrong, right) [ISO_MESSAGE_##name] = {code, at, wrong, right},
#include "manifest/messages.def"
#undef MESSAGE
};

/* Copies `format` with {N} replaced by the escaped texts[N]. */
static void expand(FILE *out, const char *format, const char *const *texts, size_t count)
{
	char shown[TEXT_SHOWN];

	for (const char *p = format; *p; p++) {
		if (p[0] == '{' && p[1] >= '1' && p[1] <= '9' && p[2] == '}') {
			size_t n = (size_t)(p[1] - '0');
			const char *text = n < count ? texts[n] : "";

			fputs(iso_text_escape(text, strlen(text), shown, sizeof shown), out);
			p += 2;
		} else {
			fputc(*p, out);
		}
	}
}

static char *message_text(const struct iso_message_row *row, const char *const *texts)
{
	ISO_AUTO_FREE char *text = NULL;
	size_t size = 0, count = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	while (texts[count])
		count++;
	expand(out, row->wrong, texts, count);
	fputs("; ", out);
	expand(out, row->right, texts, count);
	if (fclose(out))
		return NULL;
	return ISO_TAKE_PTR(text);
}

static struct iso_found *add(struct iso_check *c, const char *pointer, enum iso_message message,
			     const char *const *texts)
{
	struct iso_found *f;

	if (c->r || c->enough)
		return NULL;
	if (c->found_count == ISO_FINDINGS_MOST) {
		/* a file that is one long mistake must not cost its reader a second */
		c->enough = true;
		pointer = "";
		message = ISO_MESSAGE_ENOUGH;
	}
	if (c->found_count == c->found_room) {
		size_t room = c->found_room * 2 + 16;

		f = reallocarray(c->found, room, sizeof *f);
		if (!f)
			goto no_memory;
		c->found = f;
		c->found_room = room;
	}
	f = &c->found[c->found_count];
	*f = (struct iso_found){.message = message, .order = c->found_count};
	f->pointer = strdup(pointer);
	f->text = message_text(&iso_messages[message], texts);
	if (f->pointer && f->text) {
		c->found_count++;
		return f;
	}
	free(f->pointer);
	free(f->text);
no_memory:
	c->r = -ENOMEM;
	return NULL;
}

void iso_report_row(struct iso_check *c, const char *pointer, enum iso_message message,
		    const char *const *texts)
{
	add(c, pointer, message, texts);
}

void iso_report_offset(struct iso_check *c, size_t offset, enum iso_message message,
		       const char *const *texts)
{
	struct iso_place at = iso_place_of(c->text, c->size, offset);
	struct iso_found *f = add(c, "", message, texts);

	if (f) {
		f->line = at.line;
		f->column = at.column;
	}
}

static const char *keep(struct iso_check *c, char *pointer)
{
	char **more;

	if (pointer && c->kept_count == c->kept_room) {
		size_t room = c->kept_room * 2 + 64;

		more = reallocarray(c->kept, room, sizeof *more);
		if (more) {
			c->kept = more;
			c->kept_room = room;
		} else {
			free(pointer);
			pointer = NULL;
		}
	}
	if (!pointer) {
		c->r = -ENOMEM;
		return "";
	}
	return c->kept[c->kept_count++] = pointer;
}

const char *iso_at(struct iso_check *c, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	return keep(c, n < 0 ? NULL : text);
}

const char *iso_at_key(struct iso_check *c, const char *parent, const char *key)
{
	size_t n = strlen(parent);
	char *text = malloc(n + 2 * strlen(key) + 2);

	if (!text)
		return keep(c, NULL);
	iso_pointer_add(mempcpy(text, parent, n), key);
	return keep(c, text);
}

/* A finding that waits for its position; `length` bytes of its pointer are looked for. */
struct waiting {
	uint64_t hash;
	size_t length;
	struct iso_found *found;
};

struct search {
	struct waiting *items;
	size_t count;
};

static int by_hash(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static void visit(void *data, const struct iso_spot *spot)
{
	struct search *s = data;
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].hash < spot->hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->count && s->items[low].hash == spot->hash; low++) {
		struct waiting *w = &s->items[low];
		bool key = iso_messages[w->found->message].at == AT_KEY;
		struct iso_place at = key ? spot->key : spot->value;

		if (w->length != spot->length ||
		    memcmp(w->found->pointer, spot->pointer, w->length))
			continue;
		w->found->line = at.line;
		w->found->column = at.column;
	}
}

/* Those without a position look for their parent next time round; the document is always found. */
static size_t still_waiting(struct search *s)
{
	size_t left = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct waiting *w = &s->items[i];

		if (w->found->line || !w->length)
			continue;
		while (w->length && w->found->pointer[--w->length] != '/')
			;
		w->hash = iso_pointer_hash(w->found->pointer, w->length);
		s->items[left++] = *w;
	}
	return left;
}

static int find_places(struct iso_check *c)
{
	struct search s = {calloc(c->found_count, sizeof *s.items), 0};
	int r = s.items ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->found_count && !r; i++) {
		struct iso_found *f = &c->found[i];
		size_t n = strlen(f->pointer);

		if (!f->line)
			s.items[s.count++] =
				(struct waiting){iso_pointer_hash(f->pointer, n), n, f};
	}
	while (s.count && c->root && !r) {
		qsort(s.items, s.count, sizeof *s.items, by_hash);
		r = iso_scan(c->text, c->size, visit, &s);
		s.count = still_waiting(&s);
	}
	free(s.items);
	return r;
}

static int by_place(const void *a, const void *b)
{
	const struct iso_found *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int iso_check_finish(struct iso_check *c, struct iso_findings *findings)
{
	struct iso_finding *items;

	if (!c->r && c->found_count)
		c->r = find_places(c);
	if (c->r || !c->found_count)
		return c->r;
	qsort(c->found, c->found_count, sizeof *c->found, by_place);
	items = reallocarray(findings->items, findings->count + c->found_count, sizeof *items);
	if (!items)
		return -ENOMEM;
	findings->items = items;
	for (size_t i = 0; i < c->found_count; i++) {
		struct iso_found *f = &c->found[i];

		items[findings->count++] = (struct iso_finding){
			.line = f->line,
			.column = f->column,
			.pointer = ISO_TAKE_PTR(f->pointer),
			.message = ISO_TAKE_PTR(f->text),
			.code = iso_messages[f->message].code,
		};
	}
	return -EINVAL;
}

void iso_check_release(struct iso_check *c)
{
	for (size_t i = 0; i < c->found_count; i++) {
		free(c->found[i].pointer);
		free(c->found[i].text);
	}
	for (size_t i = 0; i < c->kept_count; i++)
		free(c->kept[i]);
	free(c->found);
	free(c->shown);
	free(c->kept);
	free(c->at);
	json_decref(c->root);
}

void iso_findings_free(struct iso_findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].pointer);
		free(f->items[i].message);
	}
	free(f->items);
	*f = (struct iso_findings){0};
}
