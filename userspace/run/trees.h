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

#endif
