/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is calling, as the kernel says, and what an operator lets that caller do. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "isod/daemon.h"

int iso_peer_read(int fd, struct iso_caller *ret)
{
	gid_t *groups = calloc(ISO_CALLER_GROUPS_MAX, sizeof *groups);
	socklen_t size = ISO_CALLER_GROUPS_MAX * sizeof *groups;
	struct ucred cred;
	socklen_t n = sizeof cred;

	if (!groups)
		return -ENOMEM;
	/* -ERANGE, more groups than are kept, refuses the caller: half a list is no list. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0) {
		int r = -errno;

		free(groups);
		return r;
	}
	*ret = (struct iso_caller){.uid = cred.uid,
				   .gid = cred.gid,
				   .groups = groups,
				   .group_count = size / sizeof(gid_t)};
	return 0;
}

bool iso_peer_member(const struct iso_daemon *d, const struct iso_caller *caller)
{
	if (caller->uid == 0)
		return true;
	if (d->member_gid < 0)
		return false;
	if (caller->gid == (gid_t)d->member_gid)
		return true;
	for (size_t i = 0; i < caller->group_count; i++)
		if (caller->groups[i] == (gid_t)d->member_gid)
			return true;
	return false;
}

/* Without a ceiling only root may seal. */
int iso_peer_may_seal(struct iso_daemon *d, const struct iso_capture *c, struct iso_failure *f)
{
	(void)d;
	if (c->caller.uid == 0)
		return 0;
	return iso_failure_set(f, ISO_CLASS_PERMISSION, -EPERM, "ceiling",
			       "let an operator write /etc/isoctl/ceiling.json, or use sudo",
			       "without a ceiling only root may seal");
}
