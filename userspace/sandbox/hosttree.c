/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host trees: what the caller opened, copied as mounts by isod. The descriptor is believed in
 * nothing: its type, its access mode and its mount namespace (open_tree(2) clones only from the
 * caller's own, isod's, namespace) are checked again.
 */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "sandbox/raw.h"

static int check_descriptor(struct iso_build *b, const char *path, int fd, struct stat *st)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, st) < 0)
		return iso_step_error(b, -errno, HOST_TREE, NULL, "no descriptor for %s: %m", path);
	if (S_ISLNK(st->st_mode))
		return 0;
	if (!S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode))
		return iso_step_error(b, -EINVAL, HOST_TREE, "remove it from /filesystem/root",
				      "%s is neither a directory, a file nor a link", path);
	/* O_PATH opens what the caller may not read: then it is not shown either */
	if (flags & O_PATH || (flags & O_ACCMODE) != O_RDONLY)
		return iso_step_error(b, -EACCES, HOST_TREE, NULL,
				      "the descriptor of %s was not opened for reading", path);
	return 0;
}

static int take_link(struct iso_build *b, size_t i, const char *path, int fd)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(fd, "", target, sizeof target);

	if (n < 0 || n >= (ssize_t)sizeof target)
		return iso_step_error(b, n < 0 ? -errno : -ENAMETOOLONG, HOST_TREE, NULL,
				      "cannot read the link %s: %m", path);
	target[n] = '\0';
	b->places[i].link = strdup(target);
	return b->places[i].link ? 0 : iso_step_error(b, -ENOMEM, HOST_TREE, NULL, "%m");
}

int iso_hosttree_open(struct iso_build *b, size_t i, int fd)
{
	const struct iso_tree *t = &b->q->policy->trees[i];
	uint64_t set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
		       (t->executable ? 0 : MOUNT_ATTR_NOEXEC);
	struct stat st = {0};
	int r, clone;

	ISO_FAULT_POINT(b, HOST_TREE);
	r = check_descriptor(b, t->path, fd, &st);
	if (r < 0)
		return r;
	if (S_ISLNK(st.st_mode))
		return take_link(b, i, t->path, fd);
	clone = iso_clone_mount(fd, true);
	if (clone == -EINVAL)
		return iso_step_error(b, clone, HOST_TREE,
				      "call isoctl from the host's own mount namespace",
				      "%s does not lie in the mount namespace of isod", t->path);
	if (clone < 0)
		return iso_step_error(b, clone, HOST_TREE, NULL, "cannot take %s in: %m", t->path);
	b->places[i].fd = clone;
	b->places[i].file = S_ISREG(st.st_mode);
	r = iso_mount_attr(clone, AT_RECURSIVE, set, 0, MS_PRIVATE);
	if (r < 0)
		return iso_step_error(b, r, HOST_TREE, NULL, "cannot make %s read-only: %m",
				      t->path);
	return 0;
}
