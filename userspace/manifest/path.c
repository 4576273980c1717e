/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/path.h"

#include <stddef.h>
#include <string.h>

static enum iso_path_fault components(const char *p)
{
	for (;;) {
		size_t n = strcspn(p, "/");

		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return ISO_PATH_NOT_NORMAL;
		if (n > ISO_NAME_BYTES)
			return ISO_PATH_LONG;
		if (!p[n])
			return ISO_PATH_OK;
		p += n + 1;
	}
}

enum iso_path_fault iso_path_absolute(const char *path)
{
	if (!path[0])
		return ISO_PATH_EMPTY;
	if (path[0] != '/')
		return ISO_PATH_RELATIVE;
	if (strlen(path) > ISO_PATH_BYTES)
		return ISO_PATH_LONG;
	return path[1] ? components(path + 1) : ISO_PATH_OK;
}

enum iso_path_fault iso_path_relative(const char *path)
{
	if (!path[0])
		return ISO_PATH_EMPTY;
	if (path[0] == '/')
		return ISO_PATH_ROOTED;
	if (strlen(path) > ISO_PATH_BYTES)
		return ISO_PATH_LONG;
	return components(path);
}

bool iso_path_within(const char *path, const char *tree)
{
	size_t n = strlen(tree);

	if (n == 1 && tree[0] == '/')
		return path[0] == '/';
	return !strncmp(path, tree, n) && (path[n] == '\0' || path[n] == '/');
}

bool iso_path_overlaps(const char *a, const char *b)
{
	return iso_path_within(a, b) || iso_path_within(b, a);
}
