/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes isoinit's plan (isoinit/plan.h) into a sealed memfd, and reads it back as isoinit will. */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "isoinit/plan.h"
#include "sandbox/seccomp.h"

#define RLIMITS_MAX 3

static uint32_t make_rlimits(const struct iso_manifest *m, struct iso_plan_rlimit l[RLIMITS_MAX])
{
	uint64_t files = m->process.limits.files, size = m->process.limits.file_size;
	uint32_t n = 0;

	/* 1, not 0: with 0 the kernel still starts the handler of a core_pattern pipe */
	l[n++] = (struct iso_plan_rlimit){.resource = RLIMIT_CORE, .soft = 1, .hard = 1};
	l[n++] = (struct iso_plan_rlimit){.resource = RLIMIT_NOFILE, .soft = files, .hard = files};
	if (size)
		l[n++] = (struct iso_plan_rlimit){
			.resource = RLIMIT_FSIZE, .soft = size, .hard = size};
	return n;
}

static size_t list_size(char *const *list, uint32_t *ret_count)
{
	size_t n = 0;

	*ret_count = 0;
	for (; *list; list++) {
		n += strlen(*list) + 1;
		if (++*ret_count >= ISO_PLAN_ARGS_MAX)
			return SIZE_MAX / 4;
	}
	return n;
}

static char *put(char *at, const void *data, size_t n)
{
	memcpy(at, data, n);
	return at + n;
}

static char *put_list(char *at, char *const *list)
{
	for (; *list; list++)
		at = put(at, *list, strlen(*list) + 1);
	return at;
}

static const char *find_path(char *const *environment)
{
	for (; *environment; environment++)
		if (!strncmp(*environment, "PATH=", 5))
			return *environment + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

static int encode(struct iso_build *b, const struct iso_seccomp_program *filter, char **ret,
		  size_t *ret_size)
{
	const struct iso_manifest *m = b->q->manifest;
	const char *path = find_path(b->q->environment), *cwd = m->process.directory;
	struct iso_plan_header h = {
		.magic = ISO_PLAN_MAGIC,
		.version = ISO_PLAN_VERSION,
		.flags = m->process.daemons_contain ? 0 : ISO_PLAN_DAEMONS_DENY,
		.wall_ms = m->limits.wall_ms,
		.grace_ms = m->limits.stop_grace_ms,
		.uid = ISO_TASK_ID,
		.gid = ISO_TASK_ID,
		.umask = m->process.umask,
		.filter_length = (uint32_t)filter->length,
	};
	struct iso_plan_rlimit limits[RLIMITS_MAX];
	size_t size = sizeof h;
	char *data, *at;

	h.rlimit_count = make_rlimits(m, limits);
	size += h.rlimit_count * sizeof *limits;
	size += filter->length * sizeof *filter->code;
	size += strlen(cwd) + 1 + strlen(path) + 1;
	size += list_size(b->q->argv, &h.argc);
	size += list_size(b->q->environment, &h.envc);
	if (size > ISO_PLAN_SIZE_MAX)
		return -E2BIG;
	h.size = (uint32_t)size;
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	at = put(data, &h, sizeof h);
	at = put(at, limits, h.rlimit_count * sizeof *limits);
	at = put(at, filter->code, filter->length * sizeof *filter->code);
	at = put(at, cwd, strlen(cwd) + 1);
	at = put(at, path, strlen(path) + 1);
	at = put_list(at, b->q->argv);
	put_list(at, b->q->environment);
	*ret = data;
	*ret_size = size;
	return 0;
}

/* isoinit would refuse it too, but it could say less about it. */
static int check(const char *data, size_t size)
{
	size_t n = iso_plan_pointers(data, size);
	ISO_AUTO_FREE char **pointers = n ? calloc(n, sizeof *pointers) : NULL;
	struct iso_plan plan;

	if (!pointers)
		return n ? -ENOMEM : -EINVAL;
	return iso_plan_decode(data, size, pointers, n, &plan);
}

static int store(struct iso_build *b, const char *data, size_t size)
{
	b->plan_fd = memfd_create("isoinit-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (b->plan_fd < 0)
		return -errno;
	if (iso_write_all(b->plan_fd, data, size) < 0)
		return -EIO;
	if (fcntl(b->plan_fd, F_ADD_SEALS,
		  F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -errno;
	return 0;
}

int iso_init_plan_make(struct iso_build *b)
{
	struct iso_seccomp_program filter;
	ISO_AUTO_FREE char *data = NULL;
	size_t size = 0;
	int r;

	ISO_FAULT_POINT(b, SECCOMP);
	r = iso_seccomp_task(b->q->manifest, &filter, b->e);
	if (r < 0)
		return r;
	r = iso_fault(ISO_STEP_PLAN);
	if (r == 0)
		r = encode(b, &filter, &data, &size);
	iso_seccomp_free(&filter);
	if (r == 0)
		r = check(data, size);
	if (r == 0)
		r = store(b, data, size);
	if (r < 0)
		return iso_step_error(b, r, PLAN,
				      r == -E2BIG ? "shorten the command or the environment" : NULL,
				      "cannot write isoinit's plan: %m");
	return 0;
}
