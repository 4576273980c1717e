/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "sandbox/raw.h"

static int open_path(const struct iso_build *b, const char *path, bool follow)
{
	return iso_openat2(
		b->root_fd, path[1] ? path + 1 : ".", O_PATH | (follow ? 0 : O_NOFOLLOW), 0,
		RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (follow ? 0 : RESOLVE_NO_SYMLINKS));
}

static bool in_host_tree(const struct iso_build *b, const char *path)
{
	const struct iso_policy *p = b->q->policy;
	size_t k = iso_storage_container(p, p->tree_count, path);

	return k != SIZE_MAX && p->trees[k].kind == ISO_TREE_HOST;
}

static bool on_own_storage(const struct iso_build *b, const struct stat *st)
{
	for (size_t i = 0; i < b->q->policy->tree_count; i++)
		if (b->places[i].own && b->places[i].device == st->st_dev)
			return true;
	return false;
}

static int open_existing(const struct iso_build *b, const struct iso_policy_rule *rule)
{
	int fd = open_path(b, rule->path, false);
	struct stat st;

	if (rule->kind == ISO_RULE_TREE || !in_host_tree(b, rule->path))
		return fd;
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISLNK(st.st_mode)))
		return fd;
	if (fd >= 0)
		close(fd);
	else if (fd != -ELOOP)
		return fd;
	fd = open_path(b, rule->path, true);
	if (fd >= 0 && (fstat(fd, &st) < 0 || on_own_storage(b, &st))) {
		close(fd);
		return -ELOOP;
	}
	return fd;
}

/*
 * The deepest directory on the way to `path` that exists, and the name below it that does not. A
 * file in the middle of the way is itself the name: it could give way to a directory.
 */
static int open_parent(const struct iso_build *b, const char *path, struct iso_object_at *o)
{
	char text[PATH_MAX], *slash;
	size_t n = strlen(path);
	struct stat st;
	int fd;

	if (n >= sizeof text)
		return -ENAMETOOLONG;
	memcpy(text, path, n + 1);
	for (;;) {
		slash = strrchr(text, '/');
		if (!slash || !slash[1] || strlen(slash + 1) >= sizeof o->name)
			return -EINVAL;
		memcpy(o->name, slash + 1, strlen(slash + 1) + 1);
		slash[slash == text ? 1 : 0] = '\0';
		fd = open_path(b, text, false);
		if (fd == -ENOENT || fd == -ENOTDIR)
			continue;
		if (fd < 0)
			return fd;
		if (fstat(fd, &st) < 0) {
			close(fd);
			return -EIO;
		}
		if (S_ISDIR(st.st_mode))
			return fd;
		close(fd);
		if (S_ISLNK(st.st_mode))
			return -ELOOP;
	}
}

static int open_name(const struct iso_build *b, const struct iso_policy_rule *rule,
		     struct iso_object_at *o)
{
	char path[PATH_MAX];
	int fd, n;

	n = snprintf(path, sizeof path, "%s/%s", rule->path[1] ? rule->path : "", rule->name);
	if (n < 0 || n >= (int)sizeof path)
		return -ENAMETOOLONG;
	fd = open_parent(b, path, o);
	if (fd >= 0)
		o->missing = true;
	return fd;
}

int iso_object_open(const struct iso_build *b, const struct iso_policy_rule *rule,
		    struct iso_object_at *ret)
{
	bool may_be_missing = rule->may_be_missing || rule->kind == ISO_RULE_HELD;
	struct iso_object_at o = {.fd = -1};
	struct stat st;

	if (rule->kind == ISO_RULE_NAME) {
		o.fd = open_name(b, rule, &o);
	} else {
		o.fd = open_existing(b, rule);
		if ((o.fd == -ENOENT || o.fd == -ENOTDIR) && may_be_missing) {
			o.missing = true;
			o.fd = open_parent(b, rule->path, &o);
		}
	}
	if (o.fd < 0)
		return o.fd;
	if (fstat(o.fd, &st) < 0) {
		close(o.fd);
		return -EIO;
	}
	o.device = st.st_dev;
	o.inode = st.st_ino;
	*ret = o;
	return 0;
}

int iso_object_exists(const struct iso_build *b, const char *path)
{
	ISO_AUTO_CLOSE int fd = open_path(b, path, false);

	if (fd == -ELOOP)
		fd = open_path(b, path, true);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	return fd < 0 ? fd : 1;
}
