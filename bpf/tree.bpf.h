/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries that come, go and move.
 *
 * path_mknod, _mkdir,     MAKE on the directory; a protected name is refused whether it exists or
 * _symlink                not; device files never (a whiteout is one)
 * path_unlink, _rmdir     the same, and an object that carries a rule keeps its entry
 * path_link               the object must be READ and WRITE where it is, and the new place may not
 *                         grant more than the old (but EXEC: whoever may write there may copy)
 * path_rename             as unlink of the old name and make of the new, for both directions when
 *                         exchanged; between places of different rules as path_link
 *
 * Cannot see: what lies below a directory that is moved. The policy therefore puts a rule on every
 * ancestor of a protected path, and an object with a rule does not move.
 */
#ifndef ISO_TREE_BPF_H
#define ISO_TREE_BPF_H

#define ISO_NAME_BYTES 256

/*
 * FNV-1a over a name of at most 255 bytes, in place of the address of its dentry; 0 when it cannot
 * be read. Global for the verifier's sake (event.bpf.h).
 */
__noinline int iso_hash_name(__u64 *name_of)
{
	char text[ISO_NAME_BYTES];
	const unsigned char *name;
	__u64 h = ISO_HASH_SEED;
	struct dentry *dentry;
	__u32 length;

	if (!name_of)
		return 0;
	dentry = (struct dentry *)*name_of;
	length = BPF_CORE_READ(dentry, d_name.len);
	name = BPF_CORE_READ(dentry, d_name.name);
	iso_barrier(length);
	if (length >= ISO_NAME_BYTES || bpf_probe_read_kernel(text, length, name)) {
		iso_count(ISO_COUNT_READ_FAILED);
		return 0;
	}
	for (__u32 i = 0; i < ISO_NAME_BYTES - 1; i++) {
		if (i >= length)
			break;
		h = (h ^ (unsigned char)text[i]) * ISO_HASH_PRIME;
	}
	*name_of = h;
	return 1;
}

/* A name rule on this entry: 0, or the reason, with its rule. */
static __always_inline __u32 iso_name_held(__u64 sandbox, struct dentry *dir, struct dentry *dentry,
					   __u32 *rule)
{
	__u64 inode = (__u64)BPF_CORE_READ(dir, d_inode);
	struct iso_object *object = bpf_map_lookup_elem(&iso_objects, &inode);
	struct iso_name_key key = {};
	struct iso_name *name;

	if (!object)
		return 0;
	key.sandbox = sandbox;
	key.object = object->id;
	key.hash = (__u64)dentry;
	if (!iso_hash_name(&key.hash))
		return ISO_REASON_UNREADABLE;
	name = bpf_map_lookup_elem(&iso_names, &key);
	if (!name)
		return 0;
	*rule = name->rule;
	return ISO_REASON_NAME;
}

/* Does the entry's object carry a rule of its own? 0, or the reason, with that rule. */
static __always_inline __u32 iso_entry_held(__u64 sandbox, struct dentry *dentry, __u32 *rule)
{
	__u64 inode = (__u64)BPF_CORE_READ(dentry, d_inode);
	struct iso_rule *found = inode ? iso_rule_on(sandbox, inode) : 0;

	if (!found)
		return 0;
	*rule = found->rule;
	return ISO_REASON_HELD;
}

/* May entries of this directory be made and removed? `w` holds the deciding rule and its rights. */
static __always_inline __u32 iso_directory(struct iso_walk *w, __u64 sandbox, struct dentry *dir,
					   struct vfsmount *mnt)
{
	w->sandbox = sandbox;
	iso_walk_direct(w, dir, mnt);
	return iso_verdict(w, dir, ISO_MAKE);
}

/* One entry of one directory: made (victim false) or removed (victim true). */
static __always_inline int iso_judge_entry(struct iso_question *q, const struct path *dir,
					   struct dentry *dentry, bool victim)
{
	struct iso_place place = {dentry, dir->mnt};
	__u64 sandbox = q->label->sandbox;
	struct iso_walk w = {};
	__u32 reason = iso_standing(q->label);

	q->want = ISO_MAKE;
	if (!reason)
		reason = iso_directory(&w, sandbox, dir->dentry, dir->mnt);
	if (!reason)
		reason = iso_name_held(sandbox, dir->dentry, dentry, &w.rule);
	if (!reason && victim)
		reason = iso_entry_held(sandbox, dentry, &w.rule);
	return iso_answer(q, reason, w.rule, &place, 0);
}

static __always_inline int iso_entry_hook(__u32 hook, const struct path *dir, struct dentry *dentry,
					  bool victim)
{
	struct iso_question q = {.label = iso_inside(), .hook = hook, .kind = ISO_EVENT_FILE};

	return q.label ? iso_judge_entry(&q, dir, dentry, victim) : 0;
}

SEC("lsm/path_mkdir")
int BPF_PROG(iso_path_mkdir, const struct path *dir, struct dentry *dentry)
{
	return iso_entry_hook(ISO_HOOK_path_mkdir, dir, dentry, false);
}

SEC("lsm/path_symlink")
int BPF_PROG(iso_path_symlink, const struct path *dir, struct dentry *dentry)
{
	return iso_entry_hook(ISO_HOOK_path_symlink, dir, dentry, false);
}

SEC("lsm/path_unlink")
int BPF_PROG(iso_path_unlink, const struct path *dir, struct dentry *dentry)
{
	return iso_entry_hook(ISO_HOOK_path_unlink, dir, dentry, true);
}

SEC("lsm/path_rmdir")
int BPF_PROG(iso_path_rmdir, const struct path *dir, struct dentry *dentry)
{
	return iso_entry_hook(ISO_HOOK_path_rmdir, dir, dentry, true);
}

/*
 * In procfs nothing can be made, but an open with O_CREAT asks before the name is looked up: what
 * is there already (`echo >/dev/stderr`) would be refused on paper and opened all the same.
 */
SEC("lsm/path_mknod")
int BPF_PROG(iso_path_mknod, const struct path *dir, struct dentry *dentry, unsigned short mode)
{
	struct iso_question q = {
		.label = iso_inside(),
		.hook = ISO_HOOK_path_mknod,
		.kind = ISO_EVENT_FILE,
		.mode = mode,
	};
	__u32 type = mode & ISO_S_IFMT;

	if (!q.label || BPF_CORE_READ(dir, dentry, d_sb, s_magic) == ISO_PROC_SUPER_MAGIC)
		return 0;
	if ((type == ISO_S_IFCHR || type == ISO_S_IFBLK) && !iso_trusted(q.label)) {
		struct iso_place place = {dentry, dir->mnt};

		return iso_answer(&q, ISO_REASON_SPECIAL, ISO_RULE_NONE, &place, 0);
	}
	return iso_judge_entry(&q, dir, dentry, false);
}

/* May an object that is under `from` come under `to`? What can be read and written can be copied.
 */
static __always_inline __u32 iso_may_move(const struct iso_walk *from, const struct iso_walk *to)
{
	const __u32 copy = ISO_READ | ISO_WRITE;

	if (from->rule == to->rule)
		return 0;
	if ((from->rights & copy) != copy)
		return ISO_REASON_RIGHTS;
	return to->rights & ~from->rights & ~ISO_EXEC ? ISO_REASON_RIGHTS : 0;
}

SEC("lsm/path_link")
int BPF_PROG(iso_path_link, struct dentry *old, const struct path *dir, struct dentry *dentry)
{
	struct iso_question q = ISO_ASK(iso_inside(), path_link, ISO_MAKE);
	struct iso_place from = {old, dir->mnt}, to = {dentry, dir->mnt};
	struct iso_walk source = {}, target = {};
	__u32 reason;

	if (!q.label)
		return 0;
	reason = iso_standing(q.label);
	if (!reason)
		reason = iso_directory(&target, q.label->sandbox, dir->dentry, dir->mnt);
	if (!reason)
		reason = iso_name_held(q.label->sandbox, dir->dentry, dentry, &target.rule);
	if (!reason) {
		source.sandbox = q.label->sandbox;
		iso_walk_direct(&source, old, dir->mnt);
		reason = iso_verdict(&source, old, ISO_READ | ISO_WRITE);
		if (!reason)
			reason = iso_may_move(&source, &target);
		if (reason)
			target.rule = source.rule;
	}
	return iso_answer(&q, reason, target.rule, &from, &to);
}

SEC("lsm/path_rename")
int BPF_PROG(iso_path_rename, const struct path *old_dir, struct dentry *old,
	     const struct path *new_dir, struct dentry *new, unsigned int flags)
{
	struct iso_question q = ISO_ASK(iso_inside(), path_rename, ISO_MAKE);
	struct iso_place from = {old, old_dir->mnt}, to = {new, new_dir->mnt};
	struct iso_walk source = {}, target = {};
	__u64 sandbox;
	__u32 reason;

	if (!q.label)
		return 0;
	sandbox = q.label->sandbox;
	reason = iso_standing(q.label);
	if (!reason)
		reason = iso_directory(&source, sandbox, old_dir->dentry, old_dir->mnt);
	if (!reason)
		reason = iso_name_held(sandbox, old_dir->dentry, old, &source.rule);
	if (!reason)
		reason = iso_entry_held(sandbox, old, &source.rule);
	if (reason)
		return iso_answer(&q, reason, source.rule, &from, &to);
	reason = iso_directory(&target, sandbox, new_dir->dentry, new_dir->mnt);
	if (!reason)
		reason = iso_name_held(sandbox, new_dir->dentry, new, &target.rule);
	if (!reason)
		reason = iso_entry_held(sandbox, new, &target.rule);
	if (!reason)
		reason = iso_may_move(&source, &target);
	if (!reason && flags & ISO_RENAME_EXCHANGE)
		reason = iso_may_move(&target, &source);
	return iso_answer(&q, reason, target.rule, &from, &to);
}

#endif
