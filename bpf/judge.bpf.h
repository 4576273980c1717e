/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One verdict for all file and exec hooks: does this sandbox hold these rights at that place?
 * Everything that cannot be answered is refused, with a reason that says so.
 */
#ifndef ISO_JUDGE_BPF_H
#define ISO_JUDGE_BPF_H

#define ISO_PROC_NAME_MAX 16

/* Files below /proc/PID that a program may write; everything else there is read-only. */
static const char iso_proc_writable[][ISO_PROC_NAME_MAX] = {
	"comm", "oom_score_adj", "oom_adj", "coredump_filter", "timerslack_ns",
};

/* Files of /proc that no program may read: kernel memory, keys, logs, other people's secrets. */
static const char iso_proc_closed[][ISO_PROC_NAME_MAX] = {
	"kcore",       "kmsg",	      "keys",	       "key-users",  "kallsyms", "kpagecount",
	"kpageflags",  "kpagecgroup", "slabinfo",      "timer_list", "iomem",	 "ioports",
	"vmallocinfo", "sched_debug", "sysrq-trigger", "mem",
};

#define ISO_NAMED(table, name) iso_named(table, sizeof table / sizeof *table, name)

static __always_inline bool iso_named(const char (*table)[ISO_PROC_NAME_MAX], int rows,
				      const __u64 *name)
{
	for (int i = 0; i < rows; i++) {
		const __u64 *row = (const __u64 *)table[i];

		if (row[0] == name[0] && row[1] == name[1])
			return true;
	}
	return false;
}

/* procfs makes and drops its inodes as it likes, so what is in it is judged by name. */
static __noinline bool iso_proc_allows(struct dentry *dentry, __u32 want)
{
	__u64 name[2] = {};

	if (BPF_CORE_READ(dentry, d_name.len) < ISO_PROC_NAME_MAX &&
	    bpf_probe_read_kernel_str(name, sizeof name, BPF_CORE_READ(dentry, d_name.name)) < 0)
		return false;
	if (want & (ISO_EXEC | ISO_MAKE))
		return false;
	if (want & ISO_WRITE)
		return ISO_NAMED(iso_proc_writable, name);
	return !ISO_NAMED(iso_proc_closed, name);
}

/*
 * The reason for refusing `want` at the end of a walk that began at `start`; 0 allows. A file in
 * nobody's tree (pipe, memfd) is read and written, never executed.
 */
static __always_inline __u32 iso_verdict(struct iso_walk *w, struct dentry *start, __u32 want)
{
	switch (w->end) {
	case ISO_WALK_RULE:
		if (w->magic == ISO_PROC_SUPER_MAGIC && w->rights)
			return iso_proc_allows(start, want) ? 0 : ISO_REASON_PROC;
		return (w->rights & want) == want ? 0 : ISO_REASON_RIGHTS;
	case ISO_WALK_ANONYMOUS:
		return want & (ISO_EXEC | ISO_MAKE) ? ISO_REASON_ANONYMOUS : 0;
	case ISO_WALK_DEEP:
		return ISO_REASON_DEPTH;
	default:
		return ISO_REASON_NO_RULE;
	}
}

/* A question at one place. `walk` holds the answer's rule afterwards. */
struct iso_question {
	struct iso_label *label;
	__u32 hook;
	__u32 kind;
	__u32 want;
	__u32 mode;
	bool backing; /* overlayfs' own file below one that was judged */
};

/* Hooks that run while a file is being opened. */
static __always_inline bool iso_hook_opens(__u32 hook)
{
	return hook == ISO_HOOK_file_open || hook == ISO_HOOK_path_mknod ||
	       hook == ISO_HOOK_path_truncate || hook == ISO_HOOK_file_truncate ||
	       hook == ISO_HOOK_inode_setattr;
}

static __always_inline int iso_answer(const struct iso_question *q, __u32 reason, __u32 rule,
				      struct iso_place *place, struct iso_place *place2)
{
	struct iso_refusal why = {
		.kind = q->kind,
		.hook = q->hook,
		.reason = reason,
		.rule = rule,
		.wanted = q->want,
		.mode = q->mode,
		.error = EACCES,
	};

	if (!reason || reason == ISO_TRUSTED)
		return 0;
	/* do_filp_open will fail with this error: it has been said (vfs.bpf.h) */
	if (iso_hook_opens(q->hook) && iso_call_opens(q->label))
		q->label->refused = 1;
	return iso_refuse_at(q->label, &why, place, place2);
}

/* Judges one place from BTF pointers. 0 or a negative errno, said as an event. */
static __always_inline int iso_judge(const struct iso_question *q, struct dentry *dentry,
				     struct vfsmount *mnt)
{
	struct iso_place place = {dentry, mnt};
	struct iso_walk w = {.sandbox = q->label->sandbox};
	__u32 reason = iso_standing(q->label);

	if (!reason) {
		iso_walk_direct(&w, dentry, mnt);
		if (!q->backing || w.end != ISO_WALK_ANONYMOUS)
			reason = iso_verdict(&w, dentry, q->want);
	}
	return iso_answer(q, reason, w.rule, &place, 0);
}

/* The same for hooks that know no mount. */
static __always_inline int iso_judge_unmounted(const struct iso_question *q, struct dentry *dentry)
{
	struct iso_place place = {dentry, 0};
	struct iso_walk w = {.sandbox = q->label->sandbox};
	__u32 reason = iso_standing(q->label);

	if (!reason) {
		iso_walk_unmounted(&w, dentry);
		reason = iso_verdict(&w, dentry, q->want);
	}
	return iso_answer(q, reason, w.rule, &place, 0);
}

/* The same from a bare address. An overlayfs mapping is judged by the path that was opened. */
static __always_inline int iso_judge_blind(const struct iso_question *q, struct file *file)
{
	struct iso_place place = {};
	struct iso_walk w = {.sandbox = q->label->sandbox};
	__u32 reason = iso_standing(q->label);

	iso_user_path(file, &place);
	if (!reason) {
		iso_walk_blind(&w, place.dentry, place.mnt);
		reason = iso_verdict(&w, place.dentry, q->want);
	}
	return iso_answer(q, reason, w.rule, &place, 0);
}

#endif
