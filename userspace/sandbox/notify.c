/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "sandbox/seccomp.h"

struct task {
	int listener;
	uint64_t id;
	pid_t tid;
};

/* While the call waits for its answer its task cannot end, so its number is its own. */
static bool still_waits(const struct task *t)
{
	return ioctl(t->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &t->id) == 0;
}

static ssize_t read_memory(void *context, uint64_t address, void *out, size_t n)
{
	const struct task *t = context;
	struct iovec here = {out, n}, there = {(void *)(uintptr_t)address, n};
	ssize_t got = process_vm_readv(t->tid, &here, 1, &there, 1, 0);

	/* asked after the read: or it may have been another task's memory */
	return still_waits(t) ? got : -1;
}

/* The number behind "\nNAME:" in /proc/PID/status; last: the last one of the line. */
static uint32_t status_number(const char *text, const char *name, bool last)
{
	const char *line = strstr(text, name), *end = line ? strchr(line + 1, '\n') : NULL;
	uint32_t value = 0;

	if (!end)
		return 0;
	for (const char *at = line + strlen(name); at < end;) {
		char *next;
		unsigned long v = strtoul(at, &next, 10);

		if (next == at || next > end)
			break;
		value = (uint32_t)v;
		if (!last)
			break;
		at = next;
	}
	return value;
}

static void look_at(const struct task *t, iso_look_fn look, void *context,
		    struct iso_refused_call *ret)
{
	ISO_AUTO_FREE char *text = NULL, *comm = NULL;
	char path[48];
	size_t n = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)t->tid);
	if (iso_read_file(AT_FDCWD, path, 16384, &text, NULL) < 0)
		return;
	snprintf(path, sizeof path, "/proc/%d/comm", (int)t->tid);
	if (iso_read_file(AT_FDCWD, path, 256, &comm, &n) < 0 || !still_waits(t))
		return;
	n -= n && comm[n - 1] == '\n';
	if (n >= sizeof ret->comm)
		n = sizeof ret->comm - 1;
	memcpy(ret->comm, comm, n);
	/* the name, which the task chooses, comes first in the file and cannot hold a new line */
	ret->pid = status_number(text, "\nTgid:", false);
	ret->ppid = status_number(text, "\nPPid:", false);
	ret->uid = status_number(text, "\nUid:", false);
	ret->ns_pid = status_number(text, "\nNStgid:", true);
	ret->tid = (uint32_t)t->tid;
	ret->exec = look(context, ret->pid);
}

int iso_notify_take(int listener, iso_look_fn look, void *context, struct iso_refused_call *ret)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};
	struct seccomp_notif n = {0};
	struct seccomp_notif_resp answer = {0};
	struct task t = {.listener = listener};

	memset(ret, 0, sizeof *ret);
	if (poll(&p, 1, 0) < 0)
		return errno == EINTR ? 0 : -errno;
	if (!(p.revents & POLLIN))
		return p.revents & (POLLHUP | POLLERR | POLLNVAL) ? -EPIPE : 0;
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		/* ENOENT: it was killed in between */
		return errno == ENOENT || errno == EINTR ? 0 : -errno;
	t.id = n.id;
	t.tid = (pid_t)n.pid;
	if (look)
		look_at(&t, look, context, ret);
	iso_notify_decode(&n.data, look ? read_memory : NULL, &t, ret);
	if (!look)
		ret->arguments[0] = '\0';
	answer.id = n.id;
	answer.error = -ret->error;
	/* ENOENT: its task was killed meanwhile; it tried all the same */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0 && errno != ENOENT)
		return -errno;
	return 1;
}
