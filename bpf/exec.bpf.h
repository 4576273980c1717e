/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What may run.
 *
 * bprm_check_security   EXEC on each file of an interpreter chain. While the sandbox is being built
 *                       nothing but the registered launcher may be executed in it. A task without
 *                       a label in a bound cgroup is refused: the backstop of identity.bpf.h.
 * bprm_committed_creds  gives the program its exec id; the launcher becomes isoinit, its
 *                       child becomes the task
 * mmap_file             EXEC on a file mapped executable: ld.so as launcher ends here. Anonymous
 *                       executable memory only where the profile allows it; a mapping that can be
 *                       written while it is executable counts as anonymous, whatever file it is of
 * file_mprotect         the same for a mapping made executable later; one that was written
 *                       privately (it has an anon_vma) counts as anonymous too
 *
 * mmap_file's file may be NULL, which BTF says from 6.16 on only: on older kernels the verifier
 * takes it for non-NULL and drops the test. It is therefore read as a bare address.
 */
#ifndef ISO_EXEC_BPF_H
#define ISO_EXEC_BPF_H

#define ISO_ASK_EXEC(label_, hook_)                                                  \
	{                                                                            \
		.label = (label_), .hook = ISO_HOOK_##hook_, .kind = ISO_EVENT_EXEC, \
		.want = ISO_EXEC                                                     \
	}

/* Only the launcher runs before the seal; it is known by its inode. */
static __always_inline bool iso_is_launcher(struct iso_label *label, struct iso_sandbox *sb,
					    struct file *file)
{
	return label->role == ISO_ROLE_BUILD && sb->launcher &&
	       sb->launcher == (__u64)BPF_CORE_READ(file, f_inode);
}

SEC("lsm/bprm_check_security")
int BPF_PROG(iso_bprm_check_security, struct linux_binprm *bprm)
{
	struct iso_question q = ISO_ASK_EXEC(iso_current(), bprm_check_security);
	struct iso_globals *g = iso_globals();
	struct iso_sandbox *sb;

	if (!q.label || !q.label->sandbox) {
		if (!g || !g->bound || !iso_bound_cgroup(bpf_get_current_task_btf()))
			return 0;
		iso_count(ISO_COUNT_LABEL_FAILED);
		return iso_refuse(EPERM);
	}
	sb = iso_sandbox_of(q.label->sandbox);
	if (sb && sb->state == ISO_STATE_BUILDING) {
		if (iso_is_launcher(q.label, sb, bprm->file))
			return 0;
		return iso_answer(&q, ISO_REASON_NOT_SEALED, ISO_RULE_NONE, 0, 0);
	}
	if (q.label->role == ISO_ROLE_INIT || q.label->role == ISO_ROLE_BUILD)
		return iso_answer(&q, ISO_REASON_SURFACE, ISO_RULE_NONE, 0, 0);
	return iso_judge_blind(&q, bprm->file);
}

SEC("lsm/bprm_committed_creds")
int BPF_PROG(iso_bprm_committed_creds, struct linux_binprm *bprm)
{
	struct iso_label *label = iso_inside();
	struct iso_sandbox *sb;

	if (!label)
		return 0;
	sb = iso_sandbox_of(label->sandbox);
	if (!sb)
		return 0;
	label->exec = __sync_fetch_and_add(&sb->next_exec, 1) + 1;
	if (label->role == ISO_ROLE_BUILD) {
		label->role = ISO_ROLE_INIT;
		sb->launcher = 0;
	} else if (label->role == ISO_ROLE_LAUNCH) {
		label->role = ISO_ROLE_TASK;
		if (sb->state == ISO_STATE_SEALED)
			sb->state = ISO_STATE_USED;
	}
	return 0;
}

/* Executable memory that no file answers for; `file`: the one that it began as, or NULL. */
static __always_inline int iso_judge_anonymous(struct iso_question *q, struct file *file)
{
	__u32 reason = iso_standing(q->label);
	struct iso_place place = {};

	if (!reason && !(q->label->flags & ISO_SB_ANON_EXEC))
		reason = ISO_REASON_ANONYMOUS;
	if (!reason || reason == ISO_TRUSTED)
		return 0;
	if (file)
		iso_user_path(file, &place);
	return iso_answer(q, reason, ISO_RULE_NONE, file ? &place : 0, 0);
}

SEC("lsm/mmap_file")
int iso_mmap_file(unsigned long long *ctx)
{
	struct iso_question q = ISO_ASK_EXEC(0, mmap_file);
	struct file *file = 0;
	int unread, r;

	if (!(ctx[2] & ISO_PROT_EXEC) && !iso_guard_on())
		return 0;
	unread = bpf_probe_read_kernel(&file, sizeof file, ctx);
	if (file) {
		r = iso_guard_file(ISO_HOOK_mmap_file, file);
		if (r)
			return r;
	}
	if (!(ctx[2] & ISO_PROT_EXEC))
		return 0;
	q.label = iso_inside();
	if (!q.label)
		return 0;
	if (unread)
		return iso_answer(&q, ISO_REASON_UNREADABLE, ISO_RULE_NONE, 0, 0);
	if (!file)
		return iso_judge_anonymous(&q, 0);
	if (ctx[2] & ISO_PROT_WRITE) {
		r = iso_judge_anonymous(&q, file);
		if (r)
			return r;
	}
	return iso_judge_blind(&q, file);
}

SEC("lsm/file_mprotect")
int BPF_PROG(iso_file_mprotect, struct vm_area_struct *vma, unsigned long reqprot,
	     unsigned long prot)
{
	struct iso_question q = ISO_ASK_EXEC(0, file_mprotect);
	struct file *file;
	int r;

	if (!(prot & ISO_PROT_EXEC))
		return 0;
	q.label = iso_inside();
	if (!q.label)
		return 0;
	file = BPF_CORE_READ(vma, vm_file);
	if (!file)
		return iso_judge_anonymous(&q, 0);
	if (prot & ISO_PROT_WRITE || BPF_CORE_READ(vma, anon_vma)) {
		r = iso_judge_anonymous(&q, file);
		if (r)
			return r;
	}
	return iso_judge_blind(&q, file);
}

#endif
