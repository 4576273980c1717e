/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is said about a refusal. A verdict never waits for an event and a full ring never changes
 * one: every refusal that is not a repeat takes a sequence number, so that a record that could not
 * be written shows as a hole, and the sandbox's account says why (account.bpf.h).
 */
#ifndef ISO_EVENT_BPF_H
#define ISO_EVENT_BPF_H

#define ISO_WAKE_BYTES (1u << 16)

static __always_inline void iso_event_actor(struct iso_event *e, struct iso_label *label)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);
	__u64 both = bpf_get_current_pid_tgid();
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid upid = {};

	e->sandbox = label->sandbox;
	e->exec = label->exec;
	e->pid = both >> 32;
	e->tid = (__u32)both;
	e->ppid = BPF_CORE_READ(task, real_parent, tgid);
	e->uid = (__u32)bpf_get_current_uid_gid();
	e->ns_pid = 0;
	if (level < 32 && !bpf_core_read(&upid, sizeof upid, &pid->numbers[level]))
		e->ns_pid = upid.nr;
	/* of the process: a worker of io_uring has a name of the kernel's */
	bpf_core_read_str(e->comm, sizeof e->comm, &leader->comm);
}

static __always_inline void iso_event_object(struct iso_event *e, struct dentry *dentry)
{
	struct inode *inode = dentry ? BPF_CORE_READ(dentry, d_inode) : 0;

	if (!inode)
		return;
	e->inode = BPF_CORE_READ(inode, i_ino);
	e->device = BPF_CORE_READ(inode, i_sb, s_dev);
	e->mode = BPF_CORE_READ(inode, i_mode);
}

/* Reserves a record with everything but the object; NULL when it must not or cannot be said. */
static __always_inline struct iso_event *iso_event_start(struct iso_label *label,
							 struct iso_refusal *why)
{
	struct iso_entry entry = {};
	struct iso_ledger *ledger;
	struct iso_event *e;

	if (!iso_account_open(label, why, &entry))
		return 0;
	ledger = iso_ledger_of(label->sandbox);
	if (!ledger)
		return 0;
	e = bpf_ringbuf_reserve(&iso_ring, sizeof *e, 0);
	if (!e) {
		iso_account_lose(ledger, &entry);
		return 0;
	}
	iso_account_emit(ledger, &entry, e);
	e->kind = why->kind;
	e->hook = why->hook;
	e->reason = why->reason;
	e->rule = why->rule;
	e->error = why->error;
	e->wanted = why->wanted;
	e->mode = why->mode;
	e->device = 0;
	e->inode = 0;
	e->family = 0;
	e->port = 0;
	e->protocol = 0;
	e->type = 0;
	__builtin_memset(e->address, 0, sizeof e->address);
	e->path.length = e->path2.length = 0;
	e->path.offset = e->path2.offset = 0;
	e->path.truncated = e->path2.truncated = 0;
	iso_event_actor(e, label);
	return e;
}

/* Wakes the reader only when much is waiting; it polls every 50 ms anyway. */
static __always_inline void iso_event_send(struct iso_event *e)
{
	__u64 waiting = bpf_ringbuf_query(&iso_ring, BPF_RB_AVAIL_DATA);

	bpf_ringbuf_submit(e, waiting > ISO_WAKE_BYTES ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/*
 * Says that `why` happened at one or two places. What is said is a global function, here and in
 * net.bpf.h and vfs.bpf.h: the verifier goes through it once for each program and not once for each
 * reason and place that a program can name. The verdict is never its return value.
 */
__noinline int iso_say_refusal(struct iso_label *label, struct iso_refusal *why,
			       struct iso_place *place, struct iso_place *place2)
{
	struct iso_event *e;

	if (!label || !why)
		return 0;
	if (place)
		why->object = iso_place_hash(why->object, place);
	if (place2)
		why->object = iso_place_hash(why->object, place2);
	e = iso_event_start(label, why);
	if (!e)
		return 0;
	if (place) {
		iso_event_object(e, place->dentry);
		iso_path_build(&e->path, place);
	}
	if (place2)
		iso_path_build(&e->path2, place2);
	iso_event_send(e);
	return 0;
}

/* Says it and gives the hook its error. */
static __always_inline int iso_refuse_at(struct iso_label *label, struct iso_refusal *why,
					 struct iso_place *place, struct iso_place *place2)
{
	iso_say_refusal(label, why, place, place2);
	return iso_refuse(why->error);
}

#endif
