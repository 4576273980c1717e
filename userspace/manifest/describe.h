/* SPDX-License-Identifier: BSD-2-Clause */
/* What is made from the field table for others to read. */
#ifndef ISO_MANIFEST_DESCRIBE_H
#define ISO_MANIFEST_DESCRIBE_H

#include <stdio.h>

/* The format as JSON Schema, draft 2020-12, without the rules about several fields. 0 or -errno. */
int iso_manifest_schema(FILE *out);

#endif
