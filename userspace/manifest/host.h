/* SPDX-License-Identifier: BSD-2-Clause */
/* A valid manifest against this host: what `isoctl validate --host` and `isoctl seal` ask. */
#ifndef ISO_MANIFEST_HOST_H
#define ISO_MANIFEST_HOST_H

#include "manifest/manifest.h"

/*
 * Do its paths exist, is each source a directory without symbolic links on the way, does one hold
 * the manifest's own file (`file`, NULL when it has none), several repositories, or what looks like
 * a secret? 0, or -EINVAL with every finding appended, or -ENOMEM. With the rights of the caller.
 */
int iso_host_check(const struct iso_manifest *m, const char *file, struct iso_findings *findings);

#endif
