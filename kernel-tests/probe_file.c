/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are opened and changed in place. */
#include "probe.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int opened(int fd)
{
	int e = probe_errno(fd);

	close(fd);
	return e;
}

static int open_read(char **w)
{
	return opened(open(w[0], O_RDONLY | O_CLOEXEC));
}

static int open_write(char **w)
{
	return opened(open(w[0], O_WRONLY | O_CLOEXEC));
}

static int open_truncate(char **w)
{
	return opened(open(w[0], O_WRONLY | O_TRUNC | O_CLOEXEC));
}

static int open_append(char **w)
{
	return opened(open(w[0], O_RDWR | O_APPEND | O_CLOEXEC));
}

/* A descriptor without access, opened again through its name in /proc. */
static int reopen(const char *path, int flags)
{
	int fd = open(path, O_PATH | O_CLOEXEC), e;
	char again[64];

	if (fd < 0)
		return CANNOT;
	snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
	e = opened(open(again, flags | O_CLOEXEC));
	close(fd);
	return e;
}

static int reopen_read(char **w)
{
	return reopen(w[0], O_RDONLY);
}

static int reopen_write(char **w)
{
	return reopen(w[0], O_WRONLY);
}

static int do_truncate(char **w)
{
	return probe_errno(truncate(w[0], 0));
}

static int do_ftruncate(char **w)
{
	int fd = open(w[0], O_WRONLY | O_CLOEXEC), e;

	if (fd < 0)
		return CANNOT;
	e = probe_errno(ftruncate(fd, 0));
	close(fd);
	return e;
}

static int do_chmod(char **w)
{
	return probe_errno(chmod(w[0], 0640));
}

static int do_chown(char **w)
{
	return probe_errno(chown(w[0], getuid(), getgid()));
}

static int do_utimes(char **w)
{
	static const struct timespec times[2] = {{1, 0}, {1, 0}};

	return probe_errno(utimensat(AT_FDCWD, w[0], times, 0));
}

/* By a read-only descriptor, where a mount's own refusal sits elsewhere. */
static int by_descriptor(const char *path, int (*act)(int fd))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), e;

	if (fd < 0)
		return CANNOT;
	e = act(fd);
	close(fd);
	return e;
}

static int act_fchmod(int fd)
{
	return probe_errno(fchmod(fd, 0640));
}

static int act_setflags(int fd)
{
	int flags = FS_NODUMP_FL;

	return probe_errno(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static int act_fssetxattr(int fd)
{
	struct fsxattr x = {.fsx_xflags = FS_XFLAG_NODUMP};

	return probe_errno(ioctl(fd, FS_IOC_FSSETXATTR, &x));
}

static int act_flock(int fd)
{
	return probe_errno(flock(fd, LOCK_EX | LOCK_NB));
}

static int act_fcntl_lock(int fd)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

	return probe_errno(fcntl(fd, F_SETLK, &lock));
}

static int act_lease(int fd)
{
	return probe_errno(fcntl(fd, F_SETLEASE, F_RDLCK));
}

static int act_fremovexattr(int fd)
{
	return probe_errno(fremovexattr(fd, "user.isoctl"));
}

static int do_fchmod(char **w)
{
	return by_descriptor(w[0], act_fchmod);
}

static int do_setflags(char **w)
{
	return by_descriptor(w[0], act_setflags);
}

static int do_fssetxattr(char **w)
{
	return by_descriptor(w[0], act_fssetxattr);
}

static int do_flock(char **w)
{
	return by_descriptor(w[0], act_flock);
}

static int do_fcntl_lock(char **w)
{
	return by_descriptor(w[0], act_fcntl_lock);
}

static int do_lease(char **w)
{
	return by_descriptor(w[0], act_lease);
}

static int do_fremovexattr(char **w)
{
	return by_descriptor(w[0], act_fremovexattr);
}

static int do_setxattr(char **w)
{
	return probe_errno(setxattr(w[0], "user.isoctl", "x", 1, 0));
}

static int do_removexattr(char **w)
{
	return probe_errno(removexattr(w[0], "user.isoctl"));
}

/* A minimal access list: user, group, other. */
static const char acl[] = "\2\0\0\0"
			  "\1\0\6\0\377\377\377\377"
			  "\4\0\4\0\377\377\377\377"
			  "\40\0\4\0\377\377\377\377";

static int do_setacl(char **w)
{
	return probe_errno(setxattr(w[0], "system.posix_acl_access", acl, sizeof acl - 1, 0));
}

static int do_removeacl(char **w)
{
	return probe_errno(removexattr(w[0], "system.posix_acl_access"));
}

static int do_watch(char **w)
{
	int fd = inotify_init1(IN_CLOEXEC), e;

	if (fd < 0)
		return CANNOT;
	e = probe_errno(inotify_add_watch(fd, w[0], IN_ALL_EVENTS));
	close(fd);
	return e;
}

/* Write through a mapping of a file that may only be read. */
static int do_copy_range(char **w)
{
	int in = open(w[0], O_RDONLY | O_CLOEXEC), out = open(w[1], O_WRONLY | O_CLOEXEC), e;

	if (in < 0)
		return CANNOT;
	e = out < 0 ? errno : probe_errno(copy_file_range(in, NULL, out, NULL, 1, 0));
	close(in);
	close(out);
	return e;
}

int probe_send_descriptor(int socket, int fd)
{
	char byte = 0;
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {};
	struct iovec part = {&byte, 1};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof control.bytes};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	return sendmsg(socket, &m, 0) == 1 ? 0 : errno;
}

int probe_receive_descriptor(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {&byte, 1};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof control};
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

/* Over a socket pair of its own: what it may open it may also receive. */
static int do_receive(char **w)
{
	int fd = open(w[0], O_RDONLY | O_CLOEXEC), pair[2], got;

	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return CANNOT;
	if (probe_send_descriptor(pair[0], fd))
		return errno;
	got = probe_receive_descriptor(pair[1]);
	close(fd);
	close(pair[0]);
	close(pair[1]);
	return got < 0 ? EACCES : (close(got), 0);
}

const struct probe_verb probe_file_verbs[] = {
	{"open-read", open_read},
	{"open-write", open_write},
	{"open-truncate", open_truncate},
	{"open-append", open_append},
	{"reopen-read", reopen_read},
	{"reopen-write", reopen_write},
	{"truncate", do_truncate},
	{"ftruncate", do_ftruncate},
	{"chmod", do_chmod},
	{"fchmod", do_fchmod},
	{"chown", do_chown},
	{"utimes", do_utimes},
	{"setflags", do_setflags},
	{"fssetxattr", do_fssetxattr},
	{"flock", do_flock},
	{"fcntl-lock", do_fcntl_lock},
	{"lease", do_lease},
	{"setxattr", do_setxattr},
	{"removexattr", do_removexattr},
	{"fremovexattr", do_fremovexattr},
	{"setacl", do_setacl},
	{"removeacl", do_removeacl},
	{"watch", do_watch},
	{"copy-range", do_copy_range},
	{"receive", do_receive},
	{NULL, NULL},
};
