/* SPDX-License-Identifier: BSD-2-Clause */
/* The other programs of this installation: found from where this one lies, never from PATH. */
#ifndef ISO_RUN_SIBLING_H
#define ISO_RUN_SIBLING_H

#include <stdbool.h>

#include "common/error.h"

#define ISO_SIBLING_PATH 4096

/*
 * Opens `name` (O_RDONLY) beside this program, in ../libexec/isoctl, ../sbin or ../name/ (a build
 * tree). A program that root has installed runs only what nobody but root can change; one from a
 * build tree runs what its own owner built. path: NULL, or ISO_SIBLING_PATH bytes for where it is.
 */
int iso_sibling_open(const char *name, int *ret, char *path, struct iso_error *e);

#endif
