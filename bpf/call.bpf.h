/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the system call at hand was asked for: its number and arguments, a descriptor of the calling
 * task, the directory that a relative path starts from. x86-64 numbers: the 32-bit entry is refused
 * by seccomp. Paths read here are for people only: the task may have changed them meanwhile.
 *
 * io_issue_sqe	a request of io_uring is done, by the task or by a worker with its label: what it is
 *		counts then, not the system call, of which a worker has none
 */
#ifndef ISO_CALL_BPF_H
#define ISO_CALL_BPF_H

#define ISO_AT_FDCWD (-100)

/* uapi/linux/io_uring.h */
#define ISO_RING_OPENAT	   18
#define ISO_RING_OPENAT2   28
#define ISO_RING_MKDIRAT   37
#define ISO_RING_SYMLINKAT 38
#define ISO_RING_LINKAT	   39
#define ISO_RING_BIND	   56

SEC("?fentry/io_issue_sqe")
int BPF_PROG(iso_ring_begins, struct io_kiocb *request)
{
	struct iso_label *label = iso_inside();

	if (label)
		label->ring = request->opcode + 1;
	return 0;
}

SEC("?fexit/io_issue_sqe")
int BPF_PROG(iso_ring_ends)
{
	struct iso_label *label = iso_inside();

	if (label)
		label->ring = 0;
	return 0;
}

static __noinline struct file *iso_file_at(__s32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **slots, *file = 0;

	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	slots = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof file, slots + fd))
		return 0;
	return file;
}

static __always_inline struct pt_regs *iso_call(void)
{
	return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

/* Calls that open by a path: what they run into is reported where do_filp_open ends. */
static __always_inline bool iso_call_opens(const struct iso_label *label)
{
	if (label->ring)
		return label->ring == ISO_RING_OPENAT + 1 || label->ring == ISO_RING_OPENAT2 + 1;
	switch (iso_call()->orig_ax) {
	case 2:	  /* open */
	case 59:  /* execve */
	case 85:  /* creat */
	case 257: /* openat */
	case 322: /* execveat */
	case 437: /* openat2 */
		return true;
	default:
		return false;
	}
}

/*
 * Calls that make a name. On a read-only mount they still look it up, and answer EEXIST when it is
 * there (`mkdir -p`): what they run into is reported where filename_create ends.
 */
static __always_inline bool iso_call_makes(const struct iso_label *label)
{
	switch (label->ring) {
	case 0:
		break;
	case ISO_RING_MKDIRAT + 1:
	case ISO_RING_SYMLINKAT + 1:
	case ISO_RING_LINKAT + 1:
	case ISO_RING_BIND + 1:
		return true;
	default:
		return false;
	}
	switch (iso_call()->orig_ax) {
	case 49:  /* bind */
	case 83:  /* mkdir */
	case 86:  /* link */
	case 88:  /* symlink */
	case 133: /* mknod */
	case 258: /* mkdirat */
	case 259: /* mknodat */
	case 265: /* linkat */
	case 266: /* symlinkat */
		return true;
	default:
		return false;
	}
}

/* A path as an argument: in the task's memory, and what a relative one starts from. */
struct iso_argument {
	const char *name;
	__s32 dfd;
};

/*
 * The path that the call would remove or change; name NULL for calls that take none, and for
 * requests of io_uring, which keep it to themselves.
 */
static __always_inline struct iso_argument iso_call_path(const struct iso_label *label)
{
	struct iso_argument a = {.dfd = ISO_AT_FDCWD};
	struct pt_regs *regs = iso_call();

	if (label->ring)
		return a;
	switch (regs->orig_ax) {
	case 76:  /* truncate */
	case 82:  /* rename */
	case 84:  /* rmdir */
	case 87:  /* unlink */
	case 90:  /* chmod */
	case 92:  /* chown */
	case 94:  /* lchown */
	case 132: /* utime */
	case 188: /* setxattr */
	case 189: /* lsetxattr */
	case 197: /* removexattr */
	case 198: /* lremovexattr */
	case 235: /* utimes */
		a.name = (const char *)regs->di;
		break;
	case 260: /* fchownat */
	case 261: /* futimesat */
	case 263: /* unlinkat */
	case 264: /* renameat */
	case 268: /* fchmodat */
	case 280: /* utimensat */
	case 316: /* renameat2 */
	case 452: /* fchmodat2 */
		a.name = (const char *)regs->si;
		a.dfd = (__s32)regs->di;
		break;
	}
	return a;
}

/* Where a relative path starts. */
static __always_inline void iso_call_base(__s32 dfd, struct iso_place *place)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file;

	place->dentry = 0;
	place->mnt = 0;
	if (dfd == ISO_AT_FDCWD) {
		place->dentry = BPF_CORE_READ(task, fs, pwd.dentry);
		place->mnt = BPF_CORE_READ(task, fs, pwd.mnt);
		return;
	}
	file = iso_file_at(dfd);
	if (!file)
		return;
	place->dentry = BPF_CORE_READ(file, f_path.dentry);
	place->mnt = BPF_CORE_READ(file, f_path.mnt);
}

#endif
