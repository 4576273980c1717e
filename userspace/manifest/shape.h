/* SPDX-License-Identifier: BSD-2-Clause */
/* Between shape.c and types.c. */
#ifndef ISO_MANIFEST_SHAPE_H
#define ISO_MANIFEST_SHAPE_H

#include "manifest/check.h"

bool iso_type_matches(const struct iso_field *row, const json_t *v);
void iso_report_type(struct iso_check *c, const struct iso_field *row, const json_t *v);
/* Is `key` a name of this type, as a key of a map? */
bool iso_key_ok(enum iso_type type, const char *key);

#endif
