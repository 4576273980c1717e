/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/strings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct iso_strings {
	char **items;
	size_t count, room;
};

const char *iso_strings_add(struct iso_strings **owner, const char *format, ...)
{
	struct iso_strings *s = *owner;
	char *text = NULL;
	va_list args;
	int n;

	if (!s) {
		s = calloc(1, sizeof *s);
		if (!s)
			return NULL;
		*owner = s;
	}
	if (s->count == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		char **more = realloc(s->items, room * sizeof *more);

		if (!more)
			return NULL;
		s->items = more;
		s->room = room;
	}
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	s->items[s->count++] = text;
	return text;
}

void iso_strings_free(struct iso_strings *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->items[i]);
	free(s->items);
	free(s);
}
