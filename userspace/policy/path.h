/* SPDX-License-Identifier: BSD-2-Clause */
/* Absolute, normal paths as the manifest check lets them through. */
#ifndef ISO_POLICY_PATH_H
#define ISO_POLICY_PATH_H

#include <stdbool.h>
#include <string.h>

/* Is `path` the same as `above` or below it? "/" is above everything. */
static inline bool iso_path_within(const char *path, const char *above)
{
	size_t n = strlen(above);

	if (n == 1)
		return true;
	return !strncmp(path, above, n) && (path[n] == '\0' || path[n] == '/');
}

#endif
