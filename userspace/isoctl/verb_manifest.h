/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ISO_ISOCTL_VERB_MANIFEST_H
#define ISO_ISOCTL_VERB_MANIFEST_H

#include "manifest/manifest.h"

/*
 * The manifest of a file; what is wrong with it goes to standard error, and the answer is then the
 * verb's exit status (1). 0 and *ret when it is valid.
 */
int isoctl_load_manifest(const char *file, struct iso_manifest **ret);

#endif
