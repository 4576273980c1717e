/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/read.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "event/paths.h"

struct iso_reader {
	int dir_fd; /* -1: a single file */
	int fd;	    /* -1: no file yet */
	int inotify_fd;
	char *data;
	size_t start, used, room; /* data[start..used) has been read and not handed out */
};

static int open_rotated(const struct iso_reader *r, unsigned n)
{
	char name[ISO_EVENTS_NAME];
	int fd = openat(r->dir_fd, iso_events_name(name, n),
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* The file that comes after the one that is read; -ENOENT: none does. */
static int next_file(const struct iso_reader *r)
{
	char name[ISO_EVENTS_NAME];
	struct stat now, st;
	unsigned n;

	if (r->fd >= 0 && fstat(r->fd, &now) < 0)
		return -errno;
	for (n = 0; n <= ISO_EVENTS_ROTATED_MAX; n++) {
		if (fstatat(r->dir_fd, iso_events_name(name, n), &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno != ENOENT)
				return -errno;
			if (n)
				break;
			continue;
		}
		if (r->fd >= 0 && st.st_ino == now.st_ino && st.st_dev == now.st_dev)
			break;
	}
	/* n: ours, or one beyond the oldest when ours has been rotated away. */
	return n == 0 ? -ENOENT : open_rotated(r, n - 1);
}

static int explain(int r, const char *where, struct iso_error *e)
{
	if (r == -ENOENT)
		return iso_error_set(e, r, "events",
				     "run something with `isoctl seal` first, or name the place "
				     "with --dir DIR",
				     "there are no events at %s", where);
	if (r == -EACCES || r == -EPERM)
		return iso_error_set(e, r, "events", "run it as root: sudo isoctl events",
				     "you may not read the events at %s", where);
	return iso_error_set(e, r, "events", NULL, "cannot read the events at %s: %m", where);
}

static int open_all(struct iso_reader *r, const char *directory, bool follow)
{
	int fd;

	r->dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dir_fd < 0)
		return -errno;
	if (follow) {
		/* Before the first look, so that nothing falls between look and watch. */
		r->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
		if (r->inotify_fd < 0 || inotify_add_watch(r->inotify_fd, directory,
							   IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
			return -errno;
	}
	fd = next_file(r);
	if (fd < 0)
		return fd == -ENOENT && follow ? 0 : fd;
	r->fd = fd;
	return 0;
}

int iso_reader_open(const char *directory, const char *path, bool follow, struct iso_reader **ret,
		    struct iso_error *e)
{
	const char *where = directory ? directory : path;
	struct iso_reader *r = calloc(1, sizeof *r);
	char shown[256];
	int result = 0;

	if (!r)
		return iso_error_set(e, -ENOMEM, "events", NULL, "no memory");
	r->dir_fd = r->fd = r->inotify_fd = -1;
	if (directory) {
		result = open_all(r, directory, follow);
	} else {
		r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		result = r->fd < 0 ? -errno : 0;
	}
	if (result < 0) {
		iso_reader_close(r);
		return explain(result, iso_text_escape(where, strlen(where), shown, sizeof shown),
			       e);
	}
	*ret = r;
	return 0;
}

void iso_reader_close(struct iso_reader *r)
{
	if (!r)
		return;
	iso_close_fd(&r->fd);
	iso_close_fd(&r->dir_fd);
	iso_close_fd(&r->inotify_fd);
	free(r->data);
	free(r);
}

/* Reads more behind what is there. 0: end of this file. */
static int fill(struct iso_reader *r)
{
	ssize_t n;

	if (r->start) {
		memmove(r->data, r->data + r->start, r->used - r->start);
		r->used -= r->start;
		r->start = 0;
	}
	if (r->used == r->room) {
		size_t room = r->room ? r->room * 2 : 64 * 1024;
		char *more = realloc(r->data, room);

		if (!more)
			return -ENOMEM;
		r->data = more;
		r->room = room;
	}
	do
		n = read(r->fd, r->data + r->used, r->room - r->used);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->used += (size_t)n;
	return n > 0;
}

/*
 * At the end of a file, goes on to the next one. Nobody writes to a file any more once it has been
 * rotated; so when there is a next one, and then nothing more in this one, this one is done.
 */
static int advance(struct iso_reader *r)
{
	int fd, more;

	if (r->dir_fd < 0)
		return 0;
	fd = next_file(r);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	more = r->fd < 0 ? 0 : fill(r);
	if (more) {
		close(fd);
		return more;
	}
	iso_close_fd(&r->fd);
	r->fd = fd;
	r->start = r->used = 0; /* a torn tail: no record */
	return 1;
}

int iso_reader_next(struct iso_reader *r, const char **line, size_t *n)
{
	for (;;) {
		char *from = r->data + r->start;
		char *end = r->used > r->start ? memchr(from, '\n', r->used - r->start) : NULL;
		int more;

		if (end || r->used - r->start >= ISO_LINE_MAX) {
			*line = from;
			*n = end ? (size_t)(end - from) : r->used - r->start;
			r->start += *n + (end != NULL);
			return 1;
		}
		more = r->fd < 0 ? 0 : fill(r);
		if (more == 0)
			more = advance(r);
		if (more <= 0)
			return more;
	}
}

int iso_reader_rest(struct iso_reader *r, const char **line, size_t *n)
{
	if (r->used == r->start)
		return 0;
	*line = r->data + r->start;
	*n = r->used - r->start;
	r->start = r->used;
	return 1;
}

int iso_reader_wait(struct iso_reader *r, int timeout_ms)
{
	struct pollfd p = {.fd = r->inotify_fd, .events = POLLIN};
	char events[4096];

	if (poll(&p, 1, timeout_ms) < 0)
		return -errno;
	while (read(r->inotify_fd, events, sizeof events) > 0)
		;
	return 0;
}
