/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that are opened, received and changed in place.
 *
 * file_open            READ, WRITE by f_mode; EXEC when opened to be executed. An O_PATH descriptor
 *                      does not come here; what it is reopened as does. Overlayfs opens a second
 *                      file below the judged one: allowed when it is in nobody's tree and marked.
 * file_receive         the same for a descriptor that arrives (SCM_RIGHTS, pidfd_getfd); what the
 *                      guard refuses to everybody (guard.bpf.h) comes first
 * path_truncate,       WRITE
 * file_truncate        (6.12: ftruncate, O_TRUNC; on 6.1 these are path_truncate)
 * path_chmod, _chown,  WRITE on the object; inode_* know no mount and are judged by dentry
 * inode_setattr, xattr, acl, file_setattr
 * file_ioctl(_compat)  inode flags and fsverity can be set through a read-only descriptor
 * file_lock            a lock on an object of the host blocks others: needs WRITE
 * path_notify          WRITE: a watch on a tree of the host shows what others open there
 * path_chroot          never
 */
#ifndef ISO_FILE_BPF_H
#define ISO_FILE_BPF_H

#define ISO_ASK(label_, hook_, want_)                                                \
	{                                                                            \
		.label = (label_), .hook = ISO_HOOK_##hook_, .kind = ISO_EVENT_FILE, \
		.want = (want_)                                                      \
	}

/* Inode-changing ioctls (uapi/linux/fs.h, fsverity.h, fscrypt.h); sizes differ between ABIs. */
#define ISO_IOC_NR(cmd)			 ((cmd)&0xffffu)
#define ISO_FS_IOC_SETFLAGS		 0x6602u
#define ISO_FS_IOC_SETVERSION		 0x7602u
#define ISO_FS_IOC_FSSETXATTR		 0x5820u
#define ISO_FS_IOC_SETFSLABEL		 0x9432u
#define ISO_FS_IOC_ENABLE_VERITY	 0x6685u
#define ISO_FS_IOC_SET_ENCRYPTION_POLICY 0x6613u

static __always_inline __u32 iso_wanted_by_mode(struct file *file)
{
	__u32 mode = file->f_mode, want = 0;

	if (file->f_flags & ISO_FMODE_EXEC_FLAG)
		return ISO_EXEC;
	if (mode & ISO_FMODE_READ)
		want |= ISO_READ;
	if (mode & ISO_FMODE_WRITE)
		want |= ISO_WRITE;
	return want;
}

/* A mount or filesystem on which nothing may be executed: the VFS would refuse without a word. */
static __always_inline bool iso_noexec(struct file *file)
{
	return BPF_CORE_READ(file, f_path.mnt, mnt_flags) & ISO_MNT_NOEXEC ||
	       BPF_CORE_READ(file, f_path.mnt, mnt_sb, s_iflags) & ISO_SB_I_NOEXEC;
}

static __always_inline bool iso_is_directory(struct file *file)
{
	return (BPF_CORE_READ(file, f_inode, i_mode) & ISO_S_IFMT) == ISO_S_IFDIR;
}

SEC("lsm/file_open")
int BPF_PROG(iso_file_open, struct file *file)
{
	struct iso_question q = ISO_ASK(iso_inside(), file_open, 0);

	if (!q.label)
		return 0;
	q.want = iso_wanted_by_mode(file);
	q.backing = file->f_mode & ISO_FMODE_NOACCOUNT;
	if (q.want == ISO_EXEC) {
		q.kind = ISO_EVENT_EXEC;
		if (!iso_trusted(q.label) && iso_noexec(file) && !iso_is_directory(file)) {
			struct iso_place place = {file->f_path.dentry, file->f_path.mnt};

			return iso_answer(&q, ISO_REASON_NOEXEC, ISO_RULE_NONE, &place, 0);
		}
	}
	return iso_judge(&q, file->f_path.dentry, file->f_path.mnt);
}

SEC("lsm/file_receive")
int BPF_PROG(iso_file_receive, struct file *file)
{
	struct iso_question q = ISO_ASK(iso_inside(), file_receive, 0);
	int r = iso_guard_file(ISO_HOOK_file_receive, file);

	if (r || !q.label)
		return r;
	q.want = iso_wanted_by_mode(file) & ~ISO_EXEC;
	return iso_judge(&q, file->f_path.dentry, file->f_path.mnt);
}

static __always_inline int iso_path_hook(__u32 hook, const struct path *path, __u32 want)
{
	struct iso_question q = {
		.label = iso_inside(), .hook = hook, .kind = ISO_EVENT_FILE, .want = want};

	return q.label ? iso_judge(&q, path->dentry, path->mnt) : 0;
}

SEC("lsm/path_truncate")
int BPF_PROG(iso_path_truncate, const struct path *path)
{
	return iso_path_hook(ISO_HOOK_path_truncate, path, ISO_WRITE);
}

SEC("lsm/path_chmod")
int BPF_PROG(iso_path_chmod, const struct path *path)
{
	return iso_path_hook(ISO_HOOK_path_chmod, path, ISO_WRITE);
}

SEC("lsm/path_chown")
int BPF_PROG(iso_path_chown, const struct path *path)
{
	return iso_path_hook(ISO_HOOK_path_chown, path, ISO_WRITE);
}

SEC("lsm/path_notify")
int BPF_PROG(iso_path_notify, const struct path *path)
{
	return iso_path_hook(ISO_HOOK_path_notify, path, ISO_WRITE);
}

SEC("lsm/path_chroot")
int BPF_PROG(iso_path_chroot, const struct path *path)
{
	struct iso_question q = ISO_ASK(iso_inside(), path_chroot, 0);
	struct iso_place place = {path->dentry, path->mnt};

	if (!q.label || iso_trusted(q.label))
		return 0;
	return iso_answer(&q, ISO_REASON_SURFACE, ISO_RULE_NONE, &place, 0);
}

static __always_inline int iso_file_hook(__u32 hook, struct file *file, __u32 want)
{
	struct iso_question q = {
		.label = iso_inside(), .hook = hook, .kind = ISO_EVENT_FILE, .want = want};

	return q.label ? iso_judge(&q, file->f_path.dentry, file->f_path.mnt) : 0;
}

SEC("?lsm/file_truncate")
int BPF_PROG(iso_file_truncate, struct file *file)
{
	return iso_file_hook(ISO_HOOK_file_truncate, file, ISO_WRITE);
}

/* These know no mount: judged by the dentry, up to the root of its filesystem. */
static __always_inline int iso_dentry_hook(__u32 hook, struct dentry *dentry)
{
	struct iso_question q = {
		.label = iso_inside(), .hook = hook, .kind = ISO_EVENT_FILE, .want = ISO_WRITE};

	return q.label ? iso_judge_unmounted(&q, dentry) : 0;
}

SEC("?lsm/inode_setattr")
int BPF_PROG(iso_inode_setattr, void *idmap, struct dentry *dentry)
{
	return iso_dentry_hook(ISO_HOOK_inode_setattr, dentry);
}

SEC("?lsm/inode_setattr")
int BPF_PROG(iso_setattr_61, struct dentry *dentry)
{
	return iso_dentry_hook(ISO_HOOK_inode_setattr, dentry);
}

SEC("lsm/inode_setxattr")
int BPF_PROG(iso_inode_setxattr, void *idmap, struct dentry *dentry)
{
	return iso_dentry_hook(ISO_HOOK_inode_setxattr, dentry);
}

SEC("lsm/inode_removexattr")
int BPF_PROG(iso_inode_removexattr, void *idmap, struct dentry *dentry)
{
	return iso_dentry_hook(ISO_HOOK_inode_removexattr, dentry);
}

SEC("?lsm/inode_set_acl")
int BPF_PROG(iso_inode_set_acl, void *idmap, struct dentry *dentry)
{
	return iso_dentry_hook(ISO_HOOK_inode_set_acl, dentry);
}

SEC("?lsm/inode_remove_acl")
int BPF_PROG(iso_inode_remove_acl, void *idmap, struct dentry *dentry)
{
	return iso_dentry_hook(ISO_HOOK_inode_remove_acl, dentry);
}

SEC("?lsm/inode_file_setattr")
int BPF_PROG(iso_inode_file_setattr, struct dentry *dentry)
{
	return iso_dentry_hook(ISO_HOOK_inode_file_setattr, dentry);
}

static __always_inline bool iso_changes_inode(__u32 cmd)
{
	switch (ISO_IOC_NR(cmd)) {
	case ISO_FS_IOC_SETFLAGS:
	case ISO_FS_IOC_SETVERSION:
	case ISO_FS_IOC_FSSETXATTR:
	case ISO_FS_IOC_SETFSLABEL:
	case ISO_FS_IOC_ENABLE_VERITY:
	case ISO_FS_IOC_SET_ENCRYPTION_POLICY:
		return true;
	default:
		return false;
	}
}

static __always_inline int iso_ioctl_hook(__u32 hook, struct file *file, __u32 cmd)
{
	return iso_changes_inode(cmd) ? iso_file_hook(hook, file, ISO_WRITE) : 0;
}

SEC("lsm/file_ioctl")
int BPF_PROG(iso_file_ioctl, struct file *file, unsigned int cmd)
{
	return iso_ioctl_hook(ISO_HOOK_file_ioctl, file, cmd);
}

SEC("?lsm/file_ioctl_compat")
int BPF_PROG(iso_file_ioctl_compat, struct file *file, unsigned int cmd)
{
	return iso_ioctl_hook(ISO_HOOK_file_ioctl_compat, file, cmd);
}

SEC("lsm/file_lock")
int BPF_PROG(iso_file_lock, struct file *file, unsigned int cmd)
{
	return cmd == ISO_F_UNLCK ? 0 : iso_file_hook(ISO_HOOK_file_lock, file, ISO_WRITE);
}

#endif
