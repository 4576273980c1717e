/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/suggest.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 48u /* longer words are not mistyped ones of ours */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int fold(char c)
{
	if (c == '-')
		return '_'; /* the usual mistake between JSON keys and options */
	return tolower((unsigned char)c);
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. */
static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
	unsigned row[3][LONGEST + 1];

	for (size_t j = 0; j <= n; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= m; i++) {
		unsigned *now = row[i % 3], *above = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned cost = fold(a[i - 1]) != fold(b[j - 1]);

			now[j] = least(least(above[j] + 1, now[j - 1] + 1), above[j - 1] + cost);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return row[m % 3][n];
}

void iso_suggest_begin(struct iso_suggest *s, const char *typed)
{
	size_t n = strlen(typed);

	*s = (struct iso_suggest){.typed = typed, .distance = (unsigned)(n < 3 ? 1 : n / 3) + 1};
}

void iso_suggest_consider(struct iso_suggest *s, const char *word, size_t n)
{
	size_t m = strlen(s->typed);
	unsigned d;

	if (m == 0 || m > LONGEST || n == 0 || n > LONGEST)
		return;
	d = distance(s->typed, m, word, n);
	/* all letters differ: not a slip of the finger */
	if (d >= s->distance || d >= n)
		return;
	s->distance = d;
	s->best = word;
	s->best_length = n;
}
