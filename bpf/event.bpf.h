/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is said about a refusal. A verdict never waits for an event and a full ring never changes
 * one: every refusal takes a sequence number, so that a record that could not be written shows as a
 * hole, and the sandbox's own counters say why (ring full, over its rate).
 */
#ifndef ISO_EVENT_BPF_H
#define ISO_EVENT_BPF_H

#define ISO_PATH_LEVELS	 64
#define ISO_NSEC_PER_SEC 1000000000ull
#define ISO_WAKE_BYTES	 (1u << 16)

/* A place in the tree: what a path is built from. */
struct iso_place {
	struct dentry *dentry;
	struct vfsmount *mnt; /* NULL: known by its dentry alone */
};

/*
 * The path that was opened, from a bare address. From 6.5 on overlayfs maps a backing file, whose
 * own path is in a private mount and which remembers the opened one (def3ae83da02 "fs: store real
 * path instead of fake path in backing file f_path"). Its mark has moved within stable kernels; the
 * other bit then means something that only counts together with NOACCOUNT.
 */
static __always_inline void iso_user_path(struct file *file, struct iso_place *place)
{
	struct backing_file *backing = (struct backing_file *)file;
	__u32 mode = BPF_CORE_READ(file, f_mode);

	if (mode & ISO_FMODE_BACKING && mode & ISO_FMODE_NOACCOUNT &&
	    bpf_core_field_exists(backing->user_path)) {
		place->dentry = BPF_CORE_READ(backing, user_path.dentry);
		place->mnt = BPF_CORE_READ(backing, user_path.mnt);
		return;
	}
	place->dentry = BPF_CORE_READ(file, f_path.dentry);
	place->mnt = BPF_CORE_READ(file, f_path.mnt);
}

/* A refusal before it becomes a record. */
struct iso_refusal {
	__u32 kind;
	__u32 hook;
	__u32 reason;
	__u32 rule;
	__u32 wanted;
	__u32 mode; /* of an object that is still to be made; else 0 */
	__s32 error;
};

static __always_inline struct mount *iso_mount_of(struct vfsmount *mnt)
{
	return (struct mount *)((char *)mnt - bpf_core_field_offset(struct mount, mnt));
}

struct iso_path_walk {
	struct dentry *dentry;
	struct dentry *root;
	struct mount *mount;
	/* In the record, so that the verifier sees an unknown number at every step. */
	struct iso_event_path *path;
};

/* Puts one component in front of what is there. 1: at the root, or no room. */
static long iso_path_step(__u32 i, struct iso_path_walk *w)
{
	struct dentry *dentry = w->dentry, *parent;
	struct iso_event_path *path = w->path;
	struct mount *mount = w->mount;
	const unsigned char *name;
	__u32 length, start = path->offset;

	if (mount && dentry == w->root) {
		struct mount *up = BPF_CORE_READ(mount, mnt_parent);

		if (!up || up == mount) {
			path->truncated = 0;
			return 1;
		}
		w->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		w->root = BPF_CORE_READ(up, mnt.mnt_root);
		w->mount = up;
		return 0;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (parent == dentry) {
		path->truncated = 0;
		return 1;
	}
	length = BPF_CORE_READ(dentry, d_name.len);
	name = BPF_CORE_READ(dentry, d_name.name);
	iso_barrier(length);
	iso_barrier(start);
	if (length >= ISO_PATH_MAX || start > ISO_PATH_MAX || start < length + 1)
		return 1;
	start -= length;
	iso_barrier(start);
	if (start > ISO_PATH_MAX || start < 1)
		return 1;
	if (bpf_probe_read_kernel(path->area + start, length, name))
		return 1;
	start--;
	iso_barrier(start);
	if (start >= ISO_PATH_MAX)
		return 1;
	path->area[start] = '/';
	path->offset = start;
	w->dentry = parent;
	return 0;
}

static __always_inline void iso_path_build(struct iso_event_path *path, struct iso_place *place)
{
	struct iso_path_walk w = {.path = path};
	struct vfsmount *mnt;

	path->offset = ISO_PATH_MAX;
	path->length = 0;
	path->truncated = 1;
	if (!place)
		return;
	w.dentry = place->dentry;
	mnt = place->mnt; /* a copy: CO-RE would relocate our own structure */
	if (mnt) {
		w.mount = iso_mount_of(mnt);
		w.root = BPF_CORE_READ(mnt, mnt_root);
	}
	bpf_loop(ISO_PATH_LEVELS, iso_path_step, &w, 0);
	if (path->offset == ISO_PATH_MAX && !path->truncated) {
		path->offset = ISO_PATH_MAX - 1;
		path->area[ISO_PATH_MAX - 1] = '/';
	}
	path->length = ISO_PATH_MAX - path->offset;
	if (!path->length)
		path->truncated = 0;
}

/* Takes a token; the first second starts with a full bucket. Races lose or win a token, no more. */
static __always_inline bool iso_event_allowed(struct iso_sandbox *sb, __u64 now)
{
	__u64 add, rate = sb->rate;

	if (now - sb->bucket_time > ISO_NSEC_PER_SEC) {
		sb->bucket = rate;
		sb->bucket_time = now;
	} else {
		add = (now - sb->bucket_time) * rate / ISO_NSEC_PER_SEC;
		if (add) {
			sb->bucket_time = now;
			sb->bucket = sb->bucket + add > rate ? rate : sb->bucket + add;
		}
	}
	if (!sb->bucket)
		return false;
	sb->bucket--;
	return true;
}

static __always_inline void iso_event_actor(struct iso_event *e, struct iso_label *label)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
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
	bpf_get_current_comm(e->comm, sizeof e->comm);
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
							 const struct iso_refusal *why)
{
	struct iso_sandbox *sb = iso_sandbox_of(label->sandbox);
	__u64 now = bpf_ktime_get_boot_ns(), sequence;
	struct iso_event *e;

	if (!sb) {
		iso_count(ISO_COUNT_NO_SANDBOX);
		return 0;
	}
	__sync_fetch_and_add(&sb->denials, 1);
	sequence = __sync_fetch_and_add(&sb->sequence, 1) + 1;
	if (!iso_event_allowed(sb, now)) {
		__sync_fetch_and_add(&sb->lost_rate, 1);
		return 0;
	}
	e = bpf_ringbuf_reserve(&iso_ring, sizeof *e, 0);
	if (!e) {
		__sync_fetch_and_add(&sb->lost_full, 1);
		iso_count(ISO_COUNT_RING_FULL);
		return 0;
	}
	__sync_fetch_and_add(&sb->emitted, 1);
	e->time = now;
	e->sequence = sequence;
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
