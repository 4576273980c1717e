/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who a task is. The label {sandbox, exec id, role} lies in task storage and is set here alone.
 *
 * task_alloc          inherits the parent's label, and fails the fork when that cannot be done.
 * Sticks through double fork, setsid, vfork, CLONE_PARENT, threads, io_uring workers.
 * sched_process_fork  labels the first process of a bound cgroup: here, not in task_alloc, because
 *                     a CLONE_INTO_CGROUP child still shows its parent's cgroup there. A tracepoint
 *                     can be skipped (recursion, busy storage), so it is never the only line: isod
 *                     asks whether the label is there before the process may go on, and an exec in
 *                     a bound cgroup without a label is refused (exec.bpf.h).
 * sched_process_exit  counts the sandbox's tasks down, in the task's own context: on 6.1 task
 * storage cannot be had in task_free when that interrupts another program of ours. task_free counts
 * down what did not come there: a fork that failed, a skipped tracepoint.
 *
 * Cannot see: a process that was moved into a bound cgroup by root. Binding a populated cgroup is
 * refused; entering one is refused at its first exec.
 */
#ifndef ISO_IDENTITY_BPF_H
#define ISO_IDENTITY_BPF_H

#define ISO_CGROUP_LEVELS 16

static __always_inline struct iso_label *iso_label_of(struct task_struct *task)
{
	return bpf_task_storage_get(&iso_labels, task, 0, 0);
}

/* The ancestors of a cgroup, itself included, by level; and the levels to ask. */
struct iso_ancestry {
	__u64 ancestors; /* address of an array of pointers */
	__u32 levels;	 /* a bit each */
	__u32 pad;
};

/*
 * The nearest of them that is bound: its sandbox, or 0; ISO_NOBODY when one cannot be read. Global
 * for the verifier's sake (event.bpf.h).
 */
__noinline __u64 iso_bound_among(struct iso_ancestry *a)
{
	struct cgroup *group;

	if (!a)
		return 0;
	for (int i = ISO_CGROUP_LEVELS - 1; i >= 0; i--) {
		__u64 id, *sandbox, wanted = a->levels >> i;

		iso_barrier(wanted);
		if (!(wanted & 1))
			continue;
		if (bpf_probe_read_kernel(&group, sizeof group,
					  (void *)(a->ancestors + i * sizeof group))) {
			iso_count(ISO_COUNT_READ_FAILED);
			return ISO_NOBODY;
		}
		id = BPF_CORE_READ(group, kn, id);
		sandbox = bpf_map_lookup_elem(&iso_cgroups, &id);
		if (sandbox)
			return *sandbox;
	}
	return 0;
}

/*
 * Sandbox that the task's nearest bound ancestor cgroup belongs to, or 0. A cgroup knows its
 * ancestors by level (7f203bc89eb6, Linux 6.1), and only levels where one was ever bound are asked.
 */
static __always_inline __u64 iso_bound_cgroup(struct task_struct *task)
{
	struct iso_globals *g = iso_globals();
	struct cgroup *group = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	struct iso_ancestry a = {.ancestors = (__u64)group +
					      bpf_core_field_offset(struct cgroup, ancestors)};
	__u32 level = BPF_CORE_READ(group, level);

	if (!g)
		return 0;
	if (level >= ISO_CGROUP_LEVELS)
		level = ISO_CGROUP_LEVELS - 1;
	a.levels = g->levels & ((2u << level) - 1);
	return a.levels ? iso_bound_among(&a) : 0;
}

/*
 * The label of a task that has one, or may have one and cannot be asked. Task storage answers
 * nothing while another program of ours is in it on this processor (6.1: bpf_task_storage_trylock;
 * preemption, interrupts): an unanswered task in a bound cgroup is taken for one of a sandbox that
 * is not there, to which everything is refused. Only tasks that have some storage come this far.
 */
static __noinline struct iso_label *iso_unanswered(struct task_struct *task)
{
	struct iso_globals *g = iso_globals();
	struct iso_label *nobody;
	__u32 zero = 0;

	if (!g || !g->bound || !iso_bound_cgroup(task))
		return 0;
	iso_count(ISO_COUNT_LABEL_FAILED);
	nobody = bpf_map_lookup_elem(&iso_nobody, &zero);
	if (nobody)
		nobody->sandbox = ISO_NOBODY;
	return nobody;
}

/*
 * A task without any task storage has no label: asked first, because it is true of nearly every
 * task of a host and costs one load. The label is there before its task runs, and stays.
 */
static __always_inline struct iso_label *iso_current(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct iso_label *label;

	if (!task->bpf_storage)
		return 0;
	label = iso_label_of(task);
	return label ? label : iso_unanswered(task);
}

/* Label of the current task when it belongs to a sandbox; NULL for everyone else on the host. */
static __always_inline struct iso_label *iso_inside(void)
{
	struct iso_label *label = iso_current();

	return label && label->sandbox ? label : 0;
}

static __always_inline struct iso_sandbox *iso_sandbox_of(__u64 sandbox)
{
	return bpf_map_lookup_elem(&iso_sandboxes, &sandbox);
}

/* Trusted code is at work, the builder or isoinit before the seal: nothing is asked of it. */
#define ISO_TRUSTED (~0u)

static __always_inline __u32 iso_standing_of(struct iso_label *label, struct iso_sandbox *sb)
{
	if (!sb) {
		iso_count(ISO_COUNT_NO_SANDBOX);
		return ISO_REASON_NOT_SEALED;
	}
	if (sb->state == ISO_STATE_BUILDING)
		return label->role == ISO_ROLE_BUILD || label->role == ISO_ROLE_INIT
			       ? ISO_TRUSTED
			       : ISO_REASON_NOT_SEALED;
	if (sb->state == ISO_STATE_REMOVING)
		return ISO_REASON_NOT_SEALED;
	return sb->flags & ISO_SB_TORN ? ISO_REASON_TORN : 0;
}

/* The epoch is read before the flags: one that is torn in between is seen at the next question. */
static __noinline __u32 iso_standing_anew(struct iso_label *label)
{
	struct iso_globals *g = iso_globals();
	struct iso_sandbox *sb;
	__u32 reason, epoch;

	if (!g)
		return ISO_REASON_NOT_SEALED;
	epoch = *(volatile __u32 *)&g->epoch + 1;
	sb = iso_sandbox_of(label->sandbox);
	reason = iso_standing_of(label, sb);
	if (!reason && sb) {
		label->flags = sb->flags;
		label->epoch = epoch;
	}
	return reason;
}

/*
 * Where a task's sandbox stands: 0, it is sealed and whole, its rules decide and label->flags hold;
 * ISO_TRUSTED; or the reason why nothing at all is allowed. A sealed sandbox ceases to be whole
 * only by being torn, which begins an epoch: until then the label's memory spares the look.
 */
static __always_inline __u32 iso_standing(struct iso_label *label)
{
	struct iso_globals *g = iso_globals();

	if (g && label->epoch == g->epoch + 1)
		return 0;
	return iso_standing_anew(label);
}

static __always_inline bool iso_trusted(struct iso_label *label)
{
	return iso_standing(label) == ISO_TRUSTED;
}

static __always_inline void iso_task_counted(__u64 sandbox, __s64 by)
{
	struct iso_sandbox *sb = iso_sandbox_of(sandbox);

	if (sb)
		__sync_fetch_and_add(&sb->tasks, by);
}

static __always_inline void iso_agent_counted(__s64 by)
{
	struct iso_globals *g = iso_globals();

	if (g)
		__sync_fetch_and_add(&g->agents, by);
}

SEC("lsm/task_alloc")
int BPF_PROG(iso_task_alloc, struct task_struct *task, unsigned long clone_flags)
{
	struct iso_label *mine = iso_current(), child = {};

	if (!mine)
		return 0;
	if (mine->sandbox == ISO_NOBODY)
		return iso_refuse(ENOMEM);
	child.sandbox = mine->sandbox;
	child.exec = mine->exec;
	child.role = mine->role;
	child.flags = mine->flags;
	child.epoch = mine->epoch;
	if (child.role == ISO_ROLE_AGENT) {
		/* isod's threads are the agent; what it forks is nobody until it is labelled */
		if (!(clone_flags & ISO_CLONE_THREAD))
			return 0;
	} else if (child.role == ISO_ROLE_INIT) {
		child.role = ISO_ROLE_LAUNCH;
	}
	if (!bpf_task_storage_get(&iso_labels, task, &child, BPF_LOCAL_STORAGE_GET_F_CREATE)) {
		iso_count(ISO_COUNT_LABEL_FAILED);
		return iso_refuse(ENOMEM);
	}
	if (child.role == ISO_ROLE_AGENT)
		iso_agent_counted(1);
	else
		iso_task_counted(child.sandbox, 1);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(iso_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct iso_globals *g = iso_globals();
	struct iso_label label = {}, *have;
	struct iso_sandbox *sb;

	if (!g || !g->bound)
		return 0;
	have = iso_label_of(child);
	if (have)
		return 0;
	label.sandbox = iso_bound_cgroup(child);
	if (!label.sandbox)
		return 0;
	sb = iso_sandbox_of(label.sandbox);
	/* After the seal nobody enters: a child without trusted state may do nothing. */
	label.role = sb && sb->state == ISO_STATE_BUILDING ? ISO_ROLE_BUILD : ISO_ROLE_TASK;
	if (!bpf_task_storage_get(&iso_labels, child, &label, BPF_LOCAL_STORAGE_GET_F_CREATE)) {
		iso_count(ISO_COUNT_LABEL_FAILED);
		if (sb)
			__sync_fetch_and_add(&sb->label_failed, 1);
		return 0;
	}
	iso_task_counted(label.sandbox, 1);
	return 0;
}

static __always_inline void iso_count_down(struct iso_label *label)
{
	if (!label || label->ended)
		return;
	label->ended = 1;
	if (label->role == ISO_ROLE_AGENT)
		iso_agent_counted(-1);
	else
		iso_task_counted(label->sandbox, -1);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(iso_process_exit, struct task_struct *task)
{
	iso_count_down(iso_current());
	return 0;
}

SEC("lsm/task_free")
int BPF_PROG(iso_task_free, struct task_struct *task)
{
	iso_count_down(iso_label_of(task));
	return 0;
}

#endif
