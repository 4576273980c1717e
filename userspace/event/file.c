/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "event/paths.h"

#define RESERVE	  (256u * 1024) /* of the queue, for lines that must not be lost */
#define LINE_ROOM (16u * 1024)	/* more than any line takes */
#define PATIENCE  1000		/* ms, where nobody waits for us */

/*
 * A writer that died in the middle of a line leaves a tail without a newline. It was never a
 * record; it is cut off, so that what follows starts a line. Only under the lock.
 */
static int cut_torn_tail(int fd)
{
	char block[4096];
	struct stat st;
	off_t end;

	if (fstat(fd, &st) < 0)
		return -errno;
	for (end = st.st_size; end > 0;) {
		size_t n = end < (off_t)sizeof block ? (size_t)end : sizeof block;
		ssize_t r = pread(fd, block, n, end - (off_t)n);
		char *newline;

		if (r < 0)
			return -errno;
		if ((size_t)r != n)
			return -EIO;
		newline = memrchr(block, '\n', n);
		if (newline) {
			end -= (off_t)n - (newline + 1 - block);
			break;
		}
		end -= (off_t)n;
	}
	if (end == st.st_size)
		return 0;
	return ftruncate(fd, end) < 0 ? -errno : 0;
}

static int reopen(struct iso_file *f)
{
	int r;

	iso_close_fd(&f->fd);
	f->fd = openat(f->dir_fd, ISO_EVENTS_FILE,
		       O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (f->fd < 0)
		return -errno;
	r = cut_torn_tail(f->fd);
	if (r < 0)
		iso_close_fd(&f->fd);
	return r;
}

/* Is the file that is open still the one of that name? */
static int follow_name(struct iso_file *f)
{
	struct stat named, open;

	if (f->fd >= 0 && !fstatat(f->dir_fd, ISO_EVENTS_FILE, &named, AT_SYMLINK_NOFOLLOW) &&
	    !fstat(f->fd, &open) && named.st_ino == open.st_ino && named.st_dev == open.st_dev)
		return 0;
	return reopen(f);
}

static int rotate(struct iso_file *f)
{
	char from[ISO_EVENTS_NAME], to[ISO_EVENTS_NAME];
	int r;

	for (unsigned i = f->rotate_keep; i-- > 0;) {
		if (renameat(f->dir_fd, iso_events_name(from, i), f->dir_fd,
			     iso_events_name(to, i + 1)) < 0 &&
		    errno != ENOENT)
			return -errno;
	}
	if (fdatasync(f->fd) < 0)
		f->fsync_failures++;
	f->rotations++;
	r = reopen(f);
	fsync(f->dir_fd);
	return r;
}

static int open_directory(struct iso_file *f)
{
	iso_close_fd(&f->dir_fd);
	iso_close_fd(&f->lock_fd);
	iso_close_fd(&f->fd);
	if (mkdir(f->directory, 0750) < 0 && errno != EEXIST)
		return -errno;
	f->dir_fd = open(f->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir_fd < 0)
		return -errno;
	f->lock_fd = openat(f->dir_fd, ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return f->lock_fd < 0 ? -errno : 0;
}

/* The directory itself may have been moved or removed under us. */
static int ready(struct iso_file *f)
{
	struct stat named, open;
	int r;

	if (f->dir_fd < 0 || stat(f->directory, &named) < 0 || fstat(f->dir_fd, &open) < 0 ||
	    named.st_ino != open.st_ino || named.st_dev != open.st_dev) {
		r = open_directory(f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Another writer holds it for the length of a write, or of a rotation. -EBUSY: for longer. */
static int take_lock(const struct iso_file *f, int patience_ms)
{
	for (;; patience_ms--) {
		if (!flock(f->lock_fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (patience_ms <= 0)
			return -EBUSY;
		usleep(1000);
	}
}

int iso_file_open(struct iso_file *f, const char *directory, struct iso_error *e)
{
	int r;

	f->dir_fd = f->fd = f->lock_fd = -1;
	f->directory = strdup(directory);
	if (!f->directory)
		return iso_error_set(e, -ENOMEM, "events", NULL, "no memory");
	r = open_directory(f);
	if (r == 0)
		r = take_lock(f, PATIENCE);
	if (r == 0) {
		r = follow_name(f);
		flock(f->lock_fd, LOCK_UN);
	}
	if (r < 0) {
		iso_file_close(f);
		return iso_error_set(
			e, r, "events", "make it writable for root, or give isod another directory",
			"cannot write events to %s/%s: %m", directory, ISO_EVENTS_FILE);
	}
	fsync(f->dir_fd);
	return 0;
}

void iso_file_close(struct iso_file *f)
{
	iso_close_fd(&f->fd);
	iso_close_fd(&f->lock_fd);
	iso_close_fd(&f->dir_fd);
	free(f->directory);
	free(f->queue);
	f->directory = f->queue = NULL;
	f->used = f->room = 0;
}

bool iso_file_has_room(const struct iso_file *f, bool must)
{
	return f->used + LINE_ROOM <= f->limit + (must ? RESERVE : 0);
}

int iso_file_put(struct iso_file *f, const char *line, size_t n)
{
	if (f->room - f->used < n + 1) {
		size_t room = (f->used + n + 1) * 2;
		char *more = realloc(f->queue, room);

		if (!more)
			return -ENOMEM;
		f->queue = more;
		f->room = room;
	}
	memcpy(f->queue + f->used, line, n);
	f->queue[f->used + n] = '\n';
	f->used += n + 1;
	return 0;
}

static void drop_front(struct iso_file *f, size_t n)
{
	memmove(f->queue, f->queue + n, f->used - n);
	f->used -= n;
}

/*
 * Appends queue[0..n), whole lines. What a short write leaves of a line is taken back; where even
 * that fails, the file is closed, and opening it again cuts the tail off.
 */
static int append(struct iso_file *f, size_t n)
{
	struct stat st;
	ssize_t w;
	size_t whole;
	char *newline;
	int r = 0;

	if (fstat(f->fd, &st) < 0)
		return -errno;
	do
		w = write(f->fd, f->queue, n);
	while (w < 0 && errno == EINTR);
	if (w < 0)
		return -errno;
	f->dirty = f->dirty || w > 0;
	newline = memrchr(f->queue, '\n', (size_t)w);
	whole = newline ? (size_t)(newline + 1 - f->queue) : 0;
	if (whole != (size_t)w && ftruncate(f->fd, st.st_size + (off_t)whole) < 0) {
		r = -errno;
		iso_close_fd(&f->fd);
	}
	for (size_t i = 0; i < whole; i++)
		f->written += f->queue[i] == '\n';
	drop_front(f, whole);
	/* A short write has a reason that the next one will name: ENOSPC, EFBIG, EDQUOT. */
	return r < 0 ? r : whole == n ? 0 : whole ? -EAGAIN : -ENOSPC;
}

static int write_batch(struct iso_file *f)
{
	struct stat st;
	size_t n = f->used;
	int r = follow_name(f);

	if (r < 0)
		return r;
	if (fstat(f->fd, &st) < 0)
		return -errno;
	if (st.st_size > 0 && (uint64_t)st.st_size + n > f->rotate_bytes) {
		r = rotate(f);
		if (r < 0)
			return r;
		st.st_size = 0;
	}
	/* A queue that has grown beyond a whole file goes out in files of that size. */
	if (n > f->rotate_bytes) {
		char *newline = memrchr(f->queue, '\n', f->rotate_bytes);

		if (!newline)
			newline = memchr(f->queue, '\n', n);
		n = (size_t)(newline + 1 - f->queue);
	}
	return append(f, n);
}

int iso_file_flush(struct iso_file *f, int patience_ms)
{
	int r = 0;

	while (f->used && (r == 0 || r == -EAGAIN)) {
		r = ready(f);
		if (r == 0)
			r = take_lock(f, patience_ms);
		if (r == 0) {
			r = write_batch(f);
			flock(f->lock_fd, LOCK_UN);
		}
	}
	/* Another writer's turn is no failure; the line goes out at the next try. */
	if (r < 0 && r != -EBUSY)
		f->write_failures++;
	if (r != -EBUSY)
		f->error = r;
	return r;
}

int iso_file_sync(struct iso_file *f)
{
	if (!f->dirty || f->fd < 0)
		return 0;
	if (fdatasync(f->fd) < 0) {
		f->fsync_failures++;
		f->error = -errno;
		return f->error;
	}
	f->dirty = false;
	return 0;
}
