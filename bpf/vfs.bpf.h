/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the VFS refuses before any hook runs, told to the SOC. These report, they decide nothing.
 *
 * do_filp_open (do_file_open from 7.0 on):
 *   ENOENT of an assert_absent path or of one below it, as it was asked for, if absolute; EROFS;
 *   EACCES of what should have been executed and is on a noexec mount or not executable by its
 * mode, and of what owner and mode keep from being read or written
 * __mnt_want_write (mnt_get_write_access from 6.8 on):
 *   says nothing: remembers the rule of the mount for the call at hand
 * filename_create: EROFS, what would make a name on a read-only mount
 * mnt_want_write: EROFS, what would remove or change one there
 * mnt_want_write_file: the same through a descriptor
 *
 * Cannot see: an absent path that is asked for by a relative name, or by stat(2).
 */
#ifndef ISO_VFS_BPF_H
#define ISO_VFS_BPF_H

#define ISO_ASKED_BYTES 256

static __always_inline bool iso_failed(const void *result, int error)
{
	long r = (long)result;

	iso_barrier(r); /* or the comparisons become a shift, which no pointer may take part in */
	return r == -error;
}

static __always_inline struct iso_label *iso_sealed_inside(void)
{
	struct iso_label *label = iso_inside();

	if (!label || iso_trusted(label))
		return 0;
	return label;
}

/* A path as the task gave it, and what a relative one starts from. */
struct iso_asked {
	const char *name;
	__s32 dfd;
	bool user; /* name is in the task's memory */
};

/*
 * Tells what was asked for from other names, for repeats. Global for the verifier's sake
 * (event.bpf.h), and because the text needs a stack of its own.
 */
__noinline int iso_hash_asked(struct iso_asked *asked, __u64 *hash)
{
	__u64 text[ISO_ASKED_BYTES / sizeof(__u64)] = {}, h = iso_secret();
	struct iso_place base = {};
	long n;

	if (!asked || !hash)
		return 0;
	n = asked->user ? bpf_probe_read_user_str(text, sizeof text, asked->name)
			: bpf_probe_read_kernel_str(text, sizeof text, asked->name);
	if (n > 1 && *(char *)text != '/') {
		iso_call_base(asked->dfd, &base);
		h = iso_mix(h, (__u64)base.dentry);
	}
	for (__u32 i = 0; i < sizeof text / sizeof *text; i++)
		h = iso_mix(h, text[i]);
	*hash = h;
	return 0;
}

/*
 * Says what was asked for; the second path is the start of a relative one. Global for the
 * verifier's sake (event.bpf.h).
 */
__noinline int iso_say_asked(struct iso_label *label, struct iso_refusal *why,
			     struct iso_asked *asked)
{
	struct iso_place base = {};
	struct iso_event *e;
	long n;

	if (!label || !why || !asked)
		return 0;
	e = iso_event_start(label, why);
	if (!e)
		return 0;
	n = asked->user ? bpf_probe_read_user_str(e->path.area, ISO_ASKED_BYTES, asked->name)
			: bpf_probe_read_kernel_str(e->path.area, ISO_ASKED_BYTES, asked->name);
	if (n > 0) {
		e->path.length = n - 1;
		e->path.truncated = n == ISO_ASKED_BYTES;
	}
	if (n > 1 && e->path.area[0] != '/') {
		iso_call_base(asked->dfd, &base);
		if (base.dentry)
			iso_path_build(&e->path2, &base);
	}
	iso_event_send(e);
	return 0;
}

/* A path on its way through the absent names. */
struct iso_absent_walk {
	struct iso_absent_key key;
	char text[ISO_ASKED_BYTES];
	char last;
	__u32 rule;
};

/* One byte of it; 1: at the end, or at an entry. */
static long iso_absent_step(__u32 i, struct iso_absent_walk *w)
{
	char c = w->text[i & (ISO_ASKED_BYTES - 1)];
	__u32 *rule;

	if (i && (c == '/' || !c) && w->last != '/') {
		rule = bpf_map_lookup_elem(&iso_absents, &w->key);
		if (rule) {
			w->rule = *rule;
			return 1;
		}
	}
	if (!c)
		return 1;
	if (c == '/' && w->last == '/')
		return 0;
	w->key.hash = (w->key.hash ^ (unsigned char)c) * ISO_HASH_PRIME;
	w->last = c;
	return 0;
}

/* Rule of the assert_absent entry that is this absolute path or an ancestor of it; 0: none. */
static __noinline __u32 iso_absent_rule(__u64 sandbox, const char *name)
{
	struct iso_absent_walk w = {.key = {sandbox, ISO_HASH_SEED}};

	if (bpf_probe_read_kernel_str(w.text, sizeof w.text, name) < 0 || w.text[0] != '/')
		return 0;
	bpf_loop(ISO_ASKED_BYTES, iso_absent_step, &w, 0);
	return w.rule;
}

static __always_inline int iso_open_failed(int dfd, struct filename *path,
					   const struct open_flags *op, struct file *result)
{
	struct iso_refusal why = {.kind = ISO_EVENT_FILE, .wanted = ISO_WRITE};
	struct iso_asked asked = {.dfd = dfd};
	struct iso_label *label;
	__u32 flags;

	if (!iso_failed(result, ENOENT) && !iso_failed(result, EROFS) &&
	    !iso_failed(result, EACCES))
		return 0;
	label = iso_sealed_inside();
	if (!label)
		return 0;
	asked.name = BPF_CORE_READ(path, name);
	if (iso_failed(result, EROFS)) {
		why.hook = ISO_HOOK_read_only;
		why.reason = ISO_REASON_READ_ONLY;
		why.rule = label->read_only;
		why.error = EROFS;
		label->read_only = 0;
	} else if (iso_failed(result, EACCES)) {
		flags = BPF_CORE_READ(op, open_flag);
		if (label->refused) {
			label->refused = 0;
			return 0;
		}
		why.hook = ISO_HOOK_file_open;
		why.error = EACCES;
		if (flags & ISO_FMODE_EXEC_FLAG) {
			why.kind = ISO_EVENT_EXEC;
			why.reason = ISO_REASON_NOEXEC;
			why.wanted = ISO_EXEC;
		} else {
			why.reason = ISO_REASON_MODE;
			why.wanted = flags & ISO_O_ACCMODE ? ISO_WRITE : ISO_READ;
		}
	} else {
		why.rule = iso_absent_rule(label->sandbox, asked.name);
		if (!why.rule)
			return 0;
		why.kind = ISO_EVENT_ABSENT;
		why.hook = ISO_HOOK_absent;
		why.reason = ISO_REASON_ABSENT;
		why.wanted = ISO_READ;
		why.error = ENOENT;
	}
	iso_hash_asked(&asked, &why.object);
	return iso_say_asked(label, &why, &asked);
}

SEC("?fexit/do_filp_open")
int BPF_PROG(iso_absent, int dfd, struct filename *path, const struct open_flags *op,
	     struct file *result)
{
	return iso_open_failed(dfd, path, op, result);
}

SEC("?fexit/do_file_open")
int BPF_PROG(iso_absent_72, int dfd, struct filename *path, const struct open_flags *op,
	     struct file *result)
{
	return iso_open_failed(dfd, path, op, result);
}

/* The rule that hangs on a mount's root: a tree's own, or that of a protected path. */
static __always_inline __u32 iso_mount_rule(struct iso_label *label, struct vfsmount *mnt)
{
	struct iso_rule *rule;

	rule = iso_rule_on(label->sandbox, (__u64)BPF_CORE_READ(mnt, mnt_root, d_inode));
	return rule ? rule->rule : ISO_RULE_NONE;
}

static __always_inline int iso_remember_mount(struct vfsmount *mnt, int result)
{
	struct iso_label *label;

	if (result != -EROFS)
		return 0;
	label = iso_inside();
	if (label)
		label->read_only = iso_mount_rule(label, mnt);
	return 0;
}

SEC("?fexit/mnt_get_write_access")
int BPF_PROG(iso_write_access, struct vfsmount *mnt, int result)
{
	return iso_remember_mount(mnt, result);
}

SEC("?fexit/__mnt_want_write")
int BPF_PROG(iso_write_access_61, struct vfsmount *mnt, int result)
{
	return iso_remember_mount(mnt, result);
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
	struct iso_argument argument;
	struct iso_asked asked = {};
	struct iso_label *label;
	struct iso_place place;

	if (result != -EROFS)
		return 0;
	label = iso_sealed_inside();
	if (!label)
		return 0;
	why.rule = iso_mount_rule(label, mnt);
	label->read_only = why.rule;
	if (iso_call_opens(label) || iso_call_makes(label))
		return 0;
	argument = iso_call_path(label);
	if (argument.name) {
		asked.name = argument.name;
		asked.dfd = argument.dfd;
		asked.user = true;
		iso_hash_asked(&asked, &why.object);
		return iso_say_asked(label, &why, &asked);
	}
	place.mnt = mnt;
	place.dentry = BPF_CORE_READ(mnt, mnt_root);
	iso_refuse_at(label, &why, &place, 0);
	return 0;
}

SEC("fexit/filename_create")
int BPF_PROG(iso_create_failed, int dfd, struct filename *path, void *parent, unsigned int flags,
	     struct dentry *result)
{
	struct iso_refusal why = iso_read_only_refusal;
	struct iso_asked asked = {.dfd = dfd};
	struct iso_label *label;

	if (!iso_failed(result, EROFS))
		return 0;
	label = iso_sealed_inside();
	if (!label)
		return 0;
	why.rule = label->read_only;
	label->read_only = 0;
	asked.name = BPF_CORE_READ(path, name);
	iso_hash_asked(&asked, &why.object);
	return iso_say_asked(label, &why, &asked);
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
	why.rule = iso_mount_rule(label, place.mnt);
	iso_refuse_at(label, &why, &place, 0);
	return 0;
}

#endif
