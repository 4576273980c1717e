/* SPDX-License-Identifier: BSD-2-Clause */
/* What changes from one manifest to the next, and whether the task may do more by it. */
#ifndef ISO_MANIFEST_DIFF_H
#define ISO_MANIFEST_DIFF_H

#include "manifest/manifest.h"

enum iso_direction {
	ISO_NEUTRAL, /* says something else, grants the same */
	ISO_NARROWER,
	ISO_WIDER, /* also whatever cannot be compared: another path, another value */
};

struct iso_change {
	enum iso_direction direction;
	char *pointer; /* into the new manifest; of what is gone, into the old one */
	char *before;  /* JSON; NULL: it was not there, nor had it a default */
	char *after;
};

struct iso_changes {
	struct iso_change *items;
	size_t count;
};

/* Both are valid manifests; defaults count as values. 0 or -ENOMEM. */
int iso_manifest_diff(const struct iso_manifest *old, const struct iso_manifest *new,
		      struct iso_changes *ret);
void iso_changes_free(struct iso_changes *c);

#endif
