/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the VFS refuses before any hook runs, told to the SOC. These report, they decide nothing.
 *
 * do_filp_open (7.x:    ENOENT of an assert_absent path or of one below it (as it was asked for, if
 * do_file_open)        absolute); EROFS
 * mnt_want_write       EROFS: anything but open that would change a read-only mount
 *                      (open comes here too and is told apart by its system call)
 * mnt_want_write_file  the same through a descriptor
 *
 * Cannot see: an absent path that is asked for by a relative name, or by stat(2).
 */
#ifndef ISO_VFS_BPF_H
#define ISO_VFS_BPF_H

#define ISO_ASKED_BYTES 256

static __always_inline bool iso_failed(const void *result, int error)
{
	return (long)result == -error;
}

static __always_inline struct iso_label *iso_sealed_inside(void)
{
	struct iso_label *label = iso_inside();

	if (!label || iso_building(label, iso_sandbox_of(label->sandbox)))
		return 0;
	return label;
}

/* Says what was asked for, with the path as the task gave it. */
static __noinline int iso_say_asked(struct iso_label *label, struct iso_refusal *why,
				    const char *name, bool user)
{
	struct iso_event *e = iso_event_start(label, why);
	long n;

	if (!e)
		return 0;
	n = user ? bpf_probe_read_user_str(e->path.area, ISO_ASKED_BYTES, name)
		 : bpf_probe_read_kernel_str(e->path.area, ISO_ASKED_BYTES, name);
	if (n > 0) {
		e->path.length = n - 1;
		e->path.truncated = n == ISO_ASKED_BYTES;
	}
	iso_event_send(e);
	return 0;
}

/* Rule of the assert_absent entry that is this absolute path or an ancestor of it; 0: none. */
static __noinline __u32 iso_absent_rule(__u64 sandbox, const char *name)
{
	struct iso_absent_key key = {sandbox, ISO_HASH_SEED};
	char text[ISO_ASKED_BYTES] = {};
	__u32 *rule;
	char last = 0;

	if (bpf_probe_read_kernel_str(text, sizeof text, name) < 0 || text[0] != '/')
		return 0;
	for (int i = 0; i < ISO_ASKED_BYTES; i++) {
		char c = text[i];

		if (i && (c == '/' || !c) && last != '/') {
			rule = bpf_map_lookup_elem(&iso_absents, &key);
			if (rule)
				return *rule;
		}
		if (!c)
			break;
		if (c == '/' && last == '/')
			continue;
		key.hash = (key.hash ^ (unsigned char)c) * ISO_HASH_PRIME;
		last = c;
	}
	return 0;
}

static __always_inline int iso_open_failed(struct filename *path, struct file *result)
{
	struct iso_refusal why = {.kind = ISO_EVENT_ABSENT, .hook = ISO_HOOK_absent};
	struct iso_label *label;
	const char *name;

	if (!iso_failed(result, ENOENT) && !iso_failed(result, EROFS))
		return 0;
	label = iso_sealed_inside();
	if (!label)
		return 0;
	name = BPF_CORE_READ(path, name);
	if (iso_failed(result, EROFS)) {
		why.kind = ISO_EVENT_FILE;
		why.hook = ISO_HOOK_read_only;
		why.reason = ISO_REASON_READ_ONLY;
		why.wanted = ISO_WRITE;
		why.error = EROFS;
		return iso_say_asked(label, &why, name, false);
	}
	why.rule = iso_absent_rule(label->sandbox, name);
	if (!why.rule)
		return 0;
	why.reason = ISO_REASON_ABSENT;
	why.wanted = ISO_READ;
	why.error = ENOENT;
	return iso_say_asked(label, &why, name, false);
}

SEC("?fexit/do_filp_open")
int BPF_PROG(iso_absent, int dfd, struct filename *path, const void *op, struct file *result)
{
	return iso_open_failed(path, result);
}

SEC("?fexit/do_file_open")
int BPF_PROG(iso_absent_72, int dfd, struct filename *path, const void *op, struct file *result)
{
	return iso_open_failed(path, result);
}

/*
 * The path argument of the system call at hand, in the task's memory; NULL for calls that do not
 * take one, or that come through do_filp_open and are reported there. x86-64 numbers: the 32-bit
 * entry is refused by seccomp. For people only: the task may have changed it meanwhile.
 */
static __always_inline const char *iso_path_argument(void)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	switch (regs->orig_ax) {
	case 76:  /* truncate */
	case 82:  /* rename */
	case 83:  /* mkdir */
	case 84:  /* rmdir */
	case 87:  /* unlink */
	case 90:  /* chmod */
	case 92:  /* chown */
	case 94:  /* lchown */
	case 132: /* utime */
	case 133: /* mknod */
	case 188: /* setxattr */
	case 189: /* lsetxattr */
	case 197: /* removexattr */
	case 198: /* lremovexattr */
	case 235: /* utimes */
		return (const char *)regs->di;
	case 86:  /* link: the new name */
	case 88:  /* symlink: the new name */
	case 258: /* mkdirat */
	case 259: /* mknodat */
	case 260: /* fchownat */
	case 261: /* futimesat */
	case 263: /* unlinkat */
	case 264: /* renameat */
	case 268: /* fchmodat */
	case 280: /* utimensat */
	case 316: /* renameat2 */
	case 452: /* fchmodat2 */
		return (const char *)regs->si;
	case 266: /* symlinkat: the new name */
		return (const char *)regs->dx;
	case 265: /* linkat: the new name */
		return (const char *)regs->r10;
	default:
		return 0;
	}
}

static __always_inline bool iso_is_open(void)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	switch (regs->orig_ax) {
	case 2:	  /* open */
	case 85:  /* creat */
	case 257: /* openat */
	case 437: /* openat2 */
		return true;
	default:
		return false;
	}
}

static const struct iso_refusal iso_read_only_refusal = {
	.kind = ISO_EVENT_FILE,
	.hook = ISO_HOOK_read_only,
	.reason = ISO_REASON_READ_ONLY,
	.wanted = ISO_WRITE,
	.error = EROFS,
};

SEC("fexit/mnt_want_write")
int BPF_PROG(iso_read_only, struct vfsmount *mnt, int result)
{
	struct iso_refusal why = iso_read_only_refusal;
	struct iso_label *label;
	struct iso_place place;
	const char *name;

	if (result != -EROFS || iso_is_open())
		return 0;
	label = iso_sealed_inside();
	if (!label)
		return 0;
	name = iso_path_argument();
	if (name)
		return iso_say_asked(label, &why, name, true);
	place.mnt = mnt;
	place.dentry = BPF_CORE_READ(mnt, mnt_root);
	iso_refuse_at(label, &why, &place, 0);
	return 0;
}

SEC("fexit/mnt_want_write_file")
int BPF_PROG(iso_read_only_fd, struct file *file, int result)
{
	struct iso_refusal why = iso_read_only_refusal;
	struct iso_label *label;
	struct iso_place place;

	if (result != -EROFS)
		return 0;
	label = iso_sealed_inside();
	if (!label)
		return 0;
	place.dentry = BPF_CORE_READ(file, f_path.dentry);
	place.mnt = BPF_CORE_READ(file, f_path.mnt);
	iso_refuse_at(label, &why, &place, 0);
	return 0;
}

#endif
