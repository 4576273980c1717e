/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From an object to the rule that decides for it: the ancestor walk by inode.
 *
 * Inside the mount that it starts in the walk loads through BTF pointers (plain loads with an
 * exception table); what lies across a mount is reached by container_of(vfsmount), which yields a
 * bare address, so from there on every field is a bpf_probe_read_kernel. In a sandbox each tree's
 * root carries a rule, so the second half runs for refusals only.
 *
 * Refuses: a path deeper than it can walk, a rule object that was freed (torn), a sandbox that is
 * not there. Cannot see: the difference between two names of one inode; rules hang on inodes.
 */
#ifndef ISO_WALK_BPF_H
#define ISO_WALK_BPF_H

#define ISO_WALK_DIRECT 64
#define ISO_WALK_LEVELS 4096 /* PATH_MAX / 2 components, and mounts between them */

/* Where a walk ended. */
#define ISO_WALK_RULE	   1u /* at a rule */
#define ISO_WALK_TOP	   2u /* at the root of the namespace or filesystem, no rule on the way */
#define ISO_WALK_ANONYMOUS 3u /* pipe, memfd, socket: nobody's tree */
#define ISO_WALK_DEEP	   4u
#define ISO_WALK_GOES_ON   5u

struct iso_walk {
	struct dentry *dentry;
	struct dentry *root;
	struct mount *mount; /* NULL: judged by dentry alone */
	__u64 sandbox;
	__u32 end;
	__u32 rights;
	__u32 rule;
	__u32 proc; /* it began in procfs */
};

static __always_inline struct iso_rule *iso_rule_marked(struct iso_marks *marks, __u64 sandbox,
							__u64 inode)
{
	struct iso_object *object;
	struct iso_rule_key key;

	if (marks && !*iso_mark_of(marks, inode))
		return 0;
	object = bpf_map_lookup_elem(&iso_objects, &inode);
	if (!object)
		return 0;
	key.sandbox = sandbox;
	key.object = object->id;
	return bpf_map_lookup_elem(&iso_rules, &key);
}

/* The rule of this sandbox that hangs on an inode, or NULL. */
static __always_inline struct iso_rule *iso_rule_on(__u64 sandbox, __u64 inode)
{
	return iso_rule_marked(iso_all_marks(), sandbox, inode);
}

static __always_inline void iso_walk_found(struct iso_walk *w, const struct iso_rule *rule)
{
	w->rights = rule->rights;
	w->rule = rule->rule;
	w->end = ISO_WALK_RULE;
}

/* What lies above the topmost dentry: a tree without rule, or no tree at all. */
static __always_inline __u32 iso_walk_top(struct iso_walk *w)
{
	struct dentry *dentry = w->dentry;
	struct mount *mount = w->mount;

	if (!mount) {
		return BPF_CORE_READ(dentry, d_sb, s_flags) & ISO_SB_NOUSER ? ISO_WALK_ANONYMOUS
									    : ISO_WALK_TOP;
	}
	/* MNT_NS_INTERNAL is ERR_PTR(-EINVAL) (fs/mount.h); overlayfs' private clones too */
	if ((long)BPF_CORE_READ(mount, mnt_ns) == -EINVAL ||
	    BPF_CORE_READ(mount, mnt.mnt_flags) & ISO_MNT_INTERNAL)
		return ISO_WALK_ANONYMOUS;
	return ISO_WALK_TOP;
}

static long iso_walk_step(__u32 i, struct iso_walk *w)
{
	struct dentry *dentry = w->dentry, *parent;
	struct mount *mount = w->mount;
	struct iso_rule *rule = iso_rule_on(w->sandbox, (__u64)BPF_CORE_READ(dentry, d_inode));

	if (rule) {
		iso_walk_found(w, rule);
		return 1;
	}
	if (mount && dentry == w->root) {
		struct mount *up = BPF_CORE_READ(mount, mnt_parent);

		if (!up || up == mount) {
			w->end = iso_walk_top(w);
			return 1;
		}
		w->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		w->root = BPF_CORE_READ(up, mnt.mnt_root);
		w->mount = up;
		return 0;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (!parent || parent == dentry) {
		w->end = iso_walk_top(w);
		return 1;
	}
	w->dentry = parent;
	return 0;
}

static __always_inline void iso_walk_finish(struct iso_walk *w)
{
	w->end = ISO_WALK_GOES_ON;
	bpf_loop(ISO_WALK_LEVELS, iso_walk_step, w, 0);
	if (w->end == ISO_WALK_GOES_ON) {
		w->end = ISO_WALK_DEEP;
		iso_count(ISO_COUNT_WALK_CAPPED);
	}
}

static __always_inline void iso_walk_up(struct iso_walk *w, struct dentry *dentry,
					struct vfsmount *mnt)
{
	w->dentry = dentry;
	w->mount = mnt ? iso_mount_of(mnt) : 0;
	w->root = mnt ? BPF_CORE_READ(mnt, mnt_root) : 0;
	iso_walk_finish(w);
}

/* The walk from addresses that the verifier knows nothing of. */
static __noinline void iso_walk_blind(struct iso_walk *w, struct dentry *dentry,
				      struct vfsmount *mnt)
{
	w->proc = BPF_CORE_READ(dentry, d_sb, s_magic) == ISO_PROC_SUPER_MAGIC;
	iso_walk_up(w, dentry, mnt);
}

/* The walk from BTF pointers; mnt NULL judges by the dentry alone, up to its filesystem's root. */
static __noinline void iso_walk_direct(struct iso_walk *w, struct dentry *dentry,
				       struct vfsmount *mnt)
{
	struct dentry *root = mnt ? mnt->mnt_root : 0, *parent;
	struct iso_marks *marks = iso_all_marks();
	struct iso_rule *rule;

	w->proc = dentry->d_sb->s_magic == ISO_PROC_SUPER_MAGIC;
	for (int i = 0; i < ISO_WALK_DIRECT; i++) {
		rule = iso_rule_marked(marks, w->sandbox, (__u64)dentry->d_inode);
		if (rule) {
			iso_walk_found(w, rule);
			return;
		}
		if (dentry == root)
			break;
		parent = dentry->d_parent;
		if (parent == dentry)
			break;
		dentry = parent;
	}
	iso_walk_up(w, dentry, mnt);
}

#endif
