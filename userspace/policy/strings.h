/* SPDX-License-Identifier: BSD-2-Clause */
/* Owner of the texts of one policy: all freed together. */
#ifndef ISO_POLICY_STRINGS_H
#define ISO_POLICY_STRINGS_H

struct iso_strings;

/* Formats a text that lives as long as *owner (made when NULL). NULL: no memory. */
const char *iso_strings_add(struct iso_strings **owner, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void iso_strings_free(struct iso_strings *s);

#endif
