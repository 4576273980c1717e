/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/sibling.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"

static const char *const places[] = {"", "../libexec/isoctl/", "../../libexec/isoctl/", "../sbin/",
				     "../bin/"};

static bool changeable(const struct stat *st)
{
	return st->st_uid != 0 || (st->st_mode & 022);
}

/* No easier to change than this program itself is. */
static int check(int fd, const char *path, struct iso_error *e)
{
	struct stat self, st;

	if (stat("/proc/self/exe", &self) < 0 || fstat(fd, &st) < 0)
		return iso_error_set(e, -errno, "program", NULL, "cannot look at %s: %m", path);
	if (!S_ISREG(st.st_mode) || !(st.st_mode & 0111))
		return iso_error_set(e, -EACCES, "program", "install isoctl again",
				     "%s is not a program", path);
	if (changeable(&st) && !(changeable(&self) && st.st_uid == self.st_uid &&
				 (st.st_mode & 022 & ~self.st_mode) == 0))
		return iso_error_set(e, -EPERM, "program", "chown root, chmod go-w",
				     "%s can be changed by others than root", path);
	return 0;
}

static int try_open(const char *path, int *ret, char *found, struct iso_error *e)
{
	ISO_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (fd < 0)
		return -ENOENT;
	r = check(fd, path, e);
	if (r < 0)
		return r;
	if (found)
		snprintf(found, ISO_SIBLING_PATH, "%s", path);
	*ret = iso_take_fd(&fd);
	return 0;
}

int iso_sibling_open(const char *name, int *ret, char *path, struct iso_error *e)
{
	char self[ISO_SIBLING_PATH], candidate[2 * ISO_SIBLING_PATH];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;
	int r;

	if (n < 0)
		return iso_error_set(e, -errno, "program", "mount /proc",
				     "cannot tell where this program lies: %m");
	self[n] = '\0';
	slash = strrchr(self, '/');
	slash[1] = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(candidate, sizeof candidate, "%s%s%s", self, places[i], name);
		r = try_open(candidate, ret, path, e);
		if (r != -ENOENT)
			return r;
	}
	snprintf(candidate, sizeof candidate, "%s../%s/%s", self, name, name);
	r = try_open(candidate, ret, path, e);
	if (r == -ENOENT)
		return iso_error_set(e, r, "program", "install isoctl again, or build it",
				     "%s is not beside this program (%s)", name, self);
	return r;
}
