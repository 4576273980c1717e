/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mount family with arguments that work. A sandbox refuses the first call; what only comes
 * after it is prepared where that is allowed.
 */
#include "probe.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static int tree_of(const char *path)
{
	return (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

static int tree(char **w)
{
	return probe_errno(tree_of(w[0]));
}

static int open_in_tree(char **w)
{
	int t = tree_of(w[0]);

	return t < 0 ? errno : probe_errno(openat(t, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int move_tree(char **w)
{
	int t = probe_outside ? tree_of(w[0]) : -1;

	return probe_errno(syscall(SYS_move_mount, t, "", AT_FDCWD, w[1], MOVE_MOUNT_F_EMPTY_PATH));
}

/* A mount of a new file system that is nowhere attached; -1 with errno. */
static int new_mount(const char *type)
{
	int context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);

	if (context < 0 || syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
}

static int make_mount(char **w)
{
	return probe_errno(new_mount(w[0]));
}

static int create_in_mount(char **w)
{
	int fd = new_mount(w[0]);

	if (fd < 0)
		return errno;
	return probe_errno(openat(fd, "new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static int set_mount(char **w)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_NODEV};

	return probe_errno(syscall(SYS_mount_setattr, AT_FDCWD, w[0], 0, &attr, sizeof attr));
}

static int pivot_root(char **w)
{
	return probe_errno(syscall(SYS_pivot_root, w[0], w[1]));
}

static int list_mounts(char **w)
{
	struct {
		uint32_t size, spare;
		uint64_t mnt_id, parameter;
	} request = {.size = 24, .mnt_id = UINT64_MAX /* LSMT_ROOT */};
	uint64_t ids[16];

	(void)w;
	return probe_errno(syscall(458 /* listmount */, &request, ids, 16, 0));
}

const struct probe_verb probe_mount_verbs[] = {
	{"open-tree", tree},
	{"open-in-tree", open_in_tree},
	{"move-tree", move_tree},
	{"make-mount", make_mount},
	{"set-mount", set_mount},
	{"create-in-mount", create_in_mount},
	{"pivot-root", pivot_root},
	{"list-mounts", list_mounts},
	{NULL, NULL},
};
