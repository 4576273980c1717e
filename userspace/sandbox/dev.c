/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /dev: six devices, taken from the host's /dev one by one, a terminal file system and shared
 * memory of its own, and the usual links. Everything else of the host's /dev does not exist.
 */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "common/cleanup.h"
#include "sandbox/raw.h"

static const struct {
	const char *name, *host;
	unsigned minor, major;
} devices[] = {
	{"null", "/dev/null", 3, 1},	   {"zero", "/dev/zero", 5, 1},
	{"full", "/dev/full", 7, 1},	   {"random", "/dev/random", 8, 1},
	{"urandom", "/dev/urandom", 9, 1}, {"tty", "/dev/tty", 0, 5},
};
#define DEVICES (sizeof devices / sizeof *devices)

static const struct {
	const char *name, *target;
} links[] = {
	{"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"},
};

/* Shared memory counts in memory.max too: the bound keeps one program from filling that. */
static uint64_t shm_size(const struct iso_manifest *m)
{
	uint64_t quarter = m->process.limits.memory / 4;

	return quarter < 64u << 20 ? quarter : 64u << 20;
}

static int take_device(struct iso_build *b, size_t k)
{
	ISO_AUTO_CLOSE int fd = open(devices[k].host, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int clone, r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return iso_step_error(b, -errno, DEV, NULL, "cannot open %s: %m", devices[k].host);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(devices[k].major, devices[k].minor))
		return iso_step_error(b, -ENODEV, DEV, "repair the host's /dev",
				      "%s is not the device it should be", devices[k].host);
	clone = iso_clone_mount(fd, false);
	if (clone < 0)
		return iso_step_error(b, clone, DEV, NULL, "cannot take %s in: %m",
				      devices[k].host);
	b->extra_fds[b->extra_count++] = clone;
	/* writing to a device does not ask whether its mount is read-only; chmod and chown do */
	r = iso_mount_attr(clone, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
			   MOUNT_ATTR_NODEV, MS_PRIVATE);
	return r < 0 ? iso_step_error(b, r, DEV, NULL, "cannot take %s in: %m", devices[k].host)
		     : 0;
}

static int make_pts(void)
{
	ISO_AUTO_CLOSE int fs = fsopen("devpts", FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0)
		return -errno;
	/* each devpts mount is an instance of its own */
	if (fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0620", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "ptmxmode", "0666", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	return fd < 0 ? -errno : fd;
}

static int make_entries(struct iso_build *b, int dir)
{
	static const char *const dirs[] = {"pts", "shm"};
	int r;

	for (size_t k = 0; k < DEVICES; k++) {
		r = iso_storage_file(dir, devices[k].name, "", b->h->base);
		if (r < 0)
			return r;
	}
	for (size_t k = 0; k < sizeof links / sizeof *links; k++)
		if (symlinkat(links[k].target, dir, links[k].name) < 0)
			return -errno;
	for (size_t k = 0; k < 2; k++)
		if (mkdirat(dir, dirs[k], 0755) < 0 ||
		    fchownat(dir, dirs[k], b->h->base, b->h->base, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
	return 0;
}

int iso_dev_make(struct iso_build *b, size_t tree)
{
	struct iso_tmpfs fs = {
		.size = 65536,
		.inodes = 64,
		.uid = b->h->base,
		.gid = b->h->base,
		.mode = 0755,
		.attributes = MOUNT_ATTR_NOEXEC,
	};
	struct iso_tmpfs shm = {
		.size = shm_size(b->q->manifest),
		.inodes = 4096,
		.uid = b->h->base,
		.gid = b->h->base,
		.mode = 01777,
		.attributes = MOUNT_ATTR_NOEXEC,
	};
	int r, fd;

	ISO_FAULT_POINT(b, DEV);
	b->extra_fds = calloc(DEVICES + 2, sizeof *b->extra_fds);
	if (!b->extra_fds)
		return iso_step_error(b, -ENOMEM, DEV, NULL, "%m");
	for (size_t k = 0; k < DEVICES; k++) {
		r = take_device(b, k);
		if (r < 0)
			return r;
	}
	fd = make_pts();
	if (fd >= 0) {
		b->extra_fds[b->extra_count++] = fd;
		fd = iso_storage_tmpfs(&shm);
	}
	if (fd >= 0) {
		b->extra_fds[b->extra_count++] = fd;
		fd = iso_storage_tmpfs(&fs);
	}
	if (fd < 0)
		return iso_step_error(b, fd, DEV, NULL, "cannot make /dev: %m");
	b->places[tree].fd = fd;
	b->places[tree].own = true;
	r = make_entries(b, fd);
	return r < 0 ? iso_step_error(b, r, DEV, NULL, "cannot make /dev: %m") : 0;
}
