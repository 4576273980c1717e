/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reverse guard: what nobody may do to the enforcement itself, host root included, while it is
 * closing or locked. lock.bpf.h says how it gets there.
 *
 * bpf                  a descriptor by id of an object of ours; loading LSM, EXT, fmod_ret and
 *                      cgroup/sysctl programs, attaching such but EXT; detaching links by command.
 *                      By the attribute alone, which is the kernel's copy: what a descriptor number
 *                      means can change meanwhile.
 * bpf_map, bpf_prog    every new descriptor (by id, by path, read-only too) to an object of ours,
 *                      judged by the object; to a program that decides and was still being loaded
 *                      when the scan went by, or that has got hold of a map of ours
 * file_receive         a descriptor of ours that arrives (SCM_RIGHTS, pidfd_getfd)
 * mmap_file            a mapping of a map of ours
 * ptrace_access_check  attaching: ptrace(2), /proc/PID/mem, process_vm_*, pidfd_getfd
 * task_kill            signals but 0, which is none
 * sysctl               kernel.ftrace_enabled, by whomever: at 0 all BPF LSM programs are detached
 *
 * Excepted are the agent (isod), and the host's init where it has to be: it ends services and
 * stores descriptors. Never comm, never a path.
 *
 * Cannot see: EXT programs being attached (the attribute does not say it), which need a descriptor
 * of what they replace; signals that the kernel sends by itself (cgroup.kill, out of memory).
 */
#ifndef ISO_GUARD_BPF_H
#define ISO_GUARD_BPF_H

#define ISO_TAMPER_RATE 500ull /* records a second */
#define ISO_HOST_INIT	1

static __always_inline struct iso_guard *iso_guard_of(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&iso_guard, &zero);
}

/* The guard when it is on, or NULL. */
static __always_inline struct iso_guard *iso_guard_on(void)
{
	struct iso_guard *guard = iso_guard_of();

	return guard && guard->state != ISO_GUARD_OPEN ? guard : 0;
}

static __always_inline bool iso_is_agent(void)
{
	struct iso_label *label = iso_current();

	return label && label->role == ISO_ROLE_AGENT;
}

static __always_inline bool iso_is_host_init(void)
{
	return bpf_get_current_pid_tgid() >> 32 == ISO_HOST_INIT;
}

static __always_inline bool iso_guards(__u32 object, __u32 id)
{
	__u64 key = (__u64)object << 32 | id;

	return bpf_map_lookup_elem(&iso_guarded, &key);
}

/* ---------------------------------------------------------------------------- saying it */

/* What was tried, before it becomes a record. */
struct iso_attempt {
	__u32 hook;
	__u32 reason;
	__u32 object;
	__u32 id;
	__u32 command;
	__u32 exec; /* of a label: its number within */
	__u64 sandbox;
	__u64 name; /* address of 16 bytes in the kernel, or 0 */
};

/* Takes a token of the guard's own bucket: a flood on the host takes none of a sandbox's. */
static __always_inline bool iso_tamper_allowed(struct iso_guard *guard, __u64 now)
{
	/* several processors at once: signed, as another's time may be later and the bucket below 0
	 */
	if ((__s64)(now - guard->bucket_time) > (__s64)ISO_NSEC_PER_SEC) {
		guard->bucket_time = now;
		guard->bucket = ISO_TAMPER_RATE;
	}
	return (__s64)__sync_fetch_and_add(&guard->bucket, -1) > 0;
}

static __always_inline void iso_tamper_actor(struct iso_tamper *t)
{
	struct task_struct *task = bpf_get_current_task_btf();

	t->pid = BPF_CORE_READ(task, tgid);
	t->tid = BPF_CORE_READ(task, pid);
	t->ppid = BPF_CORE_READ(task, real_parent, tgid);
	t->uid = BPF_CORE_READ(task, cred, uid.val);
	BPF_CORE_READ_INTO(&t->comm, task, comm);
	if (bpf_probe_read_kernel_str(
		    t->exe, sizeof t->exe,
		    BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name)) < 0)
		t->exe[0] = 0;
}

/* Global for the verifier's sake (event.bpf.h). */
__noinline int iso_say_tamper(struct iso_attempt *a)
{
	struct iso_guard *guard = iso_guard_of();
	__u64 now = bpf_ktime_get_boot_ns(), sequence;
	struct iso_tamper *t;

	if (!a || !guard)
		return 0;
	sequence = __sync_fetch_and_add(&guard->refused, 1) + 1;
	if (!iso_tamper_allowed(guard, now))
		return 0;
	t = bpf_ringbuf_reserve(&iso_ring, sizeof *t, 0);
	if (!t) {
		iso_count(ISO_COUNT_RING_FULL);
		return 0;
	}
	t->time = now;
	t->sequence = sequence;
	t->sandbox = a->sandbox;
	t->exec = a->exec;
	t->hook = a->hook;
	t->reason = a->reason;
	t->error = EPERM;
	t->object = a->object;
	t->id = a->id;
	t->command = a->command;
	if (!a->name || bpf_probe_read_kernel(t->name, sizeof t->name, (void *)a->name))
		__builtin_memset(t->name, 0, sizeof t->name);
	t->name[sizeof t->name - 1] = 0;
	iso_tamper_actor(t);
	/* at once: nothing else may happen for hours that would wake the reader */
	bpf_ringbuf_submit(t, BPF_RB_FORCE_WAKEUP);
	return 0;
}

static __always_inline int iso_guard_refuse(struct iso_attempt *a)
{
	struct iso_label *label = iso_inside();

	if (label) {
		a->sandbox = label->sandbox;
		a->exec = label->exec;
	}
	iso_say_tamper(a);
	return iso_refuse(EPERM);
}

/* ---------------------------------------------------------------------------- objects */

/*
 * Programs that can change what a hook or another program of ours answers. A later cgroup/sysctl
 * program takes back the refusal of an earlier one (bpf_set_retval).
 */
static __always_inline bool iso_decides(__u32 type, __u32 attach)
{
	return type == BPF_PROG_TYPE_LSM || type == BPF_PROG_TYPE_EXT ||
	       type == BPF_PROG_TYPE_CGROUP_SYSCTL ||
	       (type == BPF_PROG_TYPE_TRACING && attach == BPF_MODIFY_RETURN);
}

static __always_inline bool iso_attach_decides(__u32 attach)
{
	return attach == BPF_MODIFY_RETURN || attach == BPF_LSM_MAC || attach == BPF_LSM_CGROUP ||
	       attach == BPF_CGROUP_SYSCTL;
}

static __always_inline bool iso_attr_word(const void *attr, __u32 at, __u32 *ret)
{
	if (!bpf_probe_read_kernel(ret, sizeof *ret, (const char *)attr + at))
		return true;
	iso_count(ISO_COUNT_READ_FAILED);
	return false;
}

/*
 * What bpf(2) is asked for: the object it is about, or 0 when it is nothing to us. What cannot be
 * read is taken for a program that decides.
 */
static __noinline __u32 iso_guard_asked(int cmd, const void *attr, __u32 *ret_id)
{
	struct iso_guard *guard = iso_guard_of();
	__u32 first = 0, other = 0, object = 0;

	if (!iso_attr_word(attr, ISO_ATTR_FIRST, &first))
		return ISO_OBJECT_FOREIGN;
	switch (cmd) {
	case BPF_MAP_GET_FD_BY_ID:
		object = ISO_OBJECT_MAP;
		break;
	case BPF_PROG_GET_FD_BY_ID:
		object = ISO_OBJECT_PROGRAM;
		break;
	case BPF_LINK_GET_FD_BY_ID:
		object = ISO_OBJECT_LINK;
		break;
	case BPF_PROG_LOAD:
		return !iso_attr_word(attr, ISO_ATTR_PROG_ATTACH, &other) ||
				       iso_decides(first, other)
			       ? ISO_OBJECT_FOREIGN
			       : 0;
	case BPF_LINK_CREATE:
	case BPF_PROG_ATTACH: /* the attach type is at the same place */
		return !iso_attr_word(attr, ISO_ATTR_LINK_ATTACH, &other) ||
				       iso_attach_decides(other)
			       ? ISO_OBJECT_FOREIGN
			       : 0;
	case BPF_LINK_DETACH:
		/* of whatever link, for which one the number means is not known here; whoever holds
		 * one of his own ends it by closing */
		return ISO_OBJECT_LINK;
	case BPF_RAW_TRACEPOINT_OPEN:
		/* without a name, and without saying what: refused where it could be one that
		 * decides */
		if (!iso_attr_word(attr, ISO_ATTR_FIRST + 4, &other))
			return ISO_OBJECT_FOREIGN;
		return !(first | other) && guard && guard->foreign ? ISO_OBJECT_FOREIGN : 0;
	}
	if (!object || !iso_guards(object, first))
		return 0;
	*ret_id = first;
	return object;
}

static __always_inline int iso_guard_bpf(int cmd, const void *attr)
{
	struct iso_attempt a = {.hook = ISO_HOOK_bpf, .command = cmd};

	if (!iso_guard_on() || iso_is_agent())
		return 0;
	a.object = iso_guard_asked(cmd, attr, &a.id);
	if (!a.object)
		return 0;
	a.reason = a.object == ISO_OBJECT_FOREIGN ? ISO_REASON_FOREIGN : ISO_REASON_GUARDED;
	return iso_guard_refuse(&a);
}

SEC("lsm/bpf_map")
int BPF_PROG(iso_bpf_map, struct bpf_map *map)
{
	struct iso_attempt a = {
		.hook = ISO_HOOK_bpf_map, .reason = ISO_REASON_GUARDED, .object = ISO_OBJECT_MAP};

	if (!iso_guard_on())
		return 0;
	a.id = map->id;
	if (!iso_guards(ISO_OBJECT_MAP, a.id) || iso_is_agent())
		return 0;
	a.name = (__u64)map + bpf_core_field_offset(struct bpf_map, name);
	return iso_guard_refuse(&a);
}

/* A program's way through its maps. */
struct iso_use {
	__u64 maps; /* address of the array of pointers */
	__u32 count;
	__u32 ours;
};

static long iso_use_step(__u32 i, struct iso_use *use)
{
	struct bpf_map *map = 0;

	if (i >= use->count)
		return 1;
	if (bpf_probe_read_kernel(&map, sizeof map, (void *)(use->maps + i * sizeof map))) {
		use->ours = 1; /* not known: taken for one */
		return 1;
	}
	if (!iso_guards(ISO_OBJECT_MAP, BPF_CORE_READ(map, id)))
		return 0;
	use->ours = 1;
	return 1;
}

#define ISO_USED_MAPS 64 /* MAX_USED_MAPS of include/linux/bpf_verifier.h */

/* Does a program of somebody else use a map of ours, or replace a program of ours? */
static __noinline bool iso_is_intruder(struct bpf_prog *prog)
{
	struct bpf_prog_aux *aux = BPF_CORE_READ(prog, aux);
	struct bpf_prog *replaced = BPF_CORE_READ(aux, dst_prog);
	struct iso_use use = {.maps = (__u64)BPF_CORE_READ(aux, used_maps),
			      .count = BPF_CORE_READ(aux, used_map_cnt)};

	if (replaced && iso_guards(ISO_OBJECT_PROGRAM, BPF_CORE_READ(replaced, aux, id)))
		return true;
	bpf_loop(ISO_USED_MAPS, iso_use_step, &use, 0);
	return use.ours;
}

SEC("lsm/bpf_prog")
int BPF_PROG(iso_bpf_prog, struct bpf_prog *prog)
{
	struct iso_attempt a = {.hook = ISO_HOOK_bpf_prog, .object = ISO_OBJECT_PROGRAM};

	if (!iso_guard_on() || iso_is_agent())
		return 0;
	a.id = BPF_CORE_READ(prog, aux, id);
	if (iso_guards(ISO_OBJECT_PROGRAM, a.id)) {
		a.reason = ISO_REASON_GUARDED;
	} else {
		__u32 type = BPF_CORE_READ(prog, type),
		      attach = BPF_CORE_READ(prog, expected_attach_type);

		if (!(iso_decides(type, attach) && !iso_guards(ISO_OBJECT_FOREIGN, a.id)) &&
		    !iso_is_intruder(prog))
			return 0;
		a.reason = ISO_REASON_FOREIGN;
		a.object = ISO_OBJECT_FOREIGN;
	}
	a.name = (__u64)BPF_CORE_READ(prog, aux) + bpf_core_field_offset(struct bpf_prog_aux, name);
	return iso_guard_refuse(&a);
}

/* The object of ours behind a file, in *a; false: there is none. */
static __noinline bool iso_guard_behind(struct file *file, struct iso_attempt *a)
{
	struct iso_guard *guard = iso_guard_of();
	__u64 fops = (__u64)BPF_CORE_READ(file, f_op), object;

	if (!guard || !fops)
		return false;
	object = (__u64)BPF_CORE_READ(file, private_data);
	if (fops == guard->fops[ISO_OBJECT_MAP]) {
		a->object = ISO_OBJECT_MAP;
		a->id = BPF_CORE_READ((struct bpf_map *)object, id);
		a->name = object + bpf_core_field_offset(struct bpf_map, name);
	} else if (fops == guard->fops[ISO_OBJECT_PROGRAM]) {
		a->object = ISO_OBJECT_PROGRAM;
		object = (__u64)BPF_CORE_READ((struct bpf_prog *)object, aux);
		a->id = BPF_CORE_READ((struct bpf_prog_aux *)object, id);
		a->name = object + bpf_core_field_offset(struct bpf_prog_aux, name);
	} else if (fops == guard->fops[ISO_OBJECT_LINK]) {
		a->object = ISO_OBJECT_LINK;
		a->id = BPF_CORE_READ((struct bpf_link *)object, id);
		object = (__u64)BPF_CORE_READ((struct bpf_link *)object, prog, aux);
		a->name = object + bpf_core_field_offset(struct bpf_prog_aux, name);
	} else {
		return false;
	}
	return iso_guards(a->object, a->id);
}

static __always_inline int iso_guard_file(__u32 hook, struct file *file)
{
	struct iso_attempt a = {.hook = hook, .reason = ISO_REASON_GUARDED};

	if (!iso_guard_on() || !iso_guard_behind(file, &a) || iso_is_agent())
		return 0;
	/* what systemd keeps for the next agent goes by its init */
	if (hook == ISO_HOOK_file_receive && iso_is_host_init())
		return 0;
	return iso_guard_refuse(&a);
}

/* ---------------------------------------------------------------------------- processes */

/*
 * isod, isoinit, and what becomes isoinit; to be traced also what isoinit has forked, which shares
 * its descriptors, and the host's init, which is excepted below. isod by its number too: on 6.1 a
 * label cannot be asked for at every moment.
 */
static __always_inline bool iso_is_guarded(struct task_struct *task, bool traced)
{
	struct iso_globals *g = iso_globals();
	struct iso_label *label;

	if ((g && g->agents && (__u32)task->tgid == g->agent_tgid) ||
	    (traced && task->tgid == ISO_HOST_INIT))
		return true;
	if (!task->bpf_storage)
		return false;
	label = iso_label_of(task);
	return label &&
	       (label->role == ISO_ROLE_AGENT || label->role == ISO_ROLE_INIT ||
		label->role == ISO_ROLE_BUILD || (traced && label->role == ISO_ROLE_LAUNCH));
}

static __always_inline int iso_guard_process(__u32 hook, struct task_struct *target, __u32 command)
{
	struct iso_attempt a = {.hook = hook,
				.reason = ISO_REASON_PROCESS,
				.object = ISO_OBJECT_PROCESS,
				.command = command};

	bool traced = hook == ISO_HOOK_ptrace_access_check;

	/* init ends services, and traces nobody */
	if (!iso_guard_on() || !iso_is_guarded(target, traced) || iso_is_agent() ||
	    (!traced && iso_is_host_init()))
		return 0;
	a.id = target->tgid;
	a.name = (__u64)target + bpf_core_field_offset(struct task_struct, comm);
	return iso_guard_refuse(&a);
}

/* ---------------------------------------------------------------------------- trampolines */

/* 1 allows, 0 refuses with EPERM. On the root cgroup, so everybody's writes come here. */
SEC("cgroup/sysctl")
int iso_sysctl(struct bpf_sysctl *context)
{
	struct iso_attempt a = {.hook = ISO_HOOK_sysctl,
				.reason = ISO_REASON_TRAMPOLINES,
				.object = ISO_OBJECT_SYSCTL};
	/* on the stack: two constants of the object's own make a BTF that libbpf 1.1 does not mend
	 */
	const char trampolines[] = "kernel/ftrace_enabled";
	char name[32] = {};
	long length;

	if (!context->write || !iso_guard_on())
		return 1;
	length = bpf_sysctl_get_name((void *)context, name, sizeof name, 0);
	/* a name that does not fit is another one; one that cannot be had is refused */
	if (length == -E2BIG)
		return 1;
	for (unsigned i = 0; length >= 0 && i < sizeof trampolines; i++)
		if (name[i] != trampolines[i])
			return 1;
	iso_say_tamper(&a);
	return 0;
}

#endif
