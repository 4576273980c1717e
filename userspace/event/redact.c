/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command line is what people type passwords into. Each word is judged like a variable of a
 * manifest (manifest/secrets.h): by the name before its `=`, by the option or header before it, and
 * by what it looks like itself. What cannot be told from an ordinary word stays.
 */
#include "event/redact.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "manifest/secrets.h"

#define MASK "***"

enum next { SHOW, HIDE, HIDE_PASSWORD };

/* "--api-key" and "'X-Api-Key:" as the name of a variable would be written. */
static bool names_secret(const char *word, size_t n)
{
	char name[128];

	while (n && strchr("-'\"", *word))
		word++, n--;
	while (n && strchr(":'\"", word[n - 1]))
		n--;
	if (!n || n >= sizeof name)
		return false;
	for (size_t i = 0; i < n; i++)
		name[i] = word[i] == '-' ? '_' : word[i];
	name[n] = '\0';
	return iso_secret_name(name) != NULL;
}

static bool is_scheme(const char *word)
{
	return !strcasecmp(word, "bearer") || !strcasecmp(word, "basic") ||
	       !strcasecmp(word, "token");
}

/* Writes one word; says what is to become of the next one. */
static enum next put_word(FILE *out, const char *word, enum next how)
{
	const char *equals = strchr(word, '='), *colon = strchr(word, ':');

	if (how == HIDE && is_scheme(word)) {
		fputs(word, out);
		return HIDE;
	}
	if (how == HIDE_PASSWORD && colon) {
		fprintf(out, "%.*s:" MASK, (int)(colon - word), word);
		return SHOW;
	}
	if (how == HIDE) {
		fputs(MASK, out);
		return SHOW;
	}
	if (equals && (names_secret(word, (size_t)(equals - word)) || iso_secret_value(word) ||
		       iso_secret_value(equals + 1))) {
		fprintf(out, "%.*s=" MASK, (int)(equals - word), word);
		return SHOW;
	}
	if (iso_secret_value(word)) {
		fputs(MASK, out);
		return SHOW;
	}
	fputs(word, out);
	if (!strcmp(word, "-u") || !strcmp(word, "--user"))
		return HIDE_PASSWORD;
	if (!strcasecmp(word, "bearer"))
		return HIDE;
	/* an option, or a header's name with its colon */
	if (!equals && (word[0] == '-' || (colon && !colon[1])) && names_secret(word, strlen(word)))
		return HIDE;
	return SHOW;
}

int iso_redact_command_line(const char *command_line, char **ret)
{
	ISO_AUTO_FREE char *copy = strdup(command_line), *masked = NULL;
	char shown[ISO_COMMAND_LINE_MAX];
	enum next how = SHOW;
	size_t size = 0;
	FILE *out;

	if (!copy)
		return -ENOMEM;
	out = open_memstream(&masked, &size);
	if (!out)
		return -ENOMEM;
	for (char *word = copy, *space; word; word = space ? space + 1 : NULL) {
		space = strpbrk(word, " \t\n");
		if (space)
			*space = '\0';
		how = put_word(out, word, how);
		if (space)
			fputc(' ', out);
	}
	if (fclose(out))
		return -ENOMEM;
	/* What needs more than a word to be seen: a private key. Only the program is left then. */
	if (iso_secret_value(masked)) {
		size = strcspn(masked, " ");
		if (strlen(masked) < size + strlen(" " MASK))
			size = 0;
		memcpy(masked + size, " " MASK, sizeof " " MASK);
		size += strlen(" " MASK);
	}
	iso_text_escape(masked, size, shown, sizeof shown);
	*ret = strdup(shown);
	return *ret ? 0 : -ENOMEM;
}
