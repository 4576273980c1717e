/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ISO_MANIFEST_POINTER_H
#define ISO_MANIFEST_POINTER_H

#include <jansson.h>

/*
 * Sets the value at a JSON pointer; objects on the way are made where they are missing, "-" appends
 * to a list. Takes the value (NULL: -ENOMEM). -ENOENT when a component leads nowhere.
 */
int iso_pointer_set(json_t *root, const char *pointer, json_t *value);

#endif
