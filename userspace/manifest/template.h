/* SPDX-License-Identifier: BSD-2-Clause */
/* A manifest to start from, and manifests made from others. */
#ifndef ISO_MANIFEST_TEMPLATE_H
#define ISO_MANIFEST_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* The repository that a new manifest is for; sizes are what it holds now. */
struct iso_repository {
	const char *source; /* absolute; NULL: a placeholder */
	uint64_t bytes, inodes;
};

/* JSON text with the samples of the field table: valid by itself. *ret is the caller's. */
int iso_manifest_new(const char *profile, const struct iso_repository *repository, char **ret,
		     struct iso_error *e);

/*
 * The text of `base` with the values at the pointers replaced or added; each assignment is
 * "POINTER=VALUE". The value is JSON where the field is not a text, else the text itself; "-" as
 * last component appends to a list. Order and unknown keys stay: the checker judges the result.
 */
int iso_manifest_render(const char *base, size_t size, const char *const *assignments, size_t count,
			char **ret, struct iso_error *e);

#endif
