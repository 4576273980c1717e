/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths as text: no function here asks the host. */
#ifndef ISO_MANIFEST_PATH_H
#define ISO_MANIFEST_PATH_H

#include <stdbool.h>

#define ISO_PATH_BYTES 4095u /* the kernel's PATH_MAX counts the NUL */
#define ISO_NAME_BYTES 255u

enum iso_path_fault {
	ISO_PATH_OK,
	ISO_PATH_EMPTY,
	ISO_PATH_RELATIVE, /* for iso_path_absolute() */
	ISO_PATH_ROOTED,   /* for iso_path_relative(): it starts with a slash */
	ISO_PATH_NOT_NORMAL,
	ISO_PATH_LONG, /* the whole, or one name of it */
};

/* Normal: no empty, `.` or `..` component, no slash at the end ("/" itself is normal). */
enum iso_path_fault iso_path_absolute(const char *path);
enum iso_path_fault iso_path_relative(const char *path);

/* Is `path` the same as `tree` or below it? Both absolute or both relative, and normal. */
bool iso_path_within(const char *path, const char *tree);

/* Does one lie within the other? */
bool iso_path_overlaps(const char *a, const char *b);

#endif
