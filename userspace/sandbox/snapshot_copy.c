/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies an input with the caller's rights: regular files with their holes, directories, and
 * symbolic links that stay inside. Modes and times are kept (git does not see a change); setgid
 * and sticky bits of directories are not. Hard links become files of their own, so that nothing in
 * the copy is an alias of a protected file. The source is never followed out of: every open is
 * beneath the directory that the caller opened, without links, and what was opened is compared with
 * what was looked at.
 */
#include "sandbox/snapshot.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <linux/capability.h>

#include "sandbox/raw.h"

static void fail_write(struct iso_copy_job *job, bool making)
{
	if (errno == ENOSPC)
		iso_copy_fail(job, making ? ISO_COPY_INODES : ISO_COPY_SIZE, errno);
	iso_copy_fail(job, ISO_COPY_WRITE, errno);
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* An entry that is gone since it was listed has changed; the rest cannot be read. */
static void fail_open(struct iso_copy_job *job, int error)
{
	if (error == ENOENT || error == ELOOP || error == ENOTDIR || error == EAGAIN)
		iso_copy_fail(job, ISO_COPY_CHANGED, error);
	iso_copy_fail(job, ISO_COPY_READ, error);
}

static int open_same(struct iso_copy_job *job, int dir, const char *name, const struct stat *st,
		     uint64_t flags)
{
	int fd = iso_openat2(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | flags, 0,
			     ISO_RESOLVE_BENEATH);
	struct stat now;

	if (fd < 0)
		fail_open(job, -fd);
	if (fstat(fd, &now) < 0)
		iso_copy_fail(job, ISO_COPY_READ, errno);
	if (!same(st, &now) || st->st_mode != now.st_mode)
		iso_copy_fail(job, ISO_COPY_CHANGED, 0);
	return fd;
}

static void copy_block(struct iso_copy_job *job, int in, int out, size_t n)
{
	ssize_t r = read(in, job->work->block, n < ISO_COPY_BLOCK_SIZE ? n : ISO_COPY_BLOCK_SIZE);

	if (r == 0)
		iso_copy_fail(job, ISO_COPY_CHANGED, 0);
	if (r < 0 && errno != EINTR)
		iso_copy_fail(job, ISO_COPY_READ, errno);
	for (ssize_t done = 0; done < r;) {
		ssize_t w = write(out, job->work->block + done, (size_t)(r - done));

		if (w < 0 && errno != EINTR)
			fail_write(job, false);
		done += w > 0 ? w : 0;
	}
}

/* Both descriptors stand at the extent's beginning. */
static void copy_extent(struct iso_copy_job *job, int in, int out, off_t size)
{
	while (size > 0) {
		off_t before = lseek(in, 0, SEEK_CUR), after;
		ssize_t n = sendfile(out, in, NULL, size < 1 << 30 ? (size_t)size : 1u << 30);

		if (n > 0) {
			size -= n;
			continue;
		}
		if (n == 0)
			iso_copy_fail(job, ISO_COPY_CHANGED, 0);
		if (errno == EINTR)
			continue;
		if (errno != EINVAL && errno != ENOSYS)
			fail_write(job, false);
		/* a file system without sendfile */
		copy_block(job, in, out, (size_t)size);
		after = lseek(in, 0, SEEK_CUR);
		size -= after - before;
	}
}

static void copy_sparse(struct iso_copy_job *job, int in, int out, off_t size)
{
	off_t at = 0;

	if (ftruncate(out, size) < 0)
		fail_write(job, false);
	while (at < size) {
		off_t data = lseek(in, at, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			return;
		hole = data < 0 ? -1 : lseek(in, data, SEEK_HOLE);
		if (data < 0 || hole < 0 || data >= size) {
			/* cannot say: all of it is data */
			data = at;
			hole = size;
		}
		if (hole > size)
			hole = size;
		if (lseek(in, data, SEEK_SET) < 0 || lseek(out, data, SEEK_SET) < 0)
			iso_copy_fail(job, ISO_COPY_READ, errno);
		copy_extent(job, in, out, hole - data);
		at = hole;
	}
}

static void set_times(struct iso_copy_job *job, int fd, const struct stat *st)
{
	const struct timespec t[2] = {st->st_mtim, st->st_mtim};

	if (futimens(fd, t) < 0)
		iso_copy_fail(job, ISO_COPY_WRITE, errno);
}

static void copy_file(struct iso_copy_job *job, const struct iso_copy_frame *f, const char *name,
		      const struct stat *st)
{
	int in = open_same(job, f->source, name, st, 0);
	int out = openat(f->target, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 st->st_mode & 0777);
	struct stat now;

	if (out < 0)
		fail_write(job, true);
	if ((off_t)st->st_blocks * 512 < st->st_size)
		copy_sparse(job, in, out, st->st_size);
	else
		copy_extent(job, in, out, st->st_size);
	if (fstat(in, &now) < 0)
		iso_copy_fail(job, ISO_COPY_READ, errno);
	if (!same(st, &now))
		iso_copy_fail(job, ISO_COPY_CHANGED, 0);
	set_times(job, out, st);
	close(in);
	close(out);
}

static void copy_link(struct iso_copy_job *job, const struct iso_copy_frame *f, const char *name,
		      const struct stat *st, unsigned depth)
{
	const struct timespec t[2] = {st->st_mtim, st->st_mtim};
	char *target = job->work->link;
	ssize_t n = readlinkat(f->source, name, target, sizeof job->work->link - 1);
	enum iso_copy_fault fault;

	if (n < 0)
		fail_open(job, errno);
	if (n == (ssize_t)sizeof job->work->link - 1)
		iso_copy_fail(job, ISO_COPY_LONG, 0);
	target[n] = '\0';
	fault = iso_copy_link_fault(target, depth);
	if (fault != ISO_COPY_DONE)
		iso_copy_fail(job, fault, 0);
	if (symlinkat(target, f->target, name) < 0)
		fail_write(job, true);
	if (utimensat(f->target, name, t, AT_SYMLINK_NOFOLLOW) < 0)
		iso_copy_fail(job, ISO_COPY_WRITE, errno);
}

/* Opens a source directory into the next frame and makes its copy. */
static void enter(struct iso_copy_job *job, unsigned depth, const char *name, const struct stat *st,
		  uint32_t path_length)
{
	struct iso_copy_frame *up = &job->work->frames[depth], *f = up + 1;

	if (depth + 1 >= ISO_COPY_DEPTH_MAX)
		iso_copy_fail(job, ISO_COPY_DEPTH, 0);
	f->source = open_same(job, up->source, name, st, O_DIRECTORY);
	/* ours to write until it is left; EEXIST: named twice in paths, or a parent of another */
	if (mkdirat(up->target, name, 0700) < 0 && errno != EEXIST)
		fail_write(job, true);
	f->target = openat(up->target, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->target < 0 || fchmod(f->target, 0700) < 0)
		iso_copy_fail(job, ISO_COPY_WRITE, errno);
	f->path_length = path_length;
	f->at = f->filled = 0;
	f->st = *st;
}

/* Gives the copied directory its mode and time, unless it is the copy's root (depth 0). */
static void leave(struct iso_copy_job *job, unsigned depth)
{
	struct iso_copy_frame *f = &job->work->frames[depth];
	struct stat now;

	job->work->report.path[f->path_length] = '\0';
	if (fstat(f->source, &now) < 0)
		iso_copy_fail(job, ISO_COPY_READ, errno);
	if (!same(&f->st, &now))
		iso_copy_fail(job, ISO_COPY_CHANGED, 0);
	if (fchmod(f->target, f->st.st_mode & 0777) < 0)
		iso_copy_fail(job, ISO_COPY_WRITE, errno);
	set_times(job, f->target, &f->st);
	if (depth == 0)
		return;
	close(f->source);
	close(f->target);
}

/* Looks at an entry; true: it is a directory, to be entered. */
static bool copy_entry(struct iso_copy_job *job, unsigned depth, const char *name, struct stat *st)
{
	struct iso_copy_frame *f = &job->work->frames[depth];

	if (fstatat(f->source, name, st, AT_SYMLINK_NOFOLLOW) < 0)
		fail_open(job, errno);
	if (iso_copy_secret(job->input, job->work->report.path))
		iso_copy_fail(job, ISO_COPY_SECRET, 0);
	job->work->report.entries++;
	switch (st->st_mode & S_IFMT) {
	case S_IFDIR:
		return true;
	case S_IFLNK:
		copy_link(job, f, name, st, depth);
		return false;
	case S_IFREG:
		if (st->st_mode & (S_ISUID | S_ISGID))
			iso_copy_fail(job, ISO_COPY_SETUID, 0);
		copy_file(job, f, name, st);
		return false;
	case S_IFIFO:
		iso_copy_fail(job, ISO_COPY_FIFO, 0);
	case S_IFSOCK:
		iso_copy_fail(job, ISO_COPY_SOCKET, 0);
	default:
		iso_copy_fail(job, ISO_COPY_DEVICE, 0);
	}
}

/* Everything below the directory of frame `base`. */
static void copy_tree(struct iso_copy_job *job, unsigned base)
{
	unsigned depth = base;

	for (;;) {
		struct iso_copy_frame *f = &job->work->frames[depth];
		const char *name = iso_copy_next(job, f, f->source);
		uint32_t length;
		struct stat st;

		if (!name) {
			leave(job, depth);
			if (depth-- == base)
				return;
			continue;
		}
		length = iso_copy_path(job, f->path_length, name);
		if (copy_entry(job, depth, name, &st))
			enter(job, depth++, name, &st, length);
	}
}

/* One entry of paths[]: the directories above it are made, it and what is below is copied. */
static void copy_path(struct iso_copy_job *job, const char *path)
{
	unsigned depth = 0;
	char name[256];

	for (;;) {
		struct iso_copy_frame *f = &job->work->frames[depth];
		size_t n = strcspn(path, "/");
		uint32_t length;
		struct stat st;

		if (n >= sizeof name)
			iso_copy_fail(job, ISO_COPY_MISSING, ENAMETOOLONG);
		memcpy(name, path, n);
		name[n] = '\0';
		length = iso_copy_path(job, f->path_length, name);
		if (fstatat(f->source, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			iso_copy_fail(job, ISO_COPY_MISSING, errno);
		if (path[n] && S_ISLNK(st.st_mode))
			iso_copy_fail(job, ISO_COPY_LINK_ON_WAY, 0);
		if (path[n] && !S_ISDIR(st.st_mode))
			iso_copy_fail(job, ISO_COPY_MISSING, ENOTDIR);
		if (path[n] || copy_entry(job, depth, name, &st))
			enter(job, depth++, name, &st, length);
		if (!path[n]) {
			if (S_ISDIR(st.st_mode))
				copy_tree(job, depth--);
			break;
		}
		path += n + 1;
	}
	while (depth)
		leave(job, depth--);
}

static void become_caller(struct iso_copy_job *job)
{
	const struct rlimit files = {2 * ISO_COPY_DEPTH_MAX + 64, 2 * ISO_COPY_DEPTH_MAX + 64};

	if (setrlimit(RLIMIT_NOFILE, &files) < 0 || setgroups(job->group_count, job->groups) < 0 ||
	    setresgid(job->gid, job->gid, job->gid) < 0 ||
	    setresuid(job->uid, job->uid, job->uid) < 0)
		iso_copy_fail(job, ISO_COPY_PREPARE, errno);
	/* what root may read by being root, a root caller may read */
	iso_copy_confine(job, job->uid == 0 ? 1u << CAP_DAC_READ_SEARCH : 0);
}

void iso_snapshot_copier(struct iso_copy_job *job)
{
	struct iso_copy_frame *root = &job->work->frames[0];

	umask(0);
	become_caller(job);
	/* descriptions of our own: a mount's descriptor is O_PATH, the caller's has a position */
	root->source = openat(job->source, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root->source < 0 || fstat(root->source, &root->st) < 0)
		iso_copy_fail(job, ISO_COPY_READ, errno);
	root->target = openat(job->target, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root->target < 0)
		iso_copy_fail(job, ISO_COPY_WRITE, errno);
	if (job->input->paths.count == 0) {
		copy_tree(job, 0);
		iso_copy_done(job);
	}
	for (size_t i = 0; i < job->input->paths.count; i++)
		copy_path(job, job->input->paths.items[i]);
	leave(job, 0);
	iso_copy_done(job);
}
