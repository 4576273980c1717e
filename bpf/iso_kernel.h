/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types this object reads, and only the fields it reads: the list of what we depend on.
 * Offsets are relocated at load (CO-RE), so nothing here needs the build host's kernel. Checked
 * against 6.1, 6.12 and 7.2 by loading on them.
 */
#ifndef ISO_KERNEL_H
#define ISO_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
#include <stdbool.h>

#include <asm-generic/errno-base.h>

/* Not in errno-base.h but part of answers; asm-generic/errno.h pulls in nothing else. */
#include <asm-generic/errno.h>

/* uapi/linux/bpf.h needs the fixed-width types only; these are the constants and flags we use. */
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_PROG_LOAD = 5,
	BPF_PROG_ATTACH = 8,
	BPF_PROG_GET_FD_BY_ID = 13,
	BPF_MAP_GET_FD_BY_ID = 14,
	BPF_RAW_TRACEPOINT_OPEN = 17,
	BPF_LINK_CREATE = 28,
	BPF_LINK_GET_FD_BY_ID = 30,
	BPF_LINK_DETACH = 34,
};
enum bpf_prog_type {
	BPF_PROG_TYPE_CGROUP_SYSCTL = 23,
	BPF_PROG_TYPE_TRACING = 26,
	BPF_PROG_TYPE_EXT = 28,
	BPF_PROG_TYPE_LSM = 29,
};
enum bpf_attach_type {
	BPF_CGROUP_SYSCTL = 18,
	BPF_MODIFY_RETURN = 26,
	BPF_LSM_MAC = 27,
	BPF_LSM_CGROUP = 43,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid_namespace;
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	__u64 id;
	void *priv;
};
struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
	int nr_populated_csets; /* from 7.0 on; struct cgroup's own before */
};
struct cgroup {
	struct cgroup_subsys_state self;
	int level;
	int nr_descendants;
	int nr_populated_csets;
	struct kernfs_node *kn;
	struct cgroup *ancestors[];
};
struct css_set {
	struct cgroup *dfl_cgrp;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_flags;
	unsigned long s_iflags;
	unsigned long s_magic;
};
struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	void *i_private;
};
struct qstr {
	union {
		struct {
			__u32 hash;
			__u32 len;
		};
		__u64 hash_len;
	};
	const unsigned char *name;
};
struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};
struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
	int mnt_flags;
};
struct mnt_namespace;
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};
typedef struct {
	__s64 counter;
} atomic64_t;
struct bpf_map {
	__u32 id;
	char name[16];
	atomic64_t refcnt;
	atomic64_t usercnt;
};
struct user_struct {
	struct {
		__u32 val;
	} uid;
};
struct bpf_prog;
struct bpf_prog_aux {
	atomic64_t refcnt;
	__u32 used_map_cnt;
	__u32 id;
	struct bpf_map **used_maps;
	struct bpf_prog *dst_prog;
	struct user_struct *user;
	char name[16];
};
struct bpf_prog {
	enum bpf_prog_type type;
	enum bpf_attach_type expected_attach_type;
	__u8 tag[8];
	struct bpf_prog_aux *aux;
};
struct bpf_link {
	atomic64_t refcnt;
	__u32 id;
	struct bpf_prog *prog;
};
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__bpf_prog {
	struct bpf_iter_meta *meta;
	struct bpf_prog *prog;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};
struct file {
	unsigned int f_mode;
	unsigned int f_flags;
	struct path f_path;
	struct inode *f_inode;
	void *f_op;
	void *private_data;
};
struct backing_file {
	struct path user_path;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct filename {
	const char *name;
};
struct open_flags {
	int open_flag;
};
struct fs_struct {
	struct path pwd;
};
struct iattr {
	unsigned int ia_valid;
};
struct io_kiocb {
	__u8 opcode;
};
struct vm_area_struct {
	struct file *vm_file;
	void *anon_vma;
};
struct linux_binprm {
	struct file *file;
};
struct rlimit;
struct kernel_siginfo;
struct cred {
	struct {
		__u32 val;
	} uid;
};
struct mm_struct {
	struct file *exe_file;
};
struct task_struct {
	int pid;
	int tgid;
	struct mm_struct *mm;
	struct cred *cred;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct css_set *cgroups;
	struct files_struct *files;
	struct fs_struct *fs;
	const struct cred *real_cred;
	void *bpf_storage;
	char comm[16];
};

struct pt_regs {
	unsigned long r10;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
};

struct sock_common {
	unsigned short skc_family;
};
struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	__u16 sk_type;
};
struct socket {
	short type;
	struct sock *sk;
};
struct msghdr {
	void *msg_name;
	int msg_namelen;
	unsigned int msg_flags;
};

#pragma clang attribute pop

/* What a program at a sysctl gets; uapi layout. */
struct bpf_sysctl {
	__u32 write;
	__u32 file_pos;
};

/* Of union bpf_attr, in the kernel's copy; uapi layout. */
#define ISO_ATTR_FIRST	     0	/* id of GET_FD_BY_ID, program type, address of a name */
#define ISO_ATTR_LINK_ATTACH 8	/* attach type of LINK_CREATE */
#define ISO_ATTR_PROG_ATTACH 68 /* expected attach type of PROG_LOAD */

/* Addresses as the kernel copied them; uapi layout, no relocation wanted. */
struct sockaddr {
	__u16 sa_family;
	char sa_data[14];
};
struct iso_sockaddr_in {
	__u16 family;
	__be16 port;
	__u8 address[4];
};
struct iso_sockaddr_in6 {
	__u16 family;
	__be16 port;
	__be32 flowinfo;
	__u8 address[16];
};

/* Values of kernel headers that BTF does not carry. */
#define ISO_FMODE_READ		(1u << 0) /* include/linux/fs.h */
#define ISO_FMODE_WRITE		(1u << 1)
#define ISO_FMODE_EXEC_FLAG	0x20u	   /* __FMODE_EXEC in f_flags: opened to be executed */
#define ISO_O_ACCMODE		3u	   /* uapi/asm-generic/fcntl.h */
#define ISO_FMODE_NOACCOUNT	(1u << 29) /* overlayfs' own file below the one that was judged */
#define ISO_FMODE_BACKING	(3u << 24) /* from 6.5 on bit 25, in 6.12.118 and 7.2 bit 24 */
#define ISO_MNT_NOEXEC		0x04u	   /* include/linux/mount.h */
#define ISO_MNT_INTERNAL	0x4000u
#define ISO_SB_NOUSER		(1ul << 31) /* pipefs, sockfs, memfd's tmpfs: never mounted by anyone */
#define ISO_SB_I_NOEXEC		0x02ul
#define ISO_CGROUP2_SUPER_MAGIC 0x63677270ul /* uapi/linux/magic.h */
#define ISO_PROC_SUPER_MAGIC	0x9fa0ul
#define ISO_S_IFMT		0170000u
#define ISO_S_IFCHR		0020000u
#define ISO_S_IFBLK		0060000u
#define ISO_S_IFREG		0100000u
#define ISO_S_IFDIR		0040000u
#define ISO_PROT_WRITE		2ul
#define ISO_PROT_EXEC		4ul
#define ISO_RLIMIT_CORE		4u
#define ISO_CLONE_THREAD	0x10000ul
#define ISO_AF_UNSPEC		0
#define ISO_AF_UNIX		1
#define ISO_AF_INET		2
#define ISO_AF_INET6		10
#define ISO_SOCK_STREAM		1
#define ISO_SOCK_DGRAM		2
#define ISO_SOCK_TYPE_MASK	0xf
#define ISO_IPPROTO_TCP		6
#define ISO_IPPROTO_UDP		17
#define ISO_F_UNLCK		2u
#define ISO_RENAME_EXCHANGE	(1u << 1)
#define ISO_PTRACE_MODE_ATTACH	0x02u
#define ISO_CAP_OPT_NOAUDIT	0x02u /* include/linux/security.h */

#endif
