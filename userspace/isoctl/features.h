/* SPDX-License-Identifier: BSD-2-Clause */
/* The feature table of this host, as isod probes it. */
#ifndef ISO_ISOCTL_FEATURES_H
#define ISO_ISOCTL_FEATURES_H

#include <jansson.h>

#include "run/outcome.h"

/*
 * Asks the isod that runs, or the one beside this program: isoctl itself knows nothing of BPF, so
 * that it stays small. *ret: a list of `Feature`.
 */
int isoctl_features(const char *socket, json_t **ret, struct iso_failure *f);

#endif
