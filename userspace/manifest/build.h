/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ISO_MANIFEST_BUILD_H
#define ISO_MANIFEST_BUILD_H

#include <jansson.h>

#include "manifest/manifest.h"

/* The structure of a document in which the checker found nothing. 0 or -ENOMEM. */
int iso_manifest_build(json_t *root, const char *text, size_t size, struct iso_manifest **ret);

#endif
