/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Positions in a JSON text. jansson judges the text but keeps no positions of values; this scanner
 * gives them, over text that is already known to be valid and at most ISO_MANIFEST_DEPTH deep.
 * Lines and columns start at 1; columns count code points.
 */
#ifndef ISO_MANIFEST_SCAN_H
#define ISO_MANIFEST_SCAN_H

#include <stddef.h>
#include <stdint.h>

struct iso_place {
	unsigned line, column;
};

struct iso_spot {
	const char *pointer; /* RFC 6901, not NUL-terminated */
	size_t length;
	uint64_t hash;		     /* iso_pointer_hash() of it */
	struct iso_place key, value; /* of a list's entry both are the value's */
};

/* Calls visit for every value, the document itself first. 0, -ENOMEM, or -EBADMSG when the text was
 * not valid after all. */
int iso_scan(const char *text, size_t size, void (*visit)(void *data, const struct iso_spot *spot),
	     void *data);

/*
 * Writes "/" and `key` with RFC 6901's escapes to out, which has room for 2 * strlen(key) + 2
 * bytes, and a NUL. Returns where the NUL is.
 */
char *iso_pointer_add(char *out, const char *key);

uint64_t iso_pointer_hash(const char *pointer, size_t n);

/* Where byte `offset` of the text is. */
struct iso_place iso_place_of(const char *text, size_t size, size_t offset);

/* Offset of the bracket that goes deeper than `limit`, or `size` when none does. */
size_t iso_scan_too_deep(const char *text, size_t size, unsigned limit);

#endif
