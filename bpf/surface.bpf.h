/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel interfaces that no task has any business with, and other people's processes.
 *
 * refused to every label: mount family, user namespaces, module requests, perf, bpf(2), io_uring's
 *   escapes, keys, clock, kernel log, code and data for the kernel, what lockdown knows. isoinit
 *   and the builder may mount until the seal.
 *
 * capable                a task has no capability; should it come to one, it may not use it
 * bpf, ptrace_access_check and task_kill also ask the guard (guard.bpf.h), for those outside
 * ptrace_access_check    READ-like access within the sandbox only; attaching never
 * task_kill              signals stay within the sandbox, and never reach isoinit
 * task_setrlimit         RLIMIT_CORE stays: a core dump to a pipe runs a helper outside every label
 * task_setscheduler      within the sandbox only
 * file_send_sigiotask    a signal that a file sends to its owner passes task_kill by
 *
 * Left out: task_prlimit knows no target, only credentials, and comes after the ids were found
 * equal or CAP_SYS_RESOURCE held; no one but mates has a task's ids, and task_setrlimit knows the
 * target.
 */
#ifndef ISO_SURFACE_BPF_H
#define ISO_SURFACE_BPF_H

static __always_inline int iso_surface(__u32 hook, __s32 error)
{
	struct iso_label *label = iso_inside();
	struct iso_refusal why = {
		.kind = ISO_EVENT_OTHER,
		.hook = hook,
		.reason = ISO_REASON_SURFACE,
		.error = error,
	};

	if (!label || iso_trusted(label))
		return 0;
	return iso_refuse_at(label, &why, 0, 0);
}

#define ISO_SURFACE_HOOK(hook)                              \
	SEC("lsm/" #hook)                                   \
	int BPF_PROG(iso_##hook)                            \
	{                                                   \
		return iso_surface(ISO_HOOK_##hook, EPERM); \
	}

ISO_SURFACE_HOOK(sb_mount)
ISO_SURFACE_HOOK(sb_umount)
ISO_SURFACE_HOOK(sb_pivotroot)
ISO_SURFACE_HOOK(move_mount)
ISO_SURFACE_HOOK(userns_create)
ISO_SURFACE_HOOK(kernel_module_request)
ISO_SURFACE_HOOK(perf_event_open)
ISO_SURFACE_HOOK(uring_override_creds)
ISO_SURFACE_HOOK(uring_sqpoll)
ISO_SURFACE_HOOK(uring_cmd)
ISO_SURFACE_HOOK(key_alloc)
ISO_SURFACE_HOOK(key_permission)
ISO_SURFACE_HOOK(kernel_read_file)
ISO_SURFACE_HOOK(kernel_load_data)
ISO_SURFACE_HOOK(locked_down)
ISO_SURFACE_HOOK(settime)
ISO_SURFACE_HOOK(syslog)

/* No sandbox does anything with bpf(2); what the host does must leave the enforcement alone. */
SEC("lsm/bpf")
int BPF_PROG(iso_bpf, int cmd, void *attr)
{
	int r = iso_surface(ISO_HOOK_bpf, EPERM);

	return r ? r : iso_guard_bpf(cmd, attr);
}

/* Only where the operator's ceiling and the manifest allow it; what is done by it is judged. */
SEC("lsm/uring_allowed")
int BPF_PROG(iso_uring_allowed)
{
	struct iso_label *label = iso_inside();

	if (label && !iso_standing(label) && label->flags & ISO_SB_URING)
		return 0;
	return iso_surface(ISO_HOOK_uring_allowed, EPERM);
}

/* A process of the same sandbox that is not isoinit. */
static __always_inline bool iso_is_mate(struct iso_label *mine, struct iso_label *other)
{
	return other && other->sandbox == mine->sandbox && other->role != ISO_ROLE_INIT;
}

static __always_inline int iso_process_refuse(struct iso_label *label, __u32 hook)
{
	struct iso_refusal why = {
		.kind = ISO_EVENT_OTHER,
		.hook = hook,
		.reason = ISO_REASON_SURFACE,
		.error = EPERM,
	};

	return iso_refuse_at(label, &why, 0, 0);
}

/* isoinit, and whatever builds the sandbox, may do to its processes what it likes. */
static __always_inline bool iso_is_keeper(struct iso_label *label)
{
	return label->role == ISO_ROLE_INIT || label->role == ISO_ROLE_BUILD;
}

SEC("lsm/ptrace_access_check")
int BPF_PROG(iso_ptrace_access_check, struct task_struct *child, unsigned int mode)
{
	struct iso_label *label = iso_inside();

	if (!label || iso_is_keeper(label))
		return mode & ISO_PTRACE_MODE_ATTACH
			       ? iso_guard_process(ISO_HOOK_ptrace_access_check, child, mode)
			       : 0;
	if (!(mode & ISO_PTRACE_MODE_ATTACH) && iso_is_mate(label, iso_label_of(child)))
		return 0;
	return iso_process_refuse(label, ISO_HOOK_ptrace_access_check);
}

SEC("lsm/ptrace_traceme")
int BPF_PROG(iso_ptrace_traceme, struct task_struct *parent)
{
	struct iso_label *label = iso_inside();

	return label ? iso_process_refuse(label, ISO_HOOK_ptrace_traceme) : 0;
}

SEC("lsm/task_kill")
int BPF_PROG(iso_task_kill, struct task_struct *target, void *info, int signal)
{
	struct iso_label *label = iso_inside();

	if (!label || iso_is_keeper(label))
		return signal ? iso_guard_process(ISO_HOOK_task_kill, target, signal) : 0;
	if (iso_is_mate(label, iso_label_of(target)))
		return 0;
	return iso_process_refuse(label, ISO_HOOK_task_kill);
}

SEC("lsm/task_setrlimit")
int BPF_PROG(iso_task_setrlimit, struct task_struct *target, unsigned int resource)
{
	struct iso_label *label = iso_inside();

	/* LAUNCH sets the limits that the manifest names, before the entry command is there */
	if (!label || label->role != ISO_ROLE_TASK)
		return 0;
	if (resource != ISO_RLIMIT_CORE && iso_is_mate(label, iso_label_of(target)))
		return 0;
	return iso_process_refuse(label, ISO_HOOK_task_setrlimit);
}

/*
 * Asked after the kernel has found the capability, so never of a task as it is launched. Work that
 * the kernel does under another's credentials (overlayfs: its mounter's) is not the task's. What is
 * asked without audit changes how something is done, not whether, and is no event.
 */
SEC("lsm/capable")
int BPF_PROG(iso_capable, const struct cred *cred, void *ns, int capability, unsigned int options)
{
	struct iso_label *label = iso_inside();

	if (!label || label->role != ISO_ROLE_TASK)
		return 0;
	if (cred != bpf_get_current_task_btf()->real_cred)
		return 0;
	if (options & ISO_CAP_OPT_NOAUDIT)
		return iso_refuse(EPERM);
	return iso_process_refuse(label, ISO_HOOK_capable);
}

/* Who wrote to the file cannot be seen here. Neither isoinit nor isod asks a file for signals. */
SEC("lsm/file_send_sigiotask")
int BPF_PROG(iso_file_send_sigiotask, struct task_struct *target)
{
	struct iso_label *label = iso_label_of(target);

	if (!label || (label->role != ISO_ROLE_INIT && label->role != ISO_ROLE_AGENT))
		return 0;
	return iso_process_refuse(label, ISO_HOOK_file_send_sigiotask);
}

SEC("lsm/task_setscheduler")
int BPF_PROG(iso_task_setscheduler, struct task_struct *target)
{
	struct iso_label *label = iso_inside();

	if (!label || iso_is_keeper(label) || iso_is_mate(label, iso_label_of(target)))
		return 0;
	return iso_process_refuse(label, ISO_HOOK_task_setscheduler);
}

#endif
