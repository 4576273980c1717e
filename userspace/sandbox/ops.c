/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mount program of the first process: what it puts where, in order. Made here, where memory
 * may be had; carried out by inside.c, where it may not.
 */
#include "sandbox/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What /proc shows of the whole host, or does to it. A directory is covered by an empty one, a file
 * by an empty one on which a rule without rights hangs: reading it is refused, and an event.
 */
static const char *const masked[] = {
	"/proc/kcore",	    "/proc/keys",	 "/proc/key-users",	"/proc/sysrq-trigger",
	"/proc/timer_list", "/proc/sched_debug", "/proc/kallsyms",	"/proc/kmsg",
	"/proc/kpagecount", "/proc/kpageflags",	 "/proc/kpagecgroup",	"/proc/iomem",
	"/proc/ioports",    "/proc/vmallocinfo", "/proc/slabinfo",	"/proc/latency_stats",
	"/proc/config.gz",  "/proc/acpi",	 "/proc/scsi",		"/proc/bus",
	"/proc/driver",	    "/proc/asound",	 "/proc/irq",		"/proc/fs",
	"/proc/tty",	    "/proc/mdstat",	 "/proc/dynamic_debug",
};
#define MASKED (sizeof masked / sizeof *masked)

static const char *const dev_points[] = {"/dev/null",	 "/dev/zero", "/dev/full", "/dev/random",
					 "/dev/urandom", "/dev/tty",  "/dev/pts",  "/dev/shm"};

static void add(struct iso_build *b, enum iso_mount_kind kind, int fd, const char *path)
{
	b->ops[b->op_count++] = (struct iso_op){.kind = kind, .fd = fd, .path = path};
}

static void add_tree(struct iso_build *b, size_t i)
{
	const struct iso_tree *t = &b->q->policy->trees[i];

	if (t->kind == ISO_TREE_PROC) {
		add(b, ISO_MOUNT_PROC, -1, t->path);
		add(b, ISO_MOUNT_RDONLY, -1, "/proc/sys");
		for (size_t k = 0; k < MASKED; k++)
			add(b, ISO_MOUNT_MASK, -1, masked[k]);
	} else if (b->places[i].fd >= 0) {
		add(b, ISO_MOUNT_ATTACH, b->places[i].fd, t->path);
	}
	if (t->kind == ISO_TREE_DEV)
		for (size_t k = 0; k < b->extra_count; k++)
			add(b, ISO_MOUNT_ATTACH, b->extra_fds[k], dev_points[k]);
}

/* Rules whose object something else could evict, or that the VFS shall hold too. */
static void add_rule(struct iso_build *b, const struct iso_policy_rule *rule)
{
	const struct iso_policy *p = b->q->policy;
	size_t k = iso_storage_container(p, p->tree_count, rule->path);
	bool host = k != SIZE_MAX && p->trees[k].kind == ISO_TREE_HOST;

	if (rule->kind == ISO_RULE_PROTECT)
		add(b, ISO_MOUNT_PROTECT, -1, rule->path);
	else if (rule->kind == ISO_RULE_PATH && host)
		add(b, ISO_MOUNT_PIN, -1, rule->path);
	else
		return;
	b->ops[b->op_count - 1].follow = host;
	b->ops[b->op_count - 1].may_be_missing = rule->may_be_missing;
}

int iso_ops_make(struct iso_build *b)
{
	const struct iso_policy *p = b->q->policy;

	b->ops =
		calloc(p->tree_count + b->extra_count + MASKED + 1 + p->rule_count, sizeof *b->ops);
	if (!b->ops)
		return iso_step_error(b, -ENOMEM, MOUNT, NULL, "%m");
	for (size_t i = 0; i < p->tree_count; i++)
		add_tree(b, i);
	for (size_t i = 0; i < p->rule_count; i++)
		add_rule(b, &p->rules[i]);
	return 0;
}
