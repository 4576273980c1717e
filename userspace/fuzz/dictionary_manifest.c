/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the words of the manifest as a dictionary of libFuzzer. */
#include <stdio.h>
#include <string.h>

#include "manifest/fields.h"

static void quoted(const char *word, size_t n)
{
	printf("\"\\\"%.*s\\\"\"\n", (int)n, word);
}

int main(void)
{
	static const char *const more[] = {"KiB",  "MiB",   "GiB",  "TiB",  "MiB/s",	"ms",	"s",
					   "m",	   "h",	    "auto", "true", "false",	"null", "/",
					   "/usr", "/work", "/tmp", ".git", "\\\\u0000"};

	for (size_t i = 0; i < iso_manifest_table.count; i++) {
		const struct iso_field *row = &iso_manifest_table.rows[i];
		const char *list = row->words, *w, *name = iso_field_name(row);
		size_t n;

		if (strcmp(name, "*") != 0)
			quoted(name, strlen(name));
		while ((w = iso_word_next(&list, &n)))
			quoted(w, n);
	}
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		printf("\"%s\"\n", more[i]);
	return 0;
}
