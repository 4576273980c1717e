/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings of the checker as lines, for people or as JSON. */
#ifndef ISO_ISOCTL_FINDINGS_H
#define ISO_ISOCTL_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "manifest/manifest.h"

void isoctl_print_findings(FILE *out, const char *file, const struct iso_findings *f, bool json);

/*
 * The bytes of a manifest file ("-": standard input): 0, or a negative errno that it has logged. Of
 * a file that is too large nothing but a size that the parser refuses.
 */
int isoctl_read_manifest(const char *file, char **ret, size_t *ret_size);

#endif
