/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "manifest/check.h"
#include "manifest/host_secrets.h"
#include "manifest/path.h"

static int open_plain(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);

	return fd < 0 ? -errno : fd;
}

static void check_root(struct iso_check *c, const struct iso_manifest *m)
{
	for (size_t i = 0; i < m->filesystem.root_host.count; i++) {
		const char *path = m->filesystem.root_host.items[i];
		struct stat st;

		/* /bin is a link on most hosts, and stays one inside */
		if (lstat(path, &st))
			iso_report(c, iso_at(c, "/filesystem/root/host/%zu", i), HOST_ABSENT, path,
				   strerror(errno));
	}
}

/* Is `dir` the folder of the file, or one above it? Compared by inode: names have many forms. */
static bool holds(int dir, const char *file)
{
	ISO_AUTO_FREE char *real = realpath(file, NULL);
	struct stat tree, st;
	char *slash;

	if (!real || fstat(dir, &tree))
		return false;
	while ((slash = strrchr(real, '/'))) {
		*slash = '\0';
		if (stat(slash == real ? "/" : real, &st))
			return false;
		if (st.st_dev == tree.st_dev && st.st_ino == tree.st_ino)
			return true;
	}
	return false;
}

/* Would the copy hold the file? With paths[], only when one of them leads to it. */
static bool copies(const struct iso_input *in, int dir, const char *file)
{
	struct stat st, wanted;

	if (!in->paths.count)
		return holds(dir, file);
	for (size_t i = 0; i < in->paths.count; i++) {
		ISO_AUTO_CLOSE int fd =
			openat(dir, in->paths.items[i], O_PATH | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0 || fstat(fd, &st))
			continue;
		if (S_ISDIR(st.st_mode) ? holds(fd, file)
					: !stat(file, &wanted) && wanted.st_dev == st.st_dev &&
						  wanted.st_ino == st.st_ino)
			return true;
	}
	return false;
}

/* A folder of repositories that is none itself: the first two of them. */
static int repositories(int dir, char names[2][256])
{
	ISO_AUTO_CLOSEDIR DIR *d = NULL;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
	const struct dirent *entry;

	if (fd < 0 || !(d = fdopendir(fd))) {
		iso_close_fd(&fd);
		return 0;
	}
	if (faccessat(fd, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	while (count < 2 && (entry = readdir(d))) {
		ISO_AUTO_CLOSE int child = -1;

		if (entry->d_name[0] == '.')
			continue;
		child = openat(fd, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child >= 0 && faccessat(child, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			memcpy(names[count++], entry->d_name, strlen(entry->d_name) + 1);
	}
	return count;
}

/* Opens the source; reports what is wrong with it and returns a negative errno. */
static int open_source(struct iso_check *c, const char *source, const char *at)
{
	ISO_AUTO_FREE char *real = NULL;
	struct stat st;
	int fd = open_plain(source);

	if (fd == -ELOOP) {
		real = realpath(source, NULL);
		iso_report(c, at, HOST_LINK, source, real ? real : "the path without it");
		return fd;
	}
	if (fd < 0) {
		iso_report(c, at, HOST_ABSENT, source, strerror(-fd));
		return fd;
	}
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
		return fd;
	close(fd);
	iso_report(c, at, HOST_TYPE, source);
	return -ENOTDIR;
}

static void check_paths(struct iso_check *c, const struct iso_input *in, int dir, size_t i)
{
	for (size_t k = 0; k < in->paths.count; k++) {
		struct stat st;

		if (fstatat(dir, in->paths.items[k], &st, AT_SYMLINK_NOFOLLOW))
			iso_report(c, iso_at(c, "/filesystem/inputs/%zu/paths/%zu", i, k),
				   HOST_ABSENT, in->paths.items[k], strerror(errno));
	}
}

static void check_input(struct iso_check *c, const struct iso_manifest *m, size_t i,
			const char *file)
{
	const struct iso_input *in = &m->filesystem.inputs[i];
	const char *at = iso_at(c, "/filesystem/inputs/%zu/source", i);
	ISO_AUTO_CLOSE int dir = open_source(c, in->source, at);
	char names[2][256];

	if (dir < 0)
		return;
	check_paths(c, in, dir, i);
	if (file && copies(in, dir, file))
		iso_report(c, at, HOST_MANIFEST, in->source);
	if (!in->paths.count && repositories(dir, names) == 2)
		iso_report(c, at, HOST_WORKSPACE, in->source, names[0], names[1]);
	iso_host_secrets(c, in, dir, at);
}

int iso_host_check(const struct iso_manifest *m, const char *file, struct iso_findings *findings)
{
	struct iso_check c;
	int r;

	iso_check_again(&c, m);
	check_root(&c, m);
	for (size_t i = 0; i < m->filesystem.input_count; i++)
		check_input(&c, m, i, file);
	r = iso_check_finish(&c, findings);
	iso_check_release(&c);
	return r;
}
