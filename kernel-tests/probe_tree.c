/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries that come, go and move. */
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int do_create(char **w)
{
	int fd = open(w[0], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644), e = probe_errno(fd);

	close(fd);
	return e;
}

static int do_mkdir(char **w)
{
	return probe_errno(mkdir(w[0], 0755));
}

static int do_rmdir(char **w)
{
	return probe_errno(rmdir(w[0]));
}

static int do_unlink(char **w)
{
	return probe_errno(unlink(w[0]));
}

static int do_symlink(char **w)
{
	return probe_errno(symlink(w[0], w[1]));
}

static int do_link(char **w)
{
	return probe_errno(link(w[0], w[1]));
}

static int do_rename(char **w)
{
	return probe_errno(rename(w[0], w[1]));
}

static int do_exchange(char **w)
{
	return probe_errno(renameat2(AT_FDCWD, w[0], AT_FDCWD, w[1], RENAME_EXCHANGE));
}

/* Leaves a whiteout, a device file, where the old name was. */
static int do_whiteout(char **w)
{
	return probe_errno(renameat2(AT_FDCWD, w[0], AT_FDCWD, w[1], RENAME_WHITEOUT));
}

static int do_fifo(char **w)
{
	return probe_errno(mkfifo(w[0], 0600));
}

static int do_device(char **w)
{
	return probe_errno(mknod(w[0], S_IFCHR | 0600, makedev(1, 3)));
}

static int do_block_device(char **w)
{
	return probe_errno(mknod(w[0], S_IFBLK | 0600, makedev(7, 0)));
}

/* A file without a name in w[0], given the name w[1]. */
static int do_tmpfile_link(char **w)
{
	int fd = open(w[0], O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), e;
	char path[64];

	if (fd < 0)
		return CANNOT;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	e = probe_errno(linkat(AT_FDCWD, path, AT_FDCWD, w[1], AT_SYMLINK_FOLLOW));
	close(fd);
	return e;
}

static int do_tmpfile(char **w)
{
	int fd = open(w[0], O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), e = probe_errno(fd);

	close(fd);
	return e;
}

/* The name by way of its parent's descriptor, and of "..". */
static int do_unlink_at(char **w)
{
	int fd = open(w[0], O_PATH | O_DIRECTORY | O_CLOEXEC), e;

	if (fd < 0)
		return CANNOT;
	e = probe_errno(unlinkat(fd, w[1], 0));
	close(fd);
	return e;
}

const struct probe_verb probe_tree_verbs[] = {
	{"create", do_create},
	{"mkdir", do_mkdir},
	{"rmdir", do_rmdir},
	{"unlink", do_unlink},
	{"unlink-at", do_unlink_at},
	{"symlink", do_symlink},
	{"link", do_link},
	{"rename", do_rename},
	{"exchange", do_exchange},
	{"whiteout", do_whiteout},
	{"fifo", do_fifo},
	{"device", do_device},
	{"block-device", do_block_device},
	{"tmpfile", do_tmpfile},
	{"tmpfile-link", do_tmpfile_link},
	{NULL, NULL},
};
