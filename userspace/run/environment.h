/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole environment of the entry command. It starts empty: defaults, what the manifest sets,
 * what it lets through from the caller, in that order; credential helpers point to nothing last,
 * so that neither can bring them back.
 */
#ifndef ISO_RUN_ENVIRONMENT_H
#define ISO_RUN_ENVIRONMENT_H

#include "manifest/manifest.h"
#include "run/outcome.h"

/*
 * passed: the caller's values of /process/environment/pass; names that the manifest does not list,
 * and values that look like a credential, are refused. *ret: NULL-terminated, one allocation,
 * free() it. -EPERM, -EINVAL, -ENOMEM.
 */
int iso_environment_build(const struct iso_manifest *m, const struct iso_pairs *passed, char ***ret,
			  struct iso_failure *f);

#endif
