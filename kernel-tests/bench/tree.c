/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that are opened, in a tmpfs that only this process and its children see. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "common/cleanup.h"
#include "common/io.h"
#include "common/log.h"

const char *const iso_bench_places[ISO_BENCH_FEW] = {
	ISO_BENCH_TREE, ISO_BENCH_BIN, "/usr", "/etc", "/proc",
	"/sys",		"/dev",	       "/var", "/run", "/root",
};

#define PER_DIRECTORY 100u

const char *iso_bench_path(int depth)
{
	static char path[512];
	int n = snprintf(path, sizeof path, "%s", ISO_BENCH_TREE);

	for (int i = 1; i < depth; i++)
		n += snprintf(path + n, sizeof path - (size_t)n, "/d%02d", i);
	snprintf(path + n, sizeof path - (size_t)n, "/file");
	return path;
}

const char *iso_bench_many_path(unsigned int i)
{
	static char path[64];

	snprintf(path, sizeof path, ISO_BENCH_MANY "/%u/%u", i / PER_DIRECTORY, i % PER_DIRECTORY);
	return path;
}

static int make_file(const char *path)
{
	ISO_AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : iso_write_all(fd, "content\n", 8);
}

static int make_directory(const char *path)
{
	return mkdir(path, 0755) ? -errno : 0;
}

static int copy_program(const char *from, const char *to)
{
	ISO_AUTO_CLOSE int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ISO_AUTO_FREE char *data = NULL;
	size_t size;
	int r = iso_read_file(AT_FDCWD, from, 64u << 20, &data, &size);

	if (r)
		return r;
	return out < 0 ? -errno : iso_write_all(out, data, size);
}

static int make_many(unsigned int many)
{
	char directory[64];
	int r = make_directory(ISO_BENCH_MANY);

	for (unsigned int i = 0; i < many && !r; i++) {
		if (i % PER_DIRECTORY == 0) {
			snprintf(directory, sizeof directory, ISO_BENCH_MANY "/%u",
				 i / PER_DIRECTORY);
			r = make_directory(directory);
		}
		if (!r)
			r = make_file(iso_bench_many_path(i));
	}
	return r;
}

static int make_depths(void)
{
	char path[512];
	int n = snprintf(path, sizeof path, "%s", ISO_BENCH_TREE);
	int r = make_directory(path);

	for (int depth = 1; depth <= ISO_BENCH_DEPTH_MAX && !r; depth++) {
		r = make_file(iso_bench_path(depth));
		n += snprintf(path + n, sizeof path - (size_t)n, "/d%02d", depth);
		if (!r)
			r = make_directory(path);
	}
	return r;
}

static int make_programs(const char *here)
{
	char path[512];
	int r = make_directory(ISO_BENCH_BIN);

	if (!r)
		r = make_file(ISO_BENCH_BIN "/data");
	if (!r)
		r = copy_program("/proc/self/exe", ISO_BENCH_SELF);
	snprintf(path, sizeof path, "%s/iso-bench-true", here);
	return r ? r : copy_program(path, ISO_BENCH_TRUE);
}

static int raise_loopback(void)
{
	ISO_AUTO_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) ? -errno : 0;
}

int iso_bench_make_tree(const char *here, unsigned int many)
{
	int r;

	if (unshare(CLONE_NEWNS | CLONE_NEWNET) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("iso-bench", ISO_BENCH_ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"))
		return -errno;
	r = raise_loopback();
	if (!r)
		r = make_depths();
	if (!r)
		r = make_programs(here);
	return r ? r : make_many(many);
}
