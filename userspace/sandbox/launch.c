/* SPDX-License-Identifier: BSD-2-Clause */
/* isod's side of the start: one clone3 into the cgroup, the id maps, and the wait for READY. */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "common/text.h"
#include "sandbox/raw.h"

#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

static int make_control(struct iso_build *b)
{
	int pair[2];

	ISO_FAULT_POINT(b, CONTROL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return iso_step_error(b, -errno, CONTROL, NULL, "no control socket: %m");
	b->h->control = pair[0];
	b->child_control = pair[1];
	return 0;
}

static int clone_first(struct iso_build *b, const struct iso_inside *in)
{
	struct iso_clone_args args = {
		.flags = NAMESPACES | CLONE_PIDFD | CLONE_INTO_CGROUP | CLONE_CLEAR_SIGHAND,
		.pidfd = (uint64_t)(uintptr_t)&b->h->pidfd,
		.cgroup = (uint64_t)b->h->cgroup_fd,
	};
	long pid;

	ISO_FAULT_POINT(b, CLONE);
	pid = iso_clone3(&args);
	if (pid == 0)
		iso_inside_run(in);
	/* isod's end of it is now the child's alone: EOF says that it is gone */
	iso_close_fd(&b->child_control);
	if (pid < 0)
		return iso_step_error(b, (int)pid, CLONE,
				      pid == -ENOSPC ? "raise user.max_user_namespaces"
						     : "see isoctl doctor",
				      "cannot start the first process in its namespaces: %m");
	b->h->pid = (pid_t)pid;
	return 0;
}

/*
 * The copying helpers are counted until the kernel has freed them. None may be left when the first
 * process is forked, or its label could not be told from theirs.
 */
static int wait_empty(struct iso_build *b)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct iso_sandbox answer = {0};
	int r;

	if (!b->q->kernel)
		return 0;
	for (;;) {
		r = iso_kernel_ask_sandbox(b->q->kernel, b->q->sandbox, &answer);
		if (r == 0)
			r = iso_build_alive(b);
		if (r < 0)
			return iso_step_error(b, r, LABEL, NULL,
					      "the kernel side still counts %llu tasks: %m",
					      (unsigned long long)answer.tasks);
		if (!answer.tasks)
			return 0;
		nanosleep(&pause, NULL);
	}
}

/* Before the first process does anything: does the kernel know whose it is? */
static int confirm_label(struct iso_build *b)
{
	int r = 0;

	ISO_FAULT_POINT(b, LABEL);
	if (b->q->kernel)
		r = iso_kernel_confirm(b->q->kernel, b->q->sandbox);
	return r < 0 ? iso_step_error(b, r, LABEL, NULL,
				      "the kernel side did not label the first process: %m")
		     : 0;
}

/* Hard limits that only root may raise; isoinit lowers them to what the manifest says. */
static int raise_limits(struct iso_build *b)
{
	struct rlimit l = {0}, core = {1, 1};
	char path[64];
	int r;

	ISO_FAULT_POINT(b, RLIMITS);
	getrlimit(RLIMIT_NOFILE, &l);
	if (l.rlim_max < b->q->manifest->process.limits.files)
		l.rlim_max = b->q->manifest->process.limits.files;
	l.rlim_cur = l.rlim_max;
	if (prlimit(b->h->pid, RLIMIT_NOFILE, &l, NULL) < 0)
		return iso_step_error(b, -errno, RLIMITS, "raise fs.nr_open",
				      "cannot allow %llu descriptors: %m",
				      (unsigned long long)l.rlim_max);
	if (prlimit(b->h->pid, RLIMIT_CORE, &core, NULL) < 0)
		return iso_step_error(b, -errno, RLIMITS, NULL, "cannot limit core dumps: %m");
	/* isod is protected from the memory killer; a sandbox that were too could never be ended by
	 * its own limit. */
	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)b->h->pid);
	r = iso_write_file(AT_FDCWD, path, "0");
	if (r < 0)
		return iso_step_error(b, r, RLIMITS, NULL, "cannot make it fit to be killed: %m");
	l.rlim_cur = l.rlim_max = RLIM_INFINITY;
	if (b->q->manifest->process.limits.file_size &&
	    prlimit(b->h->pid, RLIMIT_FSIZE, &l, NULL) < 0)
		return iso_step_error(b, -errno, RLIMITS, NULL, "cannot limit file sizes: %m");
	return 0;
}

/* setgroups stays allowed: isoinit, the only one with the capability, needs it to give groups up.
 */
static int write_ids(struct iso_build *b)
{
	ISO_AUTO_CLOSE int proc = -1;
	char text[64];
	int r;

	ISO_FAULT_POINT(b, IDS);
	/* not reaped by anyone but us, so the number is still its own */
	snprintf(text, sizeof text, "/proc/%d", (int)b->h->pid);
	proc = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return iso_step_error(b, -errno, IDS, NULL, "cannot open %s: %m", text);
	snprintf(text, sizeof text, "0 %u %u\n", b->h->base, ISO_SLOT_SIZE);
	r = iso_write_file(proc, "uid_map", text);
	if (r == 0)
		r = iso_write_file(proc, "gid_map", text);
	return r < 0 ? iso_step_error(b, r, IDS, NULL, "cannot map the ids of the slot: %m") : 0;
}

static int send_go(const struct iso_sandbox_handle *h)
{
	const struct iso_wire w = {.magic = ISO_WIRE_MAGIC, .kind = ISO_WIRE_GO};

	return send(h->control, &w, sizeof w, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* One message, with at most one descriptor; 0 on EOF, 1. */
static int receive(struct iso_build *b, struct iso_wire *w, int *ret_fd)
{
	int r = iso_build_wait(b, b->h->control, POLLIN);

	return r < 0 ? r : iso_wire_receive(b->h->control, w, ret_fd);
}

static int say_end(struct iso_build *b)
{
	int status = 0, r = iso_reap(b->h->pidfd, 1000, &status);

	if (r < 0)
		return iso_step_error(b, -EPROTO, READY, NULL, "the first process hung up");
	b->h->pid = 0;
	if (status & 0x7f)
		return iso_step_error(b, -EIO, READY,
				      (status & 0x7f) == SIGKILL ? "raise /process/limits/memory"
								 : NULL,
				      "the first process died of signal %d", status & 0x7f);
	return iso_step_error(b, -EIO, READY, NULL, "the first process ended with status %d",
			      status >> 8);
}

static int say_failed(struct iso_build *b, const struct iso_wire *w)
{
	int r = w->value > 0 && w->value < 4096 ? -w->value : -EPROTO;
	enum iso_step step =
		w->step && w->step < ISO_STEP_MAX ? (enum iso_step)w->step : ISO_STEP_READY;
	const char *remedy = NULL;
	char text[300];

	iso_text_escape(w->text, strlen(w->text), text, sizeof text);
	if (step == ISO_STEP_MOUNT && r == -ENOENT)
		remedy = "a tree inside a host tree needs a directory of that name there";
	else if (step == ISO_STEP_PROC)
		remedy = "unmount what covers parts of /proc, or run isod outside a container";
	return iso_error_set(b->e, r, iso_step_word(step), remedy,
			     "the first process could not go on: %s: %m", text);
}

static int wait_ready(struct iso_build *b)
{
	struct iso_wire w;
	int r;

	ISO_FAULT_POINT(b, READY);
	for (;;) {
		ISO_AUTO_CLOSE int fd = -1;

		r = receive(b, &w, &fd);
		if (r == 0)
			return say_end(b);
		if (r < 0)
			return iso_step_error(b, r, READY, NULL,
					      "no answer from the first process: %m");
		if (w.kind == ISO_WIRE_FAILED)
			return say_failed(b, &w);
		if (w.kind == ISO_WIRE_ROOT && fd >= 0 && b->root_fd < 0)
			b->root_fd = iso_take_fd(&fd);
		else if (w.kind == ISO_WIRE_READY && b->root_fd >= 0)
			return 0;
		else
			return iso_step_error(b, -EPROTO, READY, NULL,
					      "the first process talks nonsense");
	}
}

int iso_launch(struct iso_build *b)
{
	size_t count = 0;
	const int *links = b->q->kernel ? iso_kernel_link_fds(b->q->kernel, &count) : NULL;
	ISO_AUTO_FREE int *copy = calloc(count + 1, sizeof *copy);
	struct iso_inside in = {
		.ops = b->ops,
		.op_count = b->op_count,
		.root_mount = b->root.fd,
		.plan_fd = b->plan_fd,
		.slot_fd = b->h->slot_fd,
		.isoinit_fd = b->q->isoinit_fd,
		.links = copy,
		.link_count = count,
		.stdio = {b->q->stdio[0], b->q->stdio[1], b->q->stdio[2]},
		.hostname = b->q->manifest->process.hostname,
		.loopback = b->q->manifest->loopback_private,
		.fault = iso_fault_step(),
	};
	int r;

	if (!copy)
		return iso_step_error(b, -ENOMEM, CLONE, NULL, "%m");
	if (count)
		memcpy(copy, links, count * sizeof *copy);
	r = make_control(b);
	if (r < 0)
		return r;
	in.control = b->child_control;
	r = wait_empty(b);
	if (r == 0)
		r = clone_first(b, &in);
	if (r == 0)
		r = confirm_label(b);
	if (r == 0)
		r = raise_limits(b);
	if (r == 0)
		r = write_ids(b);
	if (r == 0 && send_go(b->h) < 0)
		return say_end(b);
	return r < 0 ? r : wait_ready(b);
}
