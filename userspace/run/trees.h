/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens what a manifest names with the rights of whoever runs this: the agent never opens a path
 * that a caller chose. Nothing that is opened here can block or act: fifos, devices and sockets are
 * refused after a look at them through O_PATH.
 */
#ifndef ISO_RUN_TREES_H
#define ISO_RUN_TREES_H

#include "policy/policy.h"
#include "run/outcome.h"
#include "run/varlink.h"

/* One descriptor for each host tree of the policy, in its order, then one for each input. */
int iso_trees_open(const struct iso_policy *policy, struct iso_fds *ret, size_t *ret_host_count,
		   struct iso_failure *f);

/*
 * Are these descriptors, in that order, the objects whose paths the manifest names? A ceiling
 * bounds callers by path, so what they send must lie where it says and not behind a link (proc(5):
 * /proc/self/fd). -EXDEV with *f when one does not. A caller with a mount namespace of its own can
 * make a path say anything; the sandbox layer clones no mount of another namespace, and an input is
 * copied with the caller's rights alone.
 */
int iso_trees_verify(const struct iso_policy *policy, const int *fds, struct iso_failure *f);

#endif
