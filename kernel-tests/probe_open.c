/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done with an open file. Each begins with the open: its refusal is theirs. */
#include "probe.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PAGE 4096

static int with_file(const char *path, int flags, int (*act)(int fd))
{
	int fd = open(path, flags | O_CLOEXEC), e;

	if (fd < 0)
		return errno;
	e = act(fd);
	close(fd);
	return e;
}

static int act_nothing(int fd)
{
	(void)fd;
	return 0;
}

static int act_read(int fd)
{
	char byte;

	return probe_errno(read(fd, &byte, 1));
}

static int act_write(int fd)
{
	return probe_errno(write(fd, "x", 1));
}

static int act_map(int fd)
{
	void *at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, PAGE);
	return 0;
}

static int act_truncate(int fd)
{
	return probe_errno(ftruncate(fd, 1));
}

static int act_allocate(int fd)
{
	return probe_errno(fallocate(fd, 0, 0, PAGE));
}

static int act_set_xattr(int fd)
{
	return probe_errno(fsetxattr(fd, "user.isoctl", "x", 1, 0));
}

static int act_get_acl(int fd)
{
	char acl[256];

	return probe_errno(fgetxattr(fd, "system.posix_acl_access", acl, sizeof acl));
}

static int act_set_flags(int fd)
{
	return probe_errno(fcntl(fd, F_SETFL, O_NONBLOCK));
}

static int act_count(int fd)
{
	int n;

	return probe_errno(ioctl(fd, FIONREAD, &n));
}

static int act_send(int fd)
{
	int ends[2], e;

	if (pipe2(ends, O_CLOEXEC))
		return CANNOT;
	e = probe_errno(sendfile(ends[1], fd, NULL, 1));
	close(ends[0]);
	close(ends[1]);
	return e;
}

static int act_list(int fd)
{
	char entries[4096];

	return probe_errno(syscall(SYS_getdents64, fd, entries, sizeof entries));
}

static int open_path(char **w)
{
	return with_file(w[0], O_PATH, act_nothing);
}

static int read_file(char **w)
{
	return with_file(w[0], O_RDONLY, act_read);
}

static int write_file(char **w)
{
	return with_file(w[0], O_WRONLY, act_write);
}

static int map_read(char **w)
{
	return with_file(w[0], O_RDONLY, act_map);
}

static int open_ftruncate(char **w)
{
	return with_file(w[0], O_WRONLY, act_truncate);
}

static int allocate(char **w)
{
	return with_file(w[0], O_WRONLY, act_allocate);
}

static int set_xattr(char **w)
{
	return with_file(w[0], O_RDONLY, act_set_xattr);
}

/* One that is there: made first. */
static int get_acl(char **w)
{
	static const char acl[] = "\2\0\0\0"
				  "\1\0\6\0\377\377\377\377"
				  "\2\0\4\0\350\3\0\0"
				  "\4\0\4\0\377\377\377\377"
				  "\20\0\4\0\377\377\377\377"
				  "\40\0\4\0\377\377\377\377";

	if (setxattr(w[0], "system.posix_acl_access", acl, sizeof acl - 1, 0))
		return CANNOT;
	return with_file(w[0], O_RDONLY, act_get_acl);
}

static int set_status_flags(char **w)
{
	return with_file(w[0], O_RDONLY, act_set_flags);
}

static int count_readable(char **w)
{
	return with_file(w[0], O_RDONLY, act_count);
}

static int send_file(char **w)
{
	return with_file(w[0], O_RDONLY, act_send);
}

static int list(char **w)
{
	return with_file(w[0], O_RDONLY | O_DIRECTORY, act_list);
}

/* Of a descriptor that the caller of the sandbox, or of this program, has open. */
static int read_inherited(char **w)
{
	return act_read((int)strtol(w[0], NULL, 10));
}

static int map_inherited(char **w)
{
	int fd = (int)strtol(w[0], NULL, 10);
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? errno : 0;
}

static int read_link(char **w)
{
	char target[4096];

	return probe_errno(readlink(w[0], target, sizeof target));
}

static int do_stat(char **w)
{
	struct stat st;

	return probe_errno(stat(w[0], &st));
}

static int do_access(char **w)
{
	return probe_errno(access(w[0], R_OK));
}

static int change_directory(char **w)
{
	return probe_errno(chdir(w[0]));
}

static int open_fifo(char **w)
{
	if (mkfifo(w[0], 0600))
		return CANNOT;
	return with_file(w[0], O_RDWR, act_write);
}

/* One that is there: made first, by who may. */
static int remove_set(char **w)
{
	if (probe_outside && setxattr(w[0], "user.isoctl", "x", 1, 0))
		return CANNOT;
	return probe_errno(removexattr(w[0], "user.isoctl"));
}

/* A handle of the file, opened again by it. */
static int by_handle(char **w)
{
	struct {
		struct file_handle head;
		char bytes[MAX_HANDLE_SZ];
	} handle = {.head = {.handle_bytes = MAX_HANDLE_SZ}};
	int at, mount, fd, e;

	if (name_to_handle_at(AT_FDCWD, w[0], &handle.head, &mount, 0))
		return errno;
	at = open(w[0], O_RDONLY | O_CLOEXEC);
	fd = open_by_handle_at(at, &handle.head, O_RDONLY | O_CLOEXEC);
	e = probe_errno(fd);
	close(at);
	close(fd);
	return e;
}

static int attributes(long call, const char *path)
{
	struct {
		uint64_t flags;
		uint32_t extent, extents, project, copies;
	} a = {};

	return probe_errno(syscall(call, AT_FDCWD, path, &a, sizeof a, 0));
}

static int file_attributes(char **w)
{
	return attributes(468 /* file_getattr */, w[0]);
}

static int set_file_attributes(char **w)
{
	return attributes(469 /* file_setattr */, w[0]);
}

/* By the 32-bit entry, whose pointers must lie low. */
static int act_flags32(int fd)
{
	int *flags = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;

	if (flags == MAP_FAILED)
		return CANNOT;
	*flags = FS_NODUMP_FL;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(54 /* ioctl */), "b"(fd), "c"(0x40046602 /* FS_IOC32_SETFLAGS */),
			   "d"(flags)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)-result;
}

static int set_flags32(char **w)
{
	return with_file(w[0], O_RDONLY, act_flags32);
}

const struct probe_verb probe_open_verbs[] = {
	{"open-path", open_path},
	{"read-file", read_file},
	{"write-file", write_file},
	{"map-read", map_read},
	{"open-ftruncate", open_ftruncate},
	{"allocate", allocate},
	{"fsetxattr", set_xattr},
	{"getacl", get_acl},
	{"set-status-flags", set_status_flags},
	{"count-readable", count_readable},
	{"send-file", send_file},
	{"list", list},
	{"read-inherited", read_inherited},
	{"map-inherited", map_inherited},
	{"readlink", read_link},
	{"stat", do_stat},
	{"access", do_access},
	{"chdir", change_directory},
	{"open-fifo", open_fifo},
	{"removexattr-set", remove_set},
	{"open-by-handle", by_handle},
	{"file-attributes", file_attributes},
	{"set-file-attributes", set_file_attributes},
	{"setflags-32", set_flags32},
	{NULL, NULL},
};
