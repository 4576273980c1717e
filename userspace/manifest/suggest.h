/* SPDX-License-Identifier: BSD-2-Clause */
/* "Did you mean": the nearest known word to a mistyped one. */
#ifndef ISO_MANIFEST_SUGGEST_H
#define ISO_MANIFEST_SUGGEST_H

#include <stddef.h>

struct iso_suggest {
	const char *typed;
	const char *best; /* NULL: nothing is near enough to be meant */
	size_t best_length;
	unsigned distance;
};

void iso_suggest_begin(struct iso_suggest *s, const char *typed);
/* Considers one known word of n bytes; it must outlive the use of s->best. */
void iso_suggest_consider(struct iso_suggest *s, const char *word, size_t n);

#endif
