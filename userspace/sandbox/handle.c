/* SPDX-License-Identifier: BSD-2-Clause */
/* A sandbox that lives: what isod hears from it, tells it, counts, and how it ends. */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "sandbox/raw.h"

#define END_MS	  10000
#define RETRY_NS  2000000L
#define RETRY_MAX 2500 /* 5 s */

struct iso_sandbox_handle *iso_handle_new(const struct iso_sandbox_request *q)
{
	struct iso_sandbox_handle *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->kernel = q->kernel;
	h->sandbox = q->sandbox;
	h->slot_fd = h->cgroup_parent = h->cgroup_fd = h->pidfd = -1;
	h->control = h->listener = -1;
	snprintf(h->name, sizeof h->name, "%s", q->name ? q->name : "");
	return h;
}

int iso_sandbox_control_fd(const struct iso_sandbox_handle *h)
{
	return h->control;
}

int iso_sandbox_pidfd(const struct iso_sandbox_handle *h)
{
	return h->pidfd;
}

uint64_t iso_sandbox_cgroup_id(const struct iso_sandbox_handle *h)
{
	return h->cgroup_id;
}

const uint8_t *iso_sandbox_policy_digest(const struct iso_sandbox_handle *h)
{
	return h->digest;
}

static int decode(const struct iso_wire *w, struct iso_init_message *ret)
{
	static const struct {
		uint32_t wire;
		enum iso_init_message_kind kind;
	} kinds[] = {
		{ISO_WIRE_STARTED, ISO_INIT_STARTED},
		{ISO_WIRE_EXEC_FAILED, ISO_INIT_EXEC_FAILED},
		{ISO_WIRE_FAILED, ISO_INIT_EXEC_FAILED},
		{ISO_WIRE_SURVIVOR, ISO_INIT_SURVIVOR},
		{ISO_WIRE_WALL, ISO_INIT_WALL},
		{ISO_WIRE_ENDED, ISO_INIT_ENDED},
		{ISO_WIRE_LISTENER, ISO_INIT_LISTENER},
		{ISO_WIRE_UNANSWERED, ISO_INIT_UNANSWERED},
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i].wire != w->kind)
			continue;
		memset(ret, 0, sizeof *ret);
		ret->kind = kinds[i].kind;
		ret->value = w->value;
		ret->pid = w->pid;
		memcpy(ret->text, w->text, strnlen(w->text, sizeof ret->text - 1));
		return 1;
	}
	return -EPROTO;
}

static int tell(struct iso_sandbox_handle *h, uint32_t kind, int32_t value)
{
	const struct iso_wire w = {.magic = ISO_WIRE_MAGIC, .kind = kind, .value = value};

	return send(h->control, &w, sizeof w, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int iso_sandbox_receive(struct iso_sandbox_handle *h, struct iso_init_message *ret)
{
	struct iso_wire w;

	for (;;) {
		ISO_AUTO_CLOSE int fd = -1;
		int r = iso_wire_receive(h->control, &w, &fd);

		if (r <= 0)
			return r;
		if (w.kind == ISO_WIRE_LISTENER) {
			if (fd < 0 || h->listener >= 0)
				return -EPROTO;
			h->listener = iso_take_fd(&fd);
		}
		if (w.kind != ISO_WIRE_PING)
			return decode(&w, ret);
		tell(h, ISO_WIRE_PONG, 0);
	}
}

int iso_sandbox_listener(const struct iso_sandbox_handle *h)
{
	return h->listener;
}

int iso_sandbox_start(struct iso_sandbox_handle *h)
{
	return tell(h, ISO_WIRE_GO, 0);
}

int iso_sandbox_terminate(struct iso_sandbox_handle *h)
{
	return tell(h, ISO_WIRE_TERMINATE, 0);
}

int iso_sandbox_signal(struct iso_sandbox_handle *h, int sig)
{
	return sig > 0 && sig <= SIGRTMAX ? tell(h, ISO_WIRE_SIGNAL, sig) : -EINVAL;
}

int iso_sandbox_kill(struct iso_sandbox_handle *h)
{
	return iso_write_file(h->cgroup_fd, "cgroup.kill", "1");
}

/* A number that follows a word at the beginning of a line, or that stands alone; 0 when not there.
 */
static uint64_t counter(const struct iso_sandbox_handle *h, const char *file, const char *word)
{
	ISO_AUTO_FREE char *text = NULL;
	size_t n = word ? strlen(word) : 0;

	if (iso_read_file(h->cgroup_fd, file, 65536, &text, NULL) < 0)
		return 0;
	if (!word)
		return strtoull(text, NULL, 10);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, n) && line[n] == ' ')
			return strtoull(line + n, NULL, 10);
	}
	return 0;
}

int iso_sandbox_usage(struct iso_sandbox_handle *h, struct iso_sandbox_usage *ret)
{
	if (h->cgroup_fd < 0)
		return -ENOENT;
	*ret = (struct iso_sandbox_usage){
		.memory_peak = counter(h, "memory.peak", NULL),
		.cpu_usec = counter(h, "cpu.stat", "usage_usec"),
		.throttled_usec = counter(h, "cpu.stat", "throttled_usec"),
		.pids_max_hits = counter(h, "pids.events", "max"),
		.oom_kills = counter(h, "memory.events", "oom_kill"),
		.memory_max_hits = counter(h, "memory.events", "max"),
		.pids_peak = counter(h, "pids.peak", NULL),
	};
	return 0;
}

static void keep_first(int *first, int r)
{
	if (r < 0 && *first == 0)
		*first = r;
}

static int end_tasks(struct iso_sandbox_handle *h, struct iso_error *e)
{
	int r = 0;

	if (h->cgroup_fd >= 0)
		r = iso_cgroup_end(h->cgroup_fd, END_MS);
	if (r < 0)
		iso_error_set(e, r, "cgroup-kill", "see what still runs in the cgroup",
			      "the tasks of %s did not end: %m", h->name);
	if (h->pid && h->pidfd >= 0) {
		iso_pidfd_kill(h->pidfd, SIGKILL);
		if (iso_reap(h->pidfd, END_MS, NULL) == -ETIMEDOUT && r == 0)
			r = iso_error_set(e, -ETIMEDOUT, "cgroup-kill", NULL,
					  "isoinit of %s did not end", h->name);
	}
	return r;
}

/* -EBUSY passes when the kernel has freed the last task. */
static int end_kernel(struct iso_sandbox_handle *h, struct iso_error *e)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	int r = 0;

	for (int i = 0; h->begun && i < RETRY_MAX; i++) {
		r = iso_kernel_remove(h->kernel, h->sandbox);
		if (r != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	return r < 0 ? iso_error_set(e, r, "kernel-remove", NULL,
				     "the kernel side keeps the sandbox %s: %m", h->name)
		     : 0;
}

static int end_cgroup(struct iso_sandbox_handle *h, struct iso_error *e)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	int r = 0;

	for (int i = 0; h->cgroup_parent >= 0 && i < RETRY_MAX; i++) {
		r = unlinkat(h->cgroup_parent, h->name, AT_REMOVEDIR) < 0 ? -errno : 0;
		if (r != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	return r < 0 ? iso_error_set(e, r, "cgroup-remove", NULL, "cannot remove the cgroup %s: %m",
				     h->name)
		     : 0;
}

int iso_sandbox_destroy(struct iso_sandbox_handle *h, struct iso_error *e)
{
	struct iso_error later;
	int first = 0;

	keep_first(&first, end_tasks(h, e));
	keep_first(&first, end_kernel(h, first ? &later : e));
	keep_first(&first, end_cgroup(h, first ? &later : e));
	iso_close_fd(&h->control);
	iso_close_fd(&h->listener);
	iso_close_fd(&h->pidfd);
	iso_close_fd(&h->cgroup_fd);
	iso_close_fd(&h->cgroup_parent);
	/* last: the slot is free for another when nothing of this one is left */
	iso_close_fd(&h->slot_fd);
	free(h);
	return first;
}
