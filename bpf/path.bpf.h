/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places in the tree, and their paths as text. A path is built for an event that is written and for
 * nothing else: it is by far the dearest part of a refusal.
 */
#ifndef ISO_PATH_BPF_H
#define ISO_PATH_BPF_H

#define ISO_PATH_LEVELS 64

/* A place in the tree: what a path is built from. */
struct iso_place {
	struct dentry *dentry;
	struct vfsmount *mnt; /* NULL: known by its dentry alone */
};

/*
 * Tells a place from others, for repeats (account.bpf.h), by directory, name and inode: another
 * entry that comes to lie at a dentry's address differs in one of them. The name's hash is salted
 * with the directory (fs/namei.c: full_name_hash). One read where they lie side by side.
 */
static __always_inline __u64 iso_place_hash(__u64 hash, const struct iso_place *place)
{
	struct dentry *dentry = place->dentry; /* a copy: CO-RE would relocate our own structure */
	const __u32 name = bpf_core_field_offset(struct dentry, d_name),
		    inode = bpf_core_field_offset(struct dentry, d_inode),
		    parent = bpf_core_field_offset(struct dentry, d_parent);
	struct {
		__u64 parent, name, text, inode;
	} entry = {};

	if (name == parent + 8 && inode == parent + 24) {
		bpf_probe_read_kernel(&entry, sizeof entry, (char *)dentry + parent);
	} else {
		entry.parent = (__u64)BPF_CORE_READ(dentry, d_parent);
		entry.name = BPF_CORE_READ(dentry, d_name.hash_len);
		entry.inode = (__u64)BPF_CORE_READ(dentry, d_inode);
	}
	return iso_mix(iso_mix(iso_mix(hash, entry.parent), entry.name), entry.inode);
}

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

#endif
