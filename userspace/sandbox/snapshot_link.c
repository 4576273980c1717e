/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/snapshot.h"

#include <string.h>

#include "manifest/places.h"

/*
 * By the text alone: what a link in the middle of another one does is seen when the copy is whole,
 * by asking the kernel (snapshot_own.c).
 */
enum iso_copy_fault iso_copy_link_fault(const char *target, unsigned depth)
{
	if (target[0] == '/')
		return ISO_COPY_LINK_ABSOLUTE;
	for (const char *p = target; *p; p += *p == '/') {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.') {
			if (depth-- == 0)
				return ISO_COPY_LINK_OUTSIDE;
		} else if (n && !(n == 1 && p[0] == '.')) {
			depth++;
		}
		p += n;
	}
	return ISO_COPY_DONE;
}

/* An entry of not_secret speaks for itself and for what lies below it. */
static bool is_excused(const struct iso_input *input, const char *path)
{
	for (size_t i = 0; i < input->not_secret.count; i++) {
		const char *key = input->not_secret.items[i].key;
		size_t n = strlen(key);

		if (!strncmp(key, path, n) && (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

bool iso_copy_secret(const struct iso_input *input, const char *path)
{
	return iso_place_secret(path) && !is_excused(input, path);
}
