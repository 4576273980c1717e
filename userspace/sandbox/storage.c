/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything of a sandbox that lives in memory: its root, its storage, and the mount points in
 * them. All are detached mounts until the first process moves them into place.
 */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "sandbox/raw.h"

/* The root holds directories and links alone, made before anything runs. */
#define ROOT_SIZE (1u << 20)

static int set_number(int fs, const char *key, uint64_t value)
{
	char text[32];

	/* the mode is the one that the kernel reads as octal */
	if (!strcmp(key, "mode"))
		snprintf(text, sizeof text, "0%" PRIo64, value);
	else
		snprintf(text, sizeof text, "%" PRIu64, value);
	return fsconfig(fs, FSCONFIG_SET_STRING, key, text, 0) < 0 ? -errno : 0;
}

int iso_storage_tmpfs(const struct iso_tmpfs *t)
{
	ISO_AUTO_CLOSE int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	int r, fd;

	if (fs < 0)
		return -errno;
	/* the kernel rounds the size up to whole pages; the root takes one inode of nr_inodes */
	r = set_number(fs, "size", t->size);
	if (r == 0)
		r = set_number(fs, "nr_inodes", t->inodes + 1);
	if (r == 0)
		r = set_number(fs, "mode", t->mode);
	if (r == 0)
		r = set_number(fs, "uid", t->uid);
	if (r == 0)
		r = set_number(fs, "gid", t->gid);
	if (r < 0)
		return r;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = fsmount(fs, FSMOUNT_CLOEXEC,
		     (unsigned)(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | t->attributes));
	return fd < 0 ? -errno : fd;
}

int iso_storage_file(int dirfd, const char *name, const char *text, uint32_t id)
{
	ISO_AUTO_CLOSE int fd =
		openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644) < 0 || fchown(fd, id, id) < 0)
		return -errno;
	return iso_write_all(fd, text, strlen(text));
}

const char *iso_path_below(const char *tree, const char *path)
{
	size_t n = strlen(tree);

	if (n == 1)
		return path + 1;
	if (strncmp(tree, path, n) || (path[n] && path[n] != '/'))
		return NULL;
	return path[n] ? path + n + 1 : path + n;
}

size_t iso_storage_container(const struct iso_policy *p, size_t before, const char *path)
{
	size_t best = SIZE_MAX, length = 0;

	for (size_t i = 0; i < before; i++) {
		const char *tree = p->trees[i].path;

		if (iso_path_below(tree, path) && strlen(tree) >= length) {
			best = i;
			length = strlen(tree);
		}
	}
	return best;
}

static int make_tmpfs(struct iso_build *b, struct iso_place *place, const struct iso_tmpfs *t,
		      const char *path)
{
	struct stat st;
	int fd = iso_storage_tmpfs(t);

	if (fd < 0)
		return iso_step_error(b, fd, STORAGE, NULL, "cannot make the storage of %s: %m",
				      path);
	place->fd = fd;
	place->own = true;
	if (fstat(fd, &st) < 0)
		return iso_step_error(b, -errno, STORAGE, NULL,
				      "cannot look at the storage of %s: %m", path);
	place->device = st.st_dev;
	return 0;
}

static uint64_t noexec(const struct iso_tree *t)
{
	return t->executable ? 0 : MOUNT_ATTR_NOEXEC;
}

static int make_input(struct iso_build *b, size_t i)
{
	const struct iso_tree *t = &b->q->policy->trees[i];
	const struct iso_input *in = &b->q->manifest->filesystem.inputs[t->index];
	/* the caller's until the copy is done */
	struct iso_tmpfs fs = {
		.size = in->size,
		.inodes = in->inodes,
		.uid = b->q->caller.uid,
		.gid = b->q->caller.gid,
		.mode = 0755,
		.attributes = noexec(t),
	};

	return make_tmpfs(b, &b->places[i], &fs, t->path);
}

static int make_scratch(struct iso_build *b, size_t i)
{
	const struct iso_tree *t = &b->q->policy->trees[i];
	const struct iso_scratch *s = &b->q->manifest->filesystem.scratch[t->index];
	bool shared = !strcmp(t->path, "/tmp") || !strcmp(t->path, "/var/tmp");
	struct iso_tmpfs fs = {
		.size = s->size,
		.inodes = s->inodes,
		.uid = b->h->base + ISO_TASK_ID,
		.gid = b->h->base + ISO_TASK_ID,
		.mode = shared ? 01777 : 0755, /* programs look for the sticky bit there */
		.attributes = noexec(t),
	};

	return make_tmpfs(b, &b->places[i], &fs, t->path);
}

static int make_root(struct iso_build *b)
{
	struct iso_tmpfs fs = {
		.size = ROOT_SIZE,
		.inodes = 1024 + 64 * b->q->policy->tree_count,
		.uid = b->h->base,
		.gid = b->h->base,
		.mode = 0755,
		.attributes = MOUNT_ATTR_NOEXEC,
	};

	int r;

	ISO_FAULT_POINT(b, ROOT);
	r = make_tmpfs(b, &b->root, &fs, "/");
	if (r < 0)
		return r;
	r = iso_storage_file(b->root.fd, ISO_MASK_FILE, "", b->h->base);
	if (r == 0 && mkdirat(b->root.fd, ISO_MASK_DIR, 0555) < 0)
		r = -errno;
	if (r == 0)
		b->mask_fd = r = iso_openat2(b->root.fd, ISO_MASK_FILE, O_PATH | O_NOFOLLOW, 0,
					     ISO_RESOLVE_BENEATH);
	return r < 0 ? iso_step_error(b, r, ROOT, NULL, "cannot make the covers of /proc: %m") : 0;
}

int iso_storage_make(struct iso_build *b)
{
	const struct iso_policy *p = b->q->policy;
	size_t host = 0;
	int r = make_root(b);

	if (r < 0)
		return r;
	for (size_t i = 0; i < p->tree_count; i++) {
		r = iso_build_alive(b);
		if (r < 0)
			return iso_step_error(b, r, STORAGE, NULL, "%m while storage was made");
		switch (p->trees[i].kind) {
		case ISO_TREE_HOST:
			r = iso_hosttree_open(b, i, b->q->host_fds[host++]);
			break;
		case ISO_TREE_INPUT:
			ISO_FAULT_POINT(b, STORAGE);
			r = make_input(b, i);
			break;
		case ISO_TREE_SCRATCH:
			r = make_scratch(b, i);
			break;
		case ISO_TREE_PROC:
			break;
		case ISO_TREE_DEV:
			r = iso_dev_make(b, i);
			break;
		case ISO_TREE_ETC:
			r = iso_etc_make(b, i);
			break;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Opens or makes a directory below own storage; what is made belongs to `id`. */
static int enter(int dir, const char *name, uint32_t id)
{
	int fd, made = mkdirat(dir, name, 0755);

	if (made < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (made == 0 && (fchmod(fd, 0755) < 0 || fchown(fd, id, id) < 0)) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

static int make_last(const struct iso_place *place, int dir, const char *name, uint32_t id)
{
	int r;

	if (place->link)
		return symlinkat(place->link, dir, name) < 0 ? -errno : 0;
	if (place->file) {
		r = iso_storage_file(dir, name, "", id);
		/* a file made by etc.c gives way to the host's */
		return r == -EEXIST ? 0 : r;
	}
	r = enter(dir, name, id);
	if (r >= 0)
		close(r);
	return r < 0 ? r : 0;
}

static int make_point(struct iso_build *b, size_t i)
{
	const struct iso_policy *p = b->q->policy;
	const char *path = p->trees[i].path;
	size_t k = iso_storage_container(p, i, path);
	const struct iso_place *in = k == SIZE_MAX ? &b->root : &b->places[k];
	bool task = k != SIZE_MAX &&
		    (p->trees[k].kind == ISO_TREE_INPUT || p->trees[k].kind == ISO_TREE_SCRATCH);
	uint32_t id = b->h->base + (task ? ISO_TASK_ID : 0);
	const char *rest = k == SIZE_MAX ? path + 1 : iso_path_below(p->trees[k].path, path);
	ISO_AUTO_CLOSE int dir = -1;
	char name[256];

	/* in a host tree the place is there already, or it cannot be made */
	if (!in->own || !*rest)
		return 0;
	dir = fcntl(in->fd, F_DUPFD_CLOEXEC, 3);
	if (dir < 0)
		return -errno;
	for (;;) {
		size_t n = strcspn(rest, "/");
		int next;

		if (n >= sizeof name)
			return -ENAMETOOLONG;
		memcpy(name, rest, n);
		name[n] = '\0';
		if (!rest[n])
			return make_last(&b->places[i], dir, name, id);
		next = enter(dir, name, id);
		if (next < 0)
			return next;
		close(dir);
		dir = next;
		rest += n + 1;
	}
}

int iso_storage_mount_points(struct iso_build *b)
{
	const struct iso_policy *p = b->q->policy;

	ISO_FAULT_POINT(b, MOUNT_POINT);
	for (size_t i = 0; i < p->tree_count; i++) {
		int r = make_point(b, i);

		if (r < 0)
			return iso_step_error(
				b, r, MOUNT_POINT,
				r == -ENOSPC ? "raise size or inodes of what it lies in" : NULL,
				"cannot make the place of %s: %m", p->trees[i].path);
	}
	return 0;
}
