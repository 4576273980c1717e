/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls that this C library has no name for. All are async-signal-safe. */
#ifndef ISO_SANDBOX_RAW_H
#define ISO_SANDBOX_RAW_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

struct iso_clone_args { /* struct clone_args of linux/sched.h, which clashes with sched.h */
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
		set_tid_size, cgroup;
};

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ull
#endif

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

/* As fork(): the child goes on with a copy of this stack. Negative errno. */
static inline long iso_clone3(struct iso_clone_args *args)
{
	long r = syscall(SYS_clone3, args, sizeof *args);

	return r < 0 ? -errno : r;
}

static inline int iso_openat2(int dirfd, const char *path, uint64_t flags, uint64_t mode,
			      uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode, .resolve = resolve};
	long r;

	do
		r = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : (int)r;
}

#define ISO_RESOLVE_PLAIN   (RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
#define ISO_RESOLVE_BENEATH (RESOLVE_BENEATH | ISO_RESOLVE_PLAIN)
#define ISO_RESOLVE_IN_ROOT (RESOLVE_IN_ROOT | ISO_RESOLVE_PLAIN)

static inline int iso_pidfd_kill(int pidfd, int sig)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) < 0 ? -errno : 0;
}

static inline int iso_mount_attr(int fd, unsigned flags, uint64_t set, uint64_t clear,
				 uint64_t propagation)
{
	struct mount_attr a = {.attr_set = set, .attr_clr = clear, .propagation = propagation};

	return mount_setattr(fd, "", AT_EMPTY_PATH | flags, &a, sizeof a) < 0 ? -errno : 0;
}

/* A detached copy of what fd is on, with everything mounted below when `recursive`. */
static inline int iso_clone_mount(int fd, int recursive)
{
	int r = open_tree(fd, "",
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH |
				  (recursive ? AT_RECURSIVE : 0));

	return r < 0 ? -errno : r;
}

static inline int iso_attach(int mount_fd, int target_fd)
{
	return move_mount(mount_fd, "", target_fd, "",
			  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

#endif
