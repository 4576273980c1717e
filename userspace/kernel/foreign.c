/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs of others that the operator lets stand beside ours: a name and a tag a line. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "kernel/internal.h"

#define STEP	   "guard"
#define LIST_BYTES 65536

void iso_found_line(const struct iso_found *f, char out[64])
{
	char tag[2 * sizeof f->tag + 1];

	for (size_t i = 0; i < sizeof f->tag; i++)
		snprintf(tag + 2 * i, 3, "%02x", f->tag[i]);
	/* the kernel takes letters, digits, _ and . in a name */
	snprintf(out, 64, "%.16s %s", f->name[0] ? f->name : "-", tag);
}

bool iso_found_listed(const struct iso_found *f, const char *list)
{
	size_t n;
	char want[64];

	iso_found_line(f, want);
	n = strlen(want);
	for (const char *line = list; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, want, n) && (line[n] == '\n' || line[n] == '\0'))
			return true;
	}
	return false;
}

static int roots_own(int fd, const char *name, struct iso_error *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return iso_error_set(e, -errno, STEP, NULL, "cannot look at %s: %m", name);
	if (st.st_uid == 0 && !(st.st_mode & 022))
		return 0;
	return iso_error_set(e, -EPERM, STEP, "chown root: and chmod go-w, file and folder",
			     "%s can be written by others than root, so it lists nothing", name);
}

int iso_found_list(const char *path, char **ret, struct iso_error *e)
{
	ISO_AUTO_FREE char *folder = strdup(path);
	ISO_AUTO_CLOSE int dir = -1, fd = -1;
	char *slash = folder ? strrchr(folder, '/') : NULL;
	int r;

	*ret = NULL;
	if (!slash)
		return folder ? -EINVAL : -ENOMEM;
	*slash = '\0';
	dir = open(*folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		fd = openat(dir, slash + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0; /* nothing is listed */
	if (fd < 0)
		return iso_error_set(e, -errno, STEP, NULL, "cannot open %s: %m", path);
	r = roots_own(dir, folder, e);
	if (r == 0)
		r = roots_own(fd, path, e);
	if (r < 0)
		return r;
	r = iso_read_all(fd, LIST_BYTES, ret, NULL);
	return r < 0 ? iso_error_set(e, r, STEP, NULL, "cannot read %s: %m", path) : 0;
}
