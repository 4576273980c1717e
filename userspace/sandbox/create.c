/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of things. Each step says itself what failed; what was made is undone by the handle. */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/cleanup.h"

const char *iso_step_word(uint32_t step)
{
	static const char *const words[] = {
		[ISO_STEP_NONE] = "?",
#define ISO_STEP(name, word, side) [ISO_STEP_##name] = word,
#include "sandbox/steps.def"
#undef ISO_STEP
	};

	return step < ISO_STEP_MAX ? words[step] : "?";
}

/* A cgroup's name: what a run id may look like, and nothing that cgroup files are called. */
static bool name_valid(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n && n < sizeof((struct iso_sandbox_handle *)0)->name && name[0] != '.' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
		       n;
}

static int check_request(struct iso_build *b)
{
	const struct iso_sandbox_request *q = b->q;
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

	ISO_FAULT_POINT(b, REQUEST);
	if (!q->kernel && !b->seams->no_kernel)
		return iso_step_error(b, -EINVAL, REQUEST, NULL, "no kernel side");
	if (!q->sandbox || !name_valid(q->name) || !q->argv || !q->argv[0] || !q->argv[0][0] ||
	    !q->environment)
		return iso_step_error(b, -EINVAL, REQUEST, NULL,
				      "sandbox id, name or command is not valid");
	if ((fcntl(q->isoinit_fd, F_GET_SEALS) & seals) != seals)
		return iso_step_error(b, -EPERM, REQUEST, NULL, "isoinit is not in a sealed memfd");
	return 0;
}

static int bind_cgroup(struct iso_build *b)
{
	const struct iso_sandbox_request *q = b->q;
	int r;

	ISO_FAULT_POINT(b, BEGIN);
	if (!q->kernel)
		return 0;
	r = iso_kernel_begin(q->kernel, q->sandbox, b->h->cgroup_fd, q->policy->flags,
			     q->manifest->limits.events_per_second);
	if (r == -EOPNOTSUPP)
		return iso_step_error(b, r, BEGIN, "take io_uring_* off /process/syscalls/allow",
				      "this kernel does not show what io_uring is asked for: %m");
	if (r < 0)
		return iso_step_error(b, r, BEGIN, "see isoctl doctor",
				      "the kernel side does not take the sandbox: %m");
	b->h->begun = true;
	ISO_FAULT_POINT(b, LAUNCHER);
	r = iso_kernel_launcher(q->kernel, q->sandbox, q->isoinit_fd);
	return r < 0 ? iso_step_error(b, r, LAUNCHER, NULL,
				      "the kernel side does not take isoinit: %m")
		     : 0;
}

/* The task may open its own output again (/dev/stderr): its pipes belong to it. */
static int give_stdio(struct iso_build *b)
{
	uid_t id = b->h->base + ISO_TASK_ID;
	struct stat st;

	for (int k = 0; k < 3; k++) {
		if (b->q->stdio[k] < 0)
			continue;
		if (fstat(b->q->stdio[k], &st) < 0 ||
		    (S_ISFIFO(st.st_mode) && fchown(b->q->stdio[k], id, id) < 0))
			return iso_step_error(b, -errno, STDIO, NULL,
					      "cannot give descriptor %d to the task: %m", k);
	}
	return 0;
}

/* The helpers' tasks are counted until the kernel has freed them: an RCU grace period. */
static int seal(struct iso_build *b)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int r;

	ISO_FAULT_POINT(b, SEAL);
	if (!b->q->kernel)
		return 0;
	for (;;) {
		r = iso_kernel_seal(b->q->kernel, b->q->sandbox);
		if (r != -EBUSY)
			break;
		r = iso_build_alive(b);
		if (r < 0)
			break;
		nanosleep(&pause, NULL);
	}
	return r < 0 ? iso_step_error(b, r, SEAL, NULL, "the policy cannot be sealed: %m") : 0;
}

static int build(struct iso_build *b)
{
	static int (*const steps[])(struct iso_build *) = {
		check_request,
		iso_slot_take,
		iso_cgroup_make,
		bind_cgroup,
		iso_storage_make,
		iso_snapshot_copy,
		iso_storage_mount_points,
		iso_snapshot_own,
		iso_init_plan_make,
		iso_ops_make,
		give_stdio,
		iso_launch,
		iso_rules_install,
		iso_cgroup_check_limits,
		seal,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof steps / sizeof *steps; i++)
		r = steps[i](b);
	return r;
}

static void build_free(struct iso_build *b)
{
	for (size_t i = 0; b->places && i < b->q->policy->tree_count; i++) {
		iso_close_fd(&b->places[i].fd);
		free(b->places[i].link);
	}
	for (size_t i = 0; i < b->extra_count; i++)
		iso_close_fd(&b->extra_fds[i]);
	free(b->places);
	free(b->extra_fds);
	free(b->ops);
	iso_close_fd(&b->root.fd);
	iso_close_fd(&b->mask_fd);
	iso_close_fd(&b->plan_fd);
	iso_close_fd(&b->child_control);
	iso_close_fd(&b->root_fd);
}

int iso_sandbox_create_seamed(const struct iso_sandbox_request *request,
			      const struct iso_sandbox_seams *seams,
			      struct iso_sandbox_handle **ret, struct iso_error *e)
{
	struct iso_error own = {0};
	struct iso_build b = {
		.q = request,
		.seams = seams,
		.h = iso_handle_new(request),
		.e = e ? e : &own,
		.places = calloc(request->policy->tree_count + 1, sizeof *b.places),
		.root = {.fd = -1},
		.mask_fd = -1,
		.plan_fd = -1,
		.child_control = -1,
		.root_fd = -1,
	};
	int r = -ENOMEM;

	*b.e = (struct iso_error){0};
	for (size_t i = 0; b.places && i < request->policy->tree_count; i++)
		b.places[i].fd = -1;
	if (b.h && b.places)
		r = build(&b);
	else
		iso_step_error(&b, r, REQUEST, NULL, "%m");
	build_free(&b);
	if (r < 0) {
		if (b.h)
			iso_sandbox_destroy(b.h, NULL);
		return r;
	}
	*ret = b.h;
	return 0;
}

int iso_sandbox_create(const struct iso_sandbox_request *request, struct iso_sandbox_handle **ret,
		       struct iso_error *e)
{
	static const struct iso_sandbox_seams none;

	return iso_sandbox_create_seamed(request, &none, ret, e);
}
