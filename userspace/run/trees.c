/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/trees.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/text.h"

#define STEP "open"

static int refuse(struct iso_failure *f, int r, const char *what, const char *path,
		  const char *remedy)
{
	char shown[256];

	iso_text_escape(path, strlen(path), shown, sizeof shown);
	return iso_failure_set(f, ISO_CLASS_SOURCE, r, STEP, remedy, "%s %s: %m", what, shown);
}

/* The object that was looked at, and no other, for reading. */
static int reopen(int path_fd, int flags)
{
	char name[32];
	int fd;

	snprintf(name, sizeof name, "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	return fd < 0 ? -errno : fd;
}

/* A link stays a link: it is shown as one, and where it leads is judged inside. */
static int open_host(const char *path, int *ret, struct iso_failure *f)
{
	ISO_AUTO_CLOSE int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return refuse(
			f, -errno, "host path", path,
			"take it out of /filesystem/root/host, or install what it belongs to");
	if (S_ISLNK(st.st_mode)) {
		*ret = iso_take_fd(&fd);
		return 0;
	}
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return refuse(f, -EINVAL, "host path is neither file nor directory nor link:", path,
			      "take it out of /filesystem/root/host");
	r = reopen(fd, S_ISDIR(st.st_mode) ? O_DIRECTORY : 0);
	if (r < 0)
		return refuse(f, r, "host path", path, "run isoctl as somebody who may read it");
	*ret = r;
	return 0;
}

static int open_input(const char *path, int *ret, struct iso_failure *f)
{
	ISO_AUTO_CLOSE int fd = open(path, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return refuse(
			f, -errno, "input", path,
			"name an existing directory (not a link to one) in /filesystem/inputs");
	r = reopen(fd, O_DIRECTORY);
	if (r < 0)
		return refuse(f, r, "input", path, "run isoctl as somebody who may read it");
	*ret = r;
	return 0;
}

static int open_all(const struct iso_policy *policy, struct iso_fds *fds, size_t *ret_host_count,
		    struct iso_failure *f)
{
	const struct iso_manifest *m = policy->manifest;
	int r;

	*ret_host_count = 0;
	for (size_t i = 0; i < policy->tree_count; i++) {
		const struct iso_tree *tree = &policy->trees[i];

		if (tree->kind != ISO_TREE_HOST)
			continue;
		if (fds->count == ISO_VARLINK_FDS_MAX)
			return -E2BIG;
		r = open_host(tree->path, &fds->fds[fds->count], f);
		if (r < 0)
			return r;
		fds->count++;
		++*ret_host_count;
	}
	for (size_t i = 0; i < m->filesystem.input_count; i++) {
		if (fds->count == ISO_VARLINK_FDS_MAX)
			return -E2BIG;
		r = open_input(m->filesystem.inputs[i].source, &fds->fds[fds->count], f);
		if (r < 0)
			return r;
		fds->count++;
	}
	return 0;
}

int iso_trees_open(const struct iso_policy *policy, struct iso_fds *ret, size_t *ret_host_count,
		   struct iso_failure *f)
{
	int r;

	ret->count = 0;
	r = open_all(policy, ret, ret_host_count, f);
	if (r == -E2BIG)
		iso_failure_set(f, ISO_CLASS_SOURCE, r, STEP,
				"name a directory above several host paths instead",
				"more than %d host paths and inputs", ISO_VARLINK_FDS_MAX);
	if (r < 0)
		iso_fds_close(ret);
	return r;
}

static int verify_one(int fd, const char *path, struct iso_failure *f)
{
	char name[32], real[PATH_MAX];
	ssize_t n;

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	n = readlink(name, real, sizeof real);
	if (n < 0)
		return refuse(f, -errno, "cannot tell where it lies:", path, "try again");
	if ((size_t)n == strlen(path) && !memcmp(real, path, (size_t)n))
		return 0;
	return refuse(f, -EXDEV, "a link is on the way, or something else was sent, for", path,
		      "name the real path: a ceiling bounds callers by path");
}

int iso_trees_verify(const struct iso_policy *policy, const int *fds, struct iso_failure *f)
{
	const struct iso_manifest *m = policy->manifest;
	size_t next = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < policy->tree_count; i++)
		if (policy->trees[i].kind == ISO_TREE_HOST)
			r = verify_one(fds[next++], policy->trees[i].path, f);
	for (size_t i = 0; r == 0 && i < m->filesystem.input_count; i++)
		r = verify_one(fds[next++], m->filesystem.inputs[i].source, f);
	return r;
}
