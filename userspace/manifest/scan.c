/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/scan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/manifest.h"

#define HASH_SEED  0xcbf29ce484222325ull
#define HASH_PRIME 0x100000001b3ull

struct scanner {
	const char *p, *end;
	struct iso_place at; /* of p */
	char *pointer;
	size_t length, room;
	void (*visit)(void *data, const struct iso_spot *spot);
	void *data;
};

static uint64_t hash_more(uint64_t h, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * HASH_PRIME;
	return h;
}

uint64_t iso_pointer_hash(const char *pointer, size_t n)
{
	return hash_more(HASH_SEED, pointer, n);
}

char *iso_pointer_add(char *out, const char *key)
{
	*out++ = '/';
	for (; *key; key++) {
		if (*key == '~' || *key == '/') {
			*out++ = '~';
			*out++ = *key == '~' ? '0' : '1';
		} else {
			*out++ = *key;
		}
	}
	*out = '\0';
	return out;
}

static void step(struct iso_place *at, char c)
{
	if (c == '\n') {
		at->line++;
		at->column = 1;
	} else if (((unsigned char)c & 0xc0) != 0x80) {
		at->column++;
	}
}

struct iso_place iso_place_of(const char *text, size_t size, size_t offset)
{
	struct iso_place at = {1, 1};

	for (size_t i = 0; i < offset && i < size; i++)
		step(&at, text[i]);
	return at;
}

size_t iso_scan_too_deep(const char *text, size_t size, unsigned limit)
{
	unsigned depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (quoted) {
			if (c == '\\')
				i++;
			else if (c == '"')
				quoted = false;
		} else if (c == '"') {
			quoted = true;
		} else if (c == '[' || c == '{') {
			if (++depth > limit)
				return i;
		} else if ((c == ']' || c == '}') && depth) {
			depth--;
		}
	}
	return size;
}

static char peek(const struct scanner *s)
{
	return s->p < s->end ? *s->p : '\0';
}

static void next(struct scanner *s)
{
	if (s->p < s->end)
		step(&s->at, *s->p++);
}

static char skip_space(struct scanner *s)
{
	char c;

	while ((c = peek(s)) == ' ' || c == '\t' || c == '\n' || c == '\r')
		next(s);
	return c;
}

static int append(struct scanner *s, const char *bytes, size_t n)
{
	if (s->length + n > s->room) {
		size_t room = (s->length + n) * 2 + 64;
		char *more = realloc(s->pointer, room);

		if (!more)
			return -ENOMEM;
		s->pointer = more;
		s->room = room;
	}
	memcpy(s->pointer + s->length, bytes, n);
	s->length += n;
	return 0;
}

/* One code point of a key, with RFC 6901's two escapes. */
static int append_code(struct scanner *s, uint32_t c)
{
	char b[4];

	if (c == '~')
		return append(s, "~0", 2);
	if (c == '/')
		return append(s, "~1", 2);
	if (c < 0x80) {
		b[0] = (char)c;
		return append(s, b, 1);
	}
	if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		return append(s, b, 2);
	}
	if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		return append(s, b, 3);
	}
	b[0] = (char)(0xf0 | c >> 18);
	b[1] = (char)(0x80 | (c >> 12 & 0x3f));
	b[2] = (char)(0x80 | (c >> 6 & 0x3f));
	b[3] = (char)(0x80 | (c & 0x3f));
	return append(s, b, 4);
}

static uint32_t hex4(struct scanner *s)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++) {
		char c = peek(s);

		v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
		next(s);
	}
	return v;
}

static uint32_t escape(struct scanner *s)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	char c = peek(s);
	const char *known;
	uint32_t v;

	next(s);
	if (c != 'u') {
		known = c ? strchr(from, c) : NULL;
		return (unsigned char)(known ? to[known - from] : c);
	}
	v = hex4(s);
	if (v < 0xd800 || v > 0xdbff)
		return v;
	next(s); /* the other half follows: jansson has seen to it */
	next(s);
	return 0x10000 + ((v & 0x3ff) << 10 | (hex4(s) & 0x3ff));
}

/* A string; its text goes to the pointer when it is a key. */
static int string(struct scanner *s, bool key)
{
	int r = 0;

	next(s);
	while (s->p < s->end && peek(s) != '"' && !r) {
		char c = peek(s);

		if (c == '\\') {
			uint32_t code;

			next(s);
			code = escape(s);
			r = key ? append_code(s, code) : 0;
			continue;
		}
		if (key)
			r = c == '~' || c == '/' ? append_code(s, (unsigned char)c)
						 : append(s, &c, 1);
		next(s);
	}
	if (!r && s->p == s->end)
		return -EBADMSG;
	next(s);
	return r;
}

static int value(struct scanner *s, struct iso_place key, uint64_t hash, unsigned depth);

static int member(struct scanner *s, size_t index, bool object, uint64_t hash, unsigned depth)
{
	size_t start = s->length;
	struct iso_place key;
	char number[24];
	int r;

	skip_space(s);
	key = s->at;
	r = append(s, "/", 1);
	if (r)
		return r;
	if (object) {
		r = peek(s) == '"' ? string(s, true) : -EBADMSG;
		if (!r && skip_space(s) != ':')
			r = -EBADMSG;
		next(s);
		skip_space(s);
	} else {
		r = append(s, number, (size_t)snprintf(number, sizeof number, "%zu", index));
	}
	if (!r)
		r = value(s, key, hash_more(hash, s->pointer + start, s->length - start), depth);
	s->length = start;
	return r;
}

static int container(struct scanner *s, uint64_t hash, unsigned depth)
{
	bool object = peek(s) == '{';
	char close = object ? '}' : ']', c;
	int r;

	if (depth >= ISO_MANIFEST_DEPTH)
		return -EBADMSG;
	next(s);
	if (skip_space(s) == close) {
		next(s);
		return 0;
	}
	for (size_t i = 0;; i++) {
		r = member(s, i, object, hash, depth + 1);
		if (r)
			return r;
		c = skip_space(s);
		next(s);
		if (c == close)
			return 0;
		if (c != ',')
			return -EBADMSG;
	}
}

static int value(struct scanner *s, struct iso_place key, uint64_t hash, unsigned depth)
{
	struct iso_spot spot = {s->pointer ? s->pointer : "", s->length, hash, key, s->at};
	char c = peek(s);

	s->visit(s->data, &spot);
	if (c == '{' || c == '[')
		return container(s, hash, depth);
	if (c == '"')
		return string(s, false);
	if (!c || strchr(",:]}", c))
		return -EBADMSG;
	while ((c = peek(s)) && !strchr(",]} \t\r\n", c))
		next(s);
	return 0;
}

int iso_scan(const char *text, size_t size, void (*visit)(void *data, const struct iso_spot *spot),
	     void *data)
{
	struct scanner s = {
		.p = text, .end = text + size, .at = {1, 1}, .visit = visit, .data = data};
	int r;

	skip_space(&s);
	r = value(&s, s.at, HASH_SEED, 0);
	free(s.pointer);
	return r;
}
