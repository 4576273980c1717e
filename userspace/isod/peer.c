/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is calling, as the kernel says, and what an operator lets that caller do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "isod/daemon.h"
#include "manifest/ceiling.h"

int iso_peer_read(int fd, struct iso_caller *ret)
{
	gid_t *groups = calloc(ISO_CALLER_GROUPS_MAX, sizeof *groups);
	socklen_t size = ISO_CALLER_GROUPS_MAX * sizeof *groups;
	struct ucred cred;
	socklen_t n = sizeof cred;

	if (!groups)
		return -ENOMEM;
	/* -ERANGE, more groups than are kept, refuses the caller: half a list is no list. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0) {
		int r = -errno;

		free(groups);
		return r;
	}
	*ret = (struct iso_caller){.uid = cred.uid,
				   .gid = cred.gid,
				   .groups = groups,
				   .group_count = size / sizeof(gid_t)};
	return 0;
}

bool iso_peer_member(const struct iso_daemon *d, const struct iso_caller *caller)
{
	if (caller->uid == 0)
		return true;
	if (d->member_gid < 0)
		return false;
	if (caller->gid == (gid_t)d->member_gid)
		return true;
	for (size_t i = 0; i < caller->group_count; i++)
		if (caller->groups[i] == (gid_t)d->member_gid)
			return true;
	return false;
}

/* The file is read for each capture: an operator who narrows it need not restart anything. */
static int load_ceiling(struct iso_daemon *d, struct iso_ceiling **ret, struct iso_failure *f)
{
	struct iso_error e = {0};
	int r = iso_ceiling_load(d->ceiling_path, ret, &e);

	if (r < 0)
		iso_failure_wrap(f, ISO_CLASS_CEILING, &e);
	return r;
}

static bool over(uint64_t used, uint64_t asked, uint64_t bound)
{
	return bound && (asked > bound || used > bound - asked);
}

/* Of something that the kernel side has so much room for: what is used, and what is asked for. */
struct share {
	const char *what;
	uint64_t own, all, asked;
	uint32_t own_max, all_max;
};

static void count_rules(const struct iso_daemon *d, const struct iso_capture *c,
			struct share *rules, struct share *absent)
{
	rules->asked = c->policy->rule_count;
	absent->asked = c->manifest->filesystem.assert_absent.count;
	for (const struct iso_supervised *run = d->runs; run; run = run->next) {
		const struct iso_capture *other = run->capture;
		uint64_t n = other->policy->rule_count;
		uint64_t m = other->manifest->filesystem.assert_absent.count;
		bool own = other->caller.uid == c->caller.uid;

		if (run->life.state == ISO_STATE_RUN_SETTLED)
			continue;
		rules->all += n;
		absent->all += m;
		rules->own += own ? n : 0;
		absent->own += own ? m : 0;
	}
}

static int check_share(const struct iso_capture *c, const struct share *s, struct iso_failure *f)
{
	const char *remedy = "wait for a run to end; see isoctl ps";

	if (c->caller.uid != 0 && over(s->own, s->asked, s->own_max))
		return iso_failure_set(f, ISO_CLASS_QUOTA, -EUSERS, "quota", remedy,
				       "%u %s at once, in all of its runs, is the limit of this "
				       "caller",
				       s->own_max, s->what);
	if (over(s->all, s->asked, s->all_max))
		return iso_failure_set(f, ISO_CLASS_QUOTA, -EUSERS, "quota", remedy,
				       "%u %s at once is the limit of this host", s->all_max,
				       s->what);
	return 0;
}

/* Shared out before anything starts: no caller takes the rules that another's run needs. */
static int check_rules(const struct iso_daemon *d, const struct iso_capture *c,
		       struct iso_failure *f)
{
	struct share rules = {
		.what = "rules", .own_max = ISO_RULES_PER_USER, .all_max = ISO_RULES_AT_ONCE};
	struct share absent = {.what = "paths of assert_absent",
			       .own_max = ISO_ABSENT_PER_USER,
			       .all_max = ISO_ABSENT_AT_ONCE};
	int r;

	count_rules(d, c, &rules, &absent);
	r = check_share(c, &rules, f);
	return r ? r : check_share(c, &absent, f);
}

static int check_sums(const struct iso_daemon *d, const struct iso_ceiling *ceiling,
		      const struct iso_capture *c, struct iso_failure *f)
{
	uint64_t memory = 0, cpus = 0, all = 0, own = 0;
	uint64_t asked = c->manifest->limits.concurrent;
	uint64_t limit = c->caller.uid == 0 ? ISO_RUNS_MAX : ISO_RUNS_PER_USER;

	for (const struct iso_supervised *run = d->runs; run; run = run->next) {
		if (run->life.state == ISO_STATE_RUN_SETTLED)
			continue;
		memory += run->capture->manifest->process.limits.memory;
		cpus += run->capture->manifest->process.limits.cpus_milli;
		own += run->capture->caller.uid == c->caller.uid;
		all++;
	}
	if (!asked && ceiling)
		asked = ceiling->concurrent;
	if (asked && asked < limit)
		limit = asked;
	if (own >= limit || all >= ISO_RUNS_MAX)
		return iso_failure_set(f, ISO_CLASS_QUOTA, -EUSERS, "quota",
				       "wait for a run to end; see isoctl ps",
				       "%llu runs at once is the limit of this caller",
				       (unsigned long long)limit);
	if (!ceiling)
		return 0;
	if (over(all, 1, ceiling->max_sandboxes))
		return iso_failure_set(f, ISO_CLASS_QUOTA, -EUSERS, "quota",
				       "wait for a run to end; see isoctl ps",
				       "this host's ceiling is %u sandboxes at a time",
				       ceiling->max_sandboxes);
	if (over(memory, c->manifest->process.limits.memory, ceiling->total_memory) ||
	    over(cpus, c->manifest->process.limits.cpus_milli, ceiling->total_cpus_milli))
		return iso_failure_set(f, ISO_CLASS_QUOTA, -EUSERS, "quota",
				       "wait for a run to end; see isoctl ps",
				       "with this run the sandboxes of this host would go over its "
				       "ceiling's total of memory or processors");
	return 0;
}

static int check_ceiling(const struct iso_ceiling *ceiling, const struct iso_capture *c,
			 struct iso_findings *findings, struct iso_failure *f)
{
	size_t count = c->caller.group_count;
	gid_t *gids = calloc(count + 1, sizeof *gids);
	int r = -ENOMEM;

	if (gids) {
		if (count)
			memcpy(gids, c->caller.groups, count * sizeof *gids);
		gids[count] = c->caller.gid;
		r = iso_ceiling_check(ceiling, c->manifest, c->caller.uid, gids, count + 1,
				      findings);
	}
	free(gids);
	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_CEILING, r, "ceiling",
				       "ask for less, or let an operator widen " ISO_CEILING_PATH,
				       "the host's ceiling does not allow this manifest");
	return 0;
}

int iso_peer_may_seal(struct iso_daemon *d, const struct iso_capture *c,
		      struct iso_findings *findings, struct iso_failure *f)
{
	struct iso_ceiling *ceiling = NULL;
	int r = load_ceiling(d, &ceiling, f);

	if (r == 0)
		r = check_ceiling(ceiling, c, findings, f);
	if (r == 0)
		r = check_sums(d, ceiling, c, f);
	if (r == 0)
		r = check_rules(d, c, f);
	iso_ceiling_free(ceiling);
	return r;
}
