/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "common/text.h"
#include "isoctl/seal.h"

#define STEP "result"

static int refuse(struct iso_failure *f, int r, const char *path, const char *what)
{
	char shown[256];

	return iso_failure_set(f, ISO_CLASS_RESULT_FILE, r, STEP,
			       "name a file in a directory that you may write to",
			       "result file %s: %s%m",
			       iso_text_escape(path, strlen(path), shown, sizeof shown), what);
}

/* A file without a name leaves nothing behind however this ends; some file systems have none. */
static int make_file(struct seal_file *file)
{
	file->fd = openat(file->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	if (file->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	snprintf(file->pending, sizeof file->pending, ".isoctl-result.%d", (int)getpid());
	file->fd = openat(file->directory, file->pending,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (file->fd >= 0)
		return 0;
	file->pending[0] = '\0';
	return -errno;
}

int seal_file_open(const char *path, struct seal_file *ret, struct iso_failure *f)
{
	ISO_AUTO_FREE char *first = strdup(path), *second = strdup(path);
	struct seal_file file = {.directory = -1, .fd = -1};
	const char *name;
	struct stat st;
	int r;

	if (!first || !second)
		return refuse(f, -ENOMEM, path, "");
	name = basename(first);
	if (strlen(name) >= sizeof file.name || !*path || path[strlen(path) - 1] == '/')
		return refuse(f, -EINVAL, path, "");
	memcpy(file.name, name, strlen(name) + 1);
	file.directory = open(dirname(second), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file.directory < 0)
		return refuse(f, -errno, path, "its directory: ");
	r = 0;
	/* It is replaced at the end: never a device, a pipe or where a link leads. */
	if (fstatat(file.directory, file.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISREG(st.st_mode))
		r = refuse(f, -EEXIST, path, "is no regular file: ");
	if (r == 0) {
		r = make_file(&file);
		if (r < 0)
			refuse(f, r, path, "");
	}
	if (r < 0) {
		iso_close_fd(&file.directory);
		return r;
	}
	*ret = file;
	return 0;
}

/* Gives a file without a name one, so that it can be renamed over what is there. */
static int give_name(struct seal_file *file)
{
	char link[64];

	if (file->pending[0])
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
	snprintf(file->pending, sizeof file->pending, ".isoctl-result.%d", (int)getpid());
	if (linkat(AT_FDCWD, link, file->directory, file->pending, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	file->pending[0] = '\0';
	return -errno;
}

int seal_file_commit(struct seal_file *file, json_t *document, struct iso_failure *f)
{
	ISO_AUTO_FREE char *text = json_dumps(document, JSON_INDENT(2));
	int r = text ? iso_write_all(file->fd, text, strlen(text)) : -ENOMEM;

	if (r == 0)
		r = iso_write_all(file->fd, "\n", 1);
	if (r == 0 && fsync(file->fd) < 0)
		r = -errno;
	if (r == 0)
		r = give_name(file);
	if (r == 0 && renameat(file->directory, file->pending, file->directory, file->name) < 0)
		r = -errno;
	if (r == 0) {
		file->pending[0] = '\0';
		if (fsync(file->directory) < 0 && errno != EINVAL)
			r = -errno;
	}
	if (r < 0)
		refuse(f, r, file->name, "");
	seal_file_abandon(file);
	return r;
}

void seal_file_abandon(struct seal_file *file)
{
	if (file->pending[0])
		unlinkat(file->directory, file->pending, 0);
	file->pending[0] = '\0';
	iso_close_fd(&file->fd);
	iso_close_fd(&file->directory);
}
