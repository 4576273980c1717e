/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives the whole copy to the sandbox's user, and asks the kernel of each symbolic link whether it
 * leaves the copy, by whatever links in between. Root's, with the three capabilities that it takes;
 * it never follows a link and never opens anything but directories.
 */
#include "sandbox/snapshot.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/capability.h>

#include "sandbox/raw.h"

static void check_link(struct iso_copy_job *job)
{
	int fd = iso_openat2(job->target, job->work->report.path, O_PATH, 0,
			     RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);

	if (fd == -EXDEV)
		iso_copy_fail(job, ISO_COPY_LINK_OUTSIDE, 0);
	/* dangling and circular ones lead nowhere */
	if (fd >= 0)
		close(fd);
}

static void own_entry(struct iso_copy_job *job, int dir, const char *name, struct stat *st)
{
	if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchownat(dir, name, job->uid, job->gid, AT_SYMLINK_NOFOLLOW) < 0)
		iso_copy_fail(job, ISO_COPY_WRITE, errno);
	if (S_ISLNK(st->st_mode))
		check_link(job);
}

static void own_tree(struct iso_copy_job *job)
{
	unsigned depth = 0;

	for (;;) {
		struct iso_copy_frame *f = &job->work->frames[depth];
		const char *name = iso_copy_next(job, f, f->target);
		uint32_t length;
		struct stat st;

		if (!name) {
			if (depth == 0)
				return;
			close(f->target);
			depth--;
			continue;
		}
		length = iso_copy_path(job, f->path_length, name);
		own_entry(job, f->target, name, &st);
		if (!S_ISDIR(st.st_mode))
			continue;
		if (++depth >= ISO_COPY_DEPTH_MAX)
			iso_copy_fail(job, ISO_COPY_DEPTH, 0);
		f = &job->work->frames[depth];
		f->target =
			openat(f[-1].target, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (f->target < 0)
			iso_copy_fail(job, ISO_COPY_WRITE, errno);
		f->path_length = length;
		f->at = f->filled = 0;
	}
}

void iso_snapshot_owner(struct iso_copy_job *job)
{
	const struct rlimit files = {2 * ISO_COPY_DEPTH_MAX + 64, 2 * ISO_COPY_DEPTH_MAX + 64};
	struct iso_copy_frame *root = &job->work->frames[0];

	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		iso_copy_fail(job, ISO_COPY_PREPARE, errno);
	iso_copy_confine(job, 1u << CAP_CHOWN | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER);
	root->target = openat(job->target, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root->target < 0 || fchown(root->target, job->uid, job->gid) < 0)
		iso_copy_fail(job, ISO_COPY_WRITE, errno);
	own_tree(job);
	iso_copy_done(job);
}
