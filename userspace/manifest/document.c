/* SPDX-License-Identifier: BSD-2-Clause */
/* The text as JSON. What is not JSON has one finding: the rest of it cannot be read. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "manifest/check.h"
#include "manifest/scan.h"

static size_t first_bad_byte(const char *text, size_t size)
{
	uint32_t code;
	size_t i = 0, n;

	while (i < size && (n = iso_utf8_decode(text + i, size - i, &code)))
		i += n;
	return i;
}

/* jansson stands behind the second key's closing quote; the finding stands at its opening one. */
static size_t key_start(const char *text, size_t size, size_t behind)
{
	size_t i = behind <= size ? behind : size;

	if (i < 2 || text[i - 1] != '"')
		return i;
	for (i -= 2; i > 0; i--) {
		size_t slashes = 0;

		if (text[i] != '"')
			continue;
		while (slashes < i && text[i - 1 - slashes] == '\\')
			slashes++;
		if (slashes % 2 == 0)
			break;
	}
	return i;
}

/* What jansson found, in our words where its own are about its interface. */
static const char *syntax_text(const json_error_t *error, char *text, size_t size)
{
	char *near;

	switch (json_error_code(error)) {
	case json_error_premature_end_of_input:
		return "the text ends before the document does";
	case json_error_end_of_input_expected:
		return "there is more text behind the document";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "a text cannot hold the character NUL";
	case json_error_numeric_overflow:
		return "a number is too large";
	default:
		snprintf(text, size, "%s", error->text);
		near = strstr(text, " near ");
		if (near)
			*near = '\0'; /* the position says it, and the text is the file's */
		return text;
	}
}

static void report_syntax(struct iso_check *c, const json_error_t *error)
{
	size_t offset = error->position > 0 ? (size_t)error->position : 0;
	char text[JSON_ERROR_TEXT_LENGTH];

	if (json_error_code(error) == json_error_duplicate_key) {
		size_t start = key_start(c->text, c->size, offset);

		snprintf(text, sizeof text, "%.*s", (int)(offset - start), c->text + start);
		iso_report_place(c, start, DUPLICATE_KEY, text);
		return;
	}
	/* the position is behind the token that was wrong */
	iso_report_place(c, offset ? offset - 1 : 0, SYNTAX, syntax_text(error, text, sizeof text));
}

int iso_check_document(struct iso_check *c)
{
	json_error_t error;
	const char *nul;
	size_t at;

	if (c->size > ISO_MANIFEST_MAX) {
		iso_report_place(c, 0, TOO_BIG);
		return -EINVAL;
	}
	at = first_bad_byte(c->text, c->size);
	if (at < c->size) {
		char byte[8];

		snprintf(byte, sizeof byte, "%02x", (unsigned char)c->text[at]);
		iso_report_place(c, at, ENCODING, byte);
		return -EINVAL;
	}
	nul = memchr(c->text, '\0', c->size);
	if (nul) {
		/* jansson skips it between tokens */
		iso_report_place(c, (size_t)(nul - c->text), SYNTAX, "the byte NUL");
		return -EINVAL;
	}
	at = iso_scan_too_deep(c->text, c->size, ISO_MANIFEST_DEPTH);
	if (at < c->size) {
		iso_report_place(c, at, DEPTH);
		return -EINVAL;
	}
	c->root = json_loadb(c->text, c->size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (c->root)
		return 0;
	if (json_error_code(&error) == json_error_out_of_memory)
		return c->r = -ENOMEM;
	report_syntax(c, &error);
	return -EINVAL;
}
