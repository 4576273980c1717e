/* SPDX-License-Identifier: BSD-2-Clause */
#include "isoinit/plan.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

struct cursor {
	const char *at;
	size_t left;
};

static const void *take(struct cursor *c, size_t n)
{
	const char *p = c->at;

	if (n > c->left)
		return NULL;
	c->at += n;
	c->left -= n;
	return p;
}

static const char *take_string(struct cursor *c)
{
	const char *end = memchr(c->at, '\0', c->left);

	return end ? take(c, (size_t)(end - c->at) + 1) : NULL;
}

static bool header_valid(const struct iso_plan_header *h, size_t size)
{
	if (h->magic != ISO_PLAN_MAGIC || h->version != ISO_PLAN_VERSION || h->size != size ||
	    h->flags & ~ISO_PLAN_FLAGS_ALL)
		return false;
	if (h->uid == 0 || h->uid == UINT32_MAX || h->gid == 0 || h->gid == UINT32_MAX ||
	    h->umask > 0777 || h->wall_ms == 0 || h->wall_ms > INT32_MAX * 1000ull ||
	    h->grace_ms > INT32_MAX)
		return false;
	if (h->filter_length < 1 || h->filter_length > BPF_MAXINSNS || h->pad)
		return false;
	return h->rlimit_count <= ISO_PLAN_RLIMITS && h->argc >= 1 && h->argc < ISO_PLAN_ARGS_MAX &&
	       h->envc < ISO_PLAN_ARGS_MAX - h->argc;
}

size_t iso_plan_pointers(const void *data, size_t size)
{
	struct iso_plan_header h;

	if (size < sizeof h || size > ISO_PLAN_SIZE_MAX)
		return 0;
	memcpy(&h, data, sizeof h);
	return header_valid(&h, size) ? (size_t)h.argc + h.envc + 2 : 0;
}

static bool take_strings(struct cursor *c, char **list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		/* execve(2) wants char **; nobody writes to the strings */
		list[i] = (char *)(uintptr_t)take_string(c);
		if (!list[i])
			return false;
	}
	list[count] = NULL;
	return true;
}

static bool rlimits_valid(const struct iso_plan_rlimit *l, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (l[i].resource >= RLIM_NLIMITS || l[i].pad || l[i].soft > l[i].hard)
			return false;
	return true;
}

int iso_plan_decode(const void *data, size_t size, char **pointers, size_t pointer_count,
		    struct iso_plan *ret)
{
	struct cursor c = {.at = data, .left = size};
	size_t need = iso_plan_pointers(data, size);
	struct iso_plan p = {0};

	if (!need || pointer_count < need || (uintptr_t)data % 8)
		return -EINVAL;
	memcpy(&p.header, take(&c, sizeof p.header), sizeof p.header);
	p.rlimits = take(&c, p.header.rlimit_count * sizeof *p.rlimits);
	if (!p.rlimits || !rlimits_valid(p.rlimits, p.header.rlimit_count))
		return -EINVAL;
	p.filter = take(&c, p.header.filter_length * sizeof *p.filter);
	if (!p.filter)
		return -EINVAL;
	p.cwd = take_string(&c);
	p.path = p.cwd ? take_string(&c) : NULL;
	if (!p.path || p.cwd[0] != '/')
		return -EINVAL;
	p.argv = pointers;
	p.envp = pointers + p.header.argc + 1;
	if (!take_strings(&c, p.argv, p.header.argc) || !take_strings(&c, p.envp, p.header.envc) ||
	    c.left || !p.argv[0] || !p.argv[0][0])
		return -EINVAL;
	*ret = p;
	return 0;
}
