/* SPDX-License-Identifier: BSD-2-Clause */
/* The parent's side of a snapshot: forks the helpers into the sandbox's cgroup and hears them. */
#include "sandbox/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "sandbox/internal.h"
#include "sandbox/raw.h"
#include "sandbox/seccomp.h"

static const struct {
	bool retryable;
	const char *sentence, *remedy;
} faults[] = {[ISO_COPY_DONE] = {false, "", NULL},
#define ROW(name, retryable, sentence, remedy) [ISO_COPY_##name] = {retryable, sentence, remedy},
	      ISO_COPY_FAULTS(ROW)
#undef ROW
};

static int say_fault(struct iso_build *b, const struct iso_input *in, enum iso_step step,
		     const struct iso_copy_report *report)
{
	int r = report->error ? -report->error : -EINVAL;
	char path[300], sentence[128];

	if (report->fault >= ISO_COPY_FAULT_MAX)
		return iso_error_set(b->e, -EPROTO, iso_step_word(step), NULL,
				     "the copying helper of %s answered nonsense", in->target);
	iso_text_escape(report->path, strnlen(report->path, sizeof report->path), path,
			sizeof path);
	errno = -r;
	snprintf(sentence, sizeof sentence, "%s", faults[report->fault].sentence);
	/* %m of the row */
	if (strstr(sentence, "%m"))
		snprintf(strstr(sentence, "%m"), 64, "%s", strerror(-r));
	iso_error_set(b->e, r, iso_step_word(step), faults[report->fault].remedy,
		      "input %s: %s%s%s", in->target, *path ? path : "it", *path ? ": " : " ",
		      sentence);
	if (b->e)
		b->e->retryable = faults[report->fault].retryable;
	return r;
}

/* The helper said nothing: how did it end? */
static int say_death(struct iso_build *b, const struct iso_input *in, enum iso_step step,
		     int status)
{
	if ((status & 0x7f) == SIGKILL)
		return iso_error_set(b->e, -ENOMEM, iso_step_word(step),
				     "raise /process/limits/memory",
				     "input %s does not fit into memory", in->target);
	return iso_error_set(b->e, -EIO, iso_step_word(step), NULL,
			     "the copying helper of %s ended with status %d", in->target, status);
}

static int hear(struct iso_build *b, const struct iso_input *in, enum iso_step step, int pipe_fd,
		int pidfd, struct iso_copy_report *report)
{
	/* its end, not the pipe's: a helper forked beside it may hold the write end for a while */
	int status = 0, r = iso_build_wait(b, pidfd, POLLIN);
	ssize_t n;

	if (r < 0) {
		iso_pidfd_kill(pidfd, SIGKILL);
		iso_reap(pidfd, -1, NULL);
		return iso_error_set(b->e, r, iso_step_word(step), NULL,
				     "%m while input %s was copied", in->target);
	}
	n = read(pipe_fd, report, sizeof *report);
	r = iso_reap(pidfd, -1, &status);
	if (n != (ssize_t)sizeof *report)
		return say_death(b, in, step, status);
	if (r < 0)
		return iso_error_set(b->e, r, iso_step_word(step), NULL,
				     "cannot wait for the copying helper: %m");
	return report->fault == ISO_COPY_DONE ? 0 : say_fault(b, in, step, report);
}

static int run_helper(struct iso_build *b, struct iso_copy_job *job, enum iso_step step,
		      void (*helper)(struct iso_copy_job *))
{
	ISO_AUTO_CLOSE int in = -1;
	ISO_AUTO_CLOSE int pidfd = -1;
	int pipe_fds[2];
	struct iso_clone_args args = {
		.flags = CLONE_PIDFD | CLONE_INTO_CGROUP | CLONE_CLEAR_SIGHAND,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.cgroup = (uint64_t)b->h->cgroup_fd,
	};
	struct iso_copy_report report;
	long pid;

	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return iso_error_set(b->e, -errno, iso_step_word(step), NULL, "no pipe: %m");
	in = pipe_fds[0];
	job->report = pipe_fds[1];
	pid = iso_clone3(&args);
	if (pid == 0)
		helper(job);
	close(pipe_fds[1]);
	if (pid < 0)
		return iso_error_set(b->e, (int)pid, iso_step_word(step), NULL,
				     "cannot fork the copying helper: %m");
	return hear(b, job->input, step, in, pidfd, &report);
}

static int for_inputs(struct iso_build *b, enum iso_step step,
		      int (*run)(struct iso_build *, struct iso_copy_job *, size_t))
{
	const struct iso_policy *p = b->q->policy;
	struct iso_seccomp_program filter;
	int r = iso_seccomp_helper(&filter);

	if (r < 0)
		return iso_error_set(b->e, r, iso_step_word(step), NULL,
				     "cannot make the helper's system call filter: %m");
	for (size_t i = 0; r == 0 && i < p->tree_count; i++) {
		struct iso_copy_job job = {
			.target = b->places[i].fd,
			.filter = filter.code,
			.filter_length = filter.length,
		};

		if (p->trees[i].kind != ISO_TREE_INPUT)
			continue;
		job.input = &b->q->manifest->filesystem.inputs[p->trees[i].index];
		job.work = mmap(NULL, sizeof *job.work, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (job.work == MAP_FAILED) {
			r = iso_error_set(b->e, -errno, iso_step_word(step), NULL, "%m");
			break;
		}
		r = run(b, &job, i);
		munmap(job.work, sizeof *job.work);
	}
	iso_seccomp_free(&filter);
	return r;
}

static int copy_one(struct iso_build *b, struct iso_copy_job *job, size_t tree)
{
	size_t index = b->q->policy->trees[tree].index;
	int fd = b->q->input_fds[index], flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return iso_step_error(b, -errno, SNAPSHOT, NULL, "no descriptor for %s: %m",
				      job->input->source);
	if (!S_ISDIR(st.st_mode))
		return iso_step_error(b, -ENOTDIR, SNAPSHOT, NULL, "%s is not a directory",
				      job->input->source);
	if (flags & O_PATH || (flags & O_ACCMODE) != O_RDONLY)
		return iso_step_error(b, -EACCES, SNAPSHOT, NULL,
				      "the descriptor of %s was not opened for reading",
				      job->input->source);
	job->source = fd;
	job->uid = b->q->caller.uid;
	job->gid = b->q->caller.gid;
	job->groups = b->q->caller.groups;
	job->group_count = b->q->caller.group_count;
	return run_helper(b, job, ISO_STEP_SNAPSHOT, iso_snapshot_copier);
}

static int own_one(struct iso_build *b, struct iso_copy_job *job, size_t tree)
{
	int r;

	job->uid = b->h->base + ISO_TASK_ID;
	job->gid = b->h->base + ISO_TASK_ID;
	r = run_helper(b, job, ISO_STEP_OWNER, iso_snapshot_owner);
	if (r < 0 || b->q->policy->trees[tree].writable)
		return r;
	r = iso_mount_attr(job->target, 0, MOUNT_ATTR_RDONLY, 0, 0);
	return r < 0 ? iso_step_error(b, r, OWNER, NULL, "cannot make %s read-only: %m",
				      job->input->target)
		     : 0;
}

int iso_snapshot_copy(struct iso_build *b)
{
	ISO_FAULT_POINT(b, SNAPSHOT);
	return for_inputs(b, ISO_STEP_SNAPSHOT, copy_one);
}

int iso_snapshot_own(struct iso_build *b)
{
	ISO_FAULT_POINT(b, OWNER);
	return for_inputs(b, ISO_STEP_OWNER, own_one);
}
