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

#define ISO_WALK_DIRECT 33   /* deeper than most; each level costs isod a little when it starts */
#define ISO_WALK_LEVELS 4096 /* PATH_MAX / 2 components, and mounts between them */

/* Where a walk ended. */
#define ISO_WALK_RULE	   1u /* at a rule */
#define ISO_WALK_TOP	   2u /* at the root of the namespace or filesystem, no rule on the way */
#define ISO_WALK_ANONYMOUS 3u /* pipe, memfd, socket: nobody's tree */
#define ISO_WALK_DEEP	   4u
#define ISO_WALK_GOES_ON   5u

/* A walk as its caller sees it: where it began, and what it came to. */
struct iso_walk {
	struct dentry *dentry;
	struct vfsmount *mnt; /* NULL: judged by dentry alone */
	__u64 sandbox;
	__u64 magic; /* of the filesystem that it began in */
	__u32 end;
	__u32 rights;
	__u32 rule;
	__u32 pad;
};

/* The same on its way, over mounts. */
struct iso_ascent {
	struct dentry *dentry;
	struct dentry *root;
	struct mount *mount;
	struct iso_walk to;
};

/*
 * The rule of this sandbox that hangs on an inode, or NULL. Its own function, so that its stack is
 * gone afterwards: what is left there makes states that the verifier cannot merge.
 */
static __noinline struct iso_rule *iso_rule_of(__u64 sandbox, __u64 inode)
{
	struct iso_object *object = bpf_map_lookup_elem(&iso_objects, &inode);
	struct iso_rule_key key;

	if (!object)
		return 0;
	key.sandbox = sandbox;
	key.object = object->id;
	return bpf_map_lookup_elem(&iso_rules, &key);
}

/* The same, but for the inodes that no rule hangs on without asking. */
static __always_inline struct iso_rule *iso_rule_on(__u64 sandbox, __u64 inode)
{
	struct iso_marks *marks = iso_all_marks();

	return !marks || *iso_mark_of(marks, inode) ? iso_rule_of(sandbox, inode) : 0;
}

static __always_inline void iso_walk_found(struct iso_walk *w, const struct iso_rule *rule)
{
	w->rights = rule->rights;
	w->rule = rule->rule;
	w->end = ISO_WALK_RULE;
}

/*
 * The same for the unrolled walk: rule << 32 | its rights, with ISO_RULED; 0: none. `asked` is the
 * sandbox and, as object, the inode's address. Global for the verifier's sake (event.bpf.h): each
 * level of the walk would go through it.
 */
#define ISO_RULED (1u << 31)

__noinline __u64 iso_rule_at(struct iso_rule_key *asked)
{
	struct iso_rule *rule;

	if (!asked)
		return 0;
	rule = iso_rule_of(asked->sandbox, asked->object);
	return rule ? (__u64)rule->rule << 32 | rule->rights | ISO_RULED : 0;
}

/* What lies above the topmost dentry: a tree without rule, or no tree at all. */
static __always_inline __u32 iso_walk_top(struct dentry *dentry, struct mount *mount)
{
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

static long iso_walk_step(__u32 i, struct iso_ascent *a)
{
	struct dentry *dentry = a->dentry, *parent;
	struct mount *mount = a->mount;
	struct iso_rule *rule = iso_rule_on(a->to.sandbox, (__u64)BPF_CORE_READ(dentry, d_inode));

	if (rule) {
		iso_walk_found(&a->to, rule);
		return 1;
	}
	if (mount && dentry == a->root) {
		struct mount *up = BPF_CORE_READ(mount, mnt_parent);

		if (!up || up == mount) {
			a->to.end = iso_walk_top(dentry, mount);
			return 1;
		}
		a->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		a->root = BPF_CORE_READ(up, mnt.mnt_root);
		a->mount = up;
		return 0;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (!parent || parent == dentry) {
		a->to.end = iso_walk_top(dentry, mount);
		return 1;
	}
	a->dentry = parent;
	return 0;
}

/*
 * Goes on from w->dentry in w->mnt to the end, wherever that is. Global for the verifier's sake
 * (event.bpf.h): the direct walk comes here from each of its levels. bpf_loop wants its context on
 * its caller's own stack.
 */
__noinline int iso_walk_on(struct iso_walk *w)
{
	struct iso_ascent a = {};
	struct vfsmount *mnt;

	if (!w)
		return 0;
	a.to = *w;
	a.dentry = a.to.dentry;
	mnt = a.to.mnt; /* a copy: CO-RE would relocate our own structure */
	if (mnt) {
		a.mount = iso_mount_of(mnt);
		a.root = BPF_CORE_READ(mnt, mnt_root);
	}
	a.to.end = ISO_WALK_GOES_ON;
	bpf_loop(ISO_WALK_LEVELS, iso_walk_step, &a, 0);
	if (a.to.end == ISO_WALK_GOES_ON) {
		a.to.end = ISO_WALK_DEEP;
		iso_count(ISO_COUNT_WALK_CAPPED);
	}
	*w = a.to;
	return 0;
}

/* The walk from addresses that the verifier knows nothing of. */
static __always_inline void iso_walk_blind(struct iso_walk *w, struct dentry *dentry,
					   struct vfsmount *mnt)
{
	w->magic = BPF_CORE_READ(dentry, d_sb, s_magic);
	w->dentry = dentry;
	w->mnt = mnt;
	iso_walk_on(w);
}

/* The levels below `root`, and the rest of the way. */
static __always_inline void iso_walk_up(struct iso_walk *w, struct dentry *dentry,
					struct dentry *root)
{
	struct iso_marks *marks = iso_all_marks();
	struct iso_rule_key asked = {.sandbox = w->sandbox};
	struct dentry *parent;
	__u64 rule;

	w->magic = dentry->d_sb->s_magic;
	for (int i = 0; marks && i < ISO_WALK_DIRECT; i++) {
		if (*iso_mark_of(marks, (__u64)dentry->d_inode)) {
			asked.object = (__u64)dentry->d_inode;
			rule = iso_rule_at(&asked);
			if (rule) {
				w->rights = rule & ISO_RIGHTS_ALL;
				w->rule = rule >> 32;
				w->end = ISO_WALK_RULE;
				return;
			}
		}
		if (dentry == root)
			break;
		parent = dentry->d_parent;
		if (parent == dentry)
			break;
		dentry = parent;
	}
	w->dentry = dentry;
	iso_walk_on(w);
}

/* The walk from BTF pointers. */
static __noinline void iso_walk_direct(struct iso_walk *w, struct dentry *dentry,
				       struct vfsmount *mnt)
{
	w->mnt = mnt;
	iso_walk_up(w, dentry, mnt->mnt_root);
}

/* The same for hooks that know no mount: up to the root of the dentry's filesystem. */
static __noinline void iso_walk_unmounted(struct iso_walk *w, struct dentry *dentry)
{
	w->mnt = 0;
	iso_walk_up(w, dentry, 0);
}

#endif
