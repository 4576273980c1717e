/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one writer of policy, and the one reader for userspace.
 *
 * iso_installer  a write-once state machine per sandbox (iso_abi.h). Everything but CLAIM needs the
 *                agent label; a sealed sandbox answers -EEXIST to every addition, for the agent
 *                too; removal only while no task lives
 * iso_query      answers, changes nothing
 *
 * Descriptors are resolved here, in the calling task's table, so that what a rule hangs on is the
 * object itself and not a name. The caller's structure is copied to the stack first: a syscall
 * context is no map key (6.12).
 */
#ifndef ISO_INSTALLER_BPF_H
#define ISO_INSTALLER_BPF_H

/* The inode as the walk will see it: the dentry's, which on overlayfs is not the file's own. */
static __always_inline __u64 iso_inode_at(__s32 fd)
{
	struct file *file = iso_file_at(fd);

	return file ? (__u64)BPF_CORE_READ(file, f_path.dentry, d_inode) : 0;
}

static __always_inline int iso_do_claim(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct iso_label agent = {.role = ISO_ROLE_AGENT};
	struct iso_globals *g = iso_globals();
	int r;

	if (!g)
		return -EFAULT;
	if (iso_current())
		return iso_is_agent() ? 0 : -EPERM;
	if (__sync_val_compare_and_swap(&g->agents, 0, 1) != 0)
		return -EBUSY;
	if (!bpf_task_storage_get(&iso_labels, task, &agent, BPF_LOCAL_STORAGE_GET_F_CREATE)) {
		__sync_fetch_and_add(&g->agents, -1);
		return -ENOMEM;
	}
	g->agent_tgid = bpf_get_current_pid_tgid() >> 32;
	if (!g->secret)
		g->secret = (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
	r = iso_ledger_open(0, 0);
	return r == -EEXIST ? 0 : r;
}

/* The cgroup v2 directory behind a descriptor, or NULL. */
static __always_inline struct cgroup *iso_cgroup_at(__s32 fd)
{
	struct file *file = iso_file_at(fd);
	struct kernfs_node *node;

	if (!file || BPF_CORE_READ(file, f_path.dentry, d_sb, s_magic) != ISO_CGROUP2_SUPER_MAGIC ||
	    !iso_is_directory(file))
		return 0;
	node = (struct kernfs_node *)BPF_CORE_READ(file, f_inode, i_private);
	return (struct cgroup *)BPF_CORE_READ(node, priv);
}

/*
 * Binding labels what is forked in afterwards: what lives inside already would stay free, and so
 * would one that enters a child made before.
 */
static __always_inline bool iso_cgroup_used(struct cgroup *group)
{
	int tasks;

	if (bpf_core_field_exists(group->self.nr_populated_csets))
		tasks = BPF_CORE_READ(group, self.nr_populated_csets);
	else
		tasks = BPF_CORE_READ(group, nr_populated_csets);
	return tasks || BPF_CORE_READ(group, nr_descendants);
}

static __always_inline int iso_do_begin(const struct iso_command *c)
{
	struct iso_globals *g = iso_globals();
	struct iso_sandbox fresh = {};
	struct cgroup *group = iso_cgroup_at(c->fd);
	__u32 level;
	int r;

	if (!g || !c->sandbox || c->sandbox == ISO_NOBODY || !c->value || c->arg & ISO_SB_TORN)
		return -EINVAL;
	if (!group)
		return -EBADF;
	if (iso_cgroup_used(group))
		return -EBUSY;
	level = BPF_CORE_READ(group, level);
	if (level >= ISO_CGROUP_LEVELS)
		return -ENAMETOOLONG;
	fresh.cgroup = BPF_CORE_READ(group, kn, id);
	fresh.state = ISO_STATE_BUILDING;
	fresh.flags = c->arg;
	r = bpf_map_update_elem(&iso_sandboxes, &c->sandbox, &fresh, BPF_NOEXIST);
	if (r)
		return r;
	__sync_fetch_and_or(&g->levels, 1u << level);
	r = iso_ledger_open(c->sandbox, (__u32)c->value);
	if (!r)
		r = bpf_map_update_elem(&iso_cgroups, &fresh.cgroup, &c->sandbox, BPF_NOEXIST);
	if (r) {
		iso_ledger_close(c->sandbox);
		bpf_map_delete_elem(&iso_sandboxes, &c->sandbox);
		return r;
	}
	__sync_fetch_and_add(&g->bound, 1);
	return 0;
}

/* Before an object is entered, after it was taken out. */
static __always_inline void iso_object_mark(__u64 inode, __s32 by)
{
	struct iso_marks *marks = iso_all_marks();

	if (marks)
		__sync_fetch_and_add(iso_mark_of(marks, inode), by);
}

static __always_inline void iso_object_drop(__u64 inode)
{
	if (!bpf_map_delete_elem(&iso_objects, &inode))
		iso_object_mark(inode, -1);
}

/* The object's number, made when it has none; 0 when there is no room. */
static __always_inline __u64 iso_object_take(__u64 inode)
{
	struct iso_object *object = bpf_map_lookup_elem(&iso_objects, &inode), fresh = {};
	struct iso_globals *g = iso_globals();

	if (!object && g) {
		fresh.id = __sync_fetch_and_add(&g->next_object, 1) + 1;
		iso_object_mark(inode, 1);
		if (bpf_map_update_elem(&iso_objects, &inode, &fresh, BPF_NOEXIST))
			iso_object_mark(inode, -1);
		object = bpf_map_lookup_elem(&iso_objects, &inode);
	}
	if (!object) {
		iso_count(ISO_COUNT_MAP_FULL);
		return 0;
	}
	__sync_fetch_and_add(&object->users, 1);
	return object->id;
}

/* The inode may have gone meanwhile, and its address with another number be somebody else's. */
static __always_inline void iso_object_give(__u64 inode, __u64 id)
{
	struct iso_object *object = bpf_map_lookup_elem(&iso_objects, &inode);

	if (object && object->id == id && __sync_fetch_and_add(&object->users, -1) == 1)
		iso_object_drop(inode);
}

static __always_inline int iso_do_rule(const struct iso_command *c)
{
	struct iso_rule rule = {c->arg, c->rule, iso_inode_at(c->fd)};
	struct iso_rule_key key = {c->sandbox, 0};
	int r;

	if (!c->rule || c->arg & ~ISO_RIGHTS_ALL)
		return -EINVAL;
	if (!rule.inode)
		return -EBADF;
	key.object = iso_object_take(rule.inode);
	if (!key.object)
		return -ENOSPC;
	r = bpf_map_update_elem(&iso_rules, &key, &rule, BPF_NOEXIST);
	if (r)
		iso_object_give(rule.inode, key.object);
	return r;
}

static __always_inline int iso_do_name(const struct iso_command *c)
{
	struct iso_name_key key = {c->sandbox, 0, c->value};
	struct iso_name name = {c->rule, 0, iso_inode_at(c->fd)};
	int r;

	if (!c->rule)
		return -EINVAL;
	if (!name.inode)
		return -EBADF;
	key.object = iso_object_take(name.inode);
	if (!key.object)
		return -ENOSPC;
	r = bpf_map_update_elem(&iso_names, &key, &name, BPF_NOEXIST);
	if (r)
		iso_object_give(name.inode, key.object);
	return r;
}

static __always_inline int iso_do_absent(const struct iso_command *c)
{
	struct iso_absent_key key = {c->sandbox, c->value};
	__u32 rule = c->rule;

	if (!rule)
		return -EINVAL;
	return bpf_map_update_elem(&iso_absents, &key, &rule, BPF_NOEXIST);
}

struct iso_purge {
	__u64 sandbox;
};

static long iso_purge_rule(void *map, struct iso_rule_key *key, struct iso_rule *rule,
			   struct iso_purge *p)
{
	struct iso_rule_key mine = *key;
	__u64 inode = rule->inode;

	if (mine.sandbox != p->sandbox)
		return 0;
	bpf_map_delete_elem(&iso_rules, &mine);
	iso_object_give(inode, mine.object);
	return 0;
}

static long iso_purge_name(void *map, struct iso_name_key *key, struct iso_name *name,
			   struct iso_purge *p)
{
	struct iso_name_key mine = *key;
	__u64 inode = name->inode;

	if (mine.sandbox != p->sandbox)
		return 0;
	bpf_map_delete_elem(&iso_names, &mine);
	iso_object_give(inode, mine.object);
	return 0;
}

static long iso_purge_absent(void *map, struct iso_absent_key *key, __u32 *rule,
			     struct iso_purge *p)
{
	struct iso_absent_key mine = *key;

	if (mine.sandbox == p->sandbox)
		bpf_map_delete_elem(&iso_absents, &mine);
	return 0;
}

static __always_inline int iso_do_remove(struct iso_sandbox *sb, __u64 sandbox)
{
	struct iso_globals *g = iso_globals();
	struct iso_purge p = {sandbox};
	__u64 cgroup = sb->cgroup;
	__u32 state = sb->state;

	/* No task is the end of it: it is sealed with its first one in it (iso_do_seal). Of several
	 * removals at once one goes on: what is purged twice may be another's already. */
	if (sb->tasks || !g || state == ISO_STATE_REMOVING ||
	    __sync_val_compare_and_swap(&sb->state, state, ISO_STATE_REMOVING) != state)
		return -EBUSY;
	bpf_for_each_map_elem(&iso_rules, iso_purge_rule, &p, 0);
	bpf_for_each_map_elem(&iso_names, iso_purge_name, &p, 0);
	bpf_for_each_map_elem(&iso_absents, iso_purge_absent, &p, 0);
	bpf_map_delete_elem(&iso_cgroups, &cgroup);
	bpf_map_delete_elem(&iso_sandboxes, &sandbox);
	iso_ledger_close(sandbox);
	__sync_fetch_and_add(&g->bound, -1);
	return 0;
}

/* isoinit runs, nobody else does, and there is something to hold them to. */
static __always_inline int iso_do_seal(struct iso_sandbox *sb)
{
	if (sb->tasks != 1 || !sb->next_exec || !sb->rules || sb->label_failed)
		return -EBUSY;
	sb->state = ISO_STATE_SEALED;
	return 0;
}

static __always_inline int iso_do_add(struct iso_sandbox *sb, const struct iso_command *c)
{
	struct file *file;
	int r = -EINVAL;

	if (sb->state != ISO_STATE_BUILDING)
		return -EEXIST;
	switch (c->op) {
	case ISO_OP_LAUNCHER:
		file = iso_file_at(c->fd);
		if (!file)
			return -EBADF;
		sb->launcher = (__u64)BPF_CORE_READ(file, f_inode);
		return 0;
	case ISO_OP_RULE:
		r = iso_do_rule(c);
		break;
	case ISO_OP_NAME:
		r = iso_do_name(c);
		break;
	case ISO_OP_ABSENT:
		r = iso_do_absent(c);
		break;
	case ISO_OP_SEAL:
		return iso_do_seal(sb);
	}
	if (!r)
		sb->rules++;
	return r;
}

SEC("syscall")
int iso_installer(struct iso_command *context)
{
	struct iso_command c = {};
	struct iso_sandbox *sb;
	int r;

	c.op = context->op;
	c.fd = context->fd;
	c.sandbox = context->sandbox;
	c.value = context->value;
	c.arg = context->arg;
	c.rule = context->rule;
	if (c.op == ISO_OP_CLAIM)
		return iso_do_claim();
	if (!iso_is_agent())
		return -EPERM;
	r = iso_guard_operation(&c, context);
	if (r <= 0)
		return r;
	if (c.op == ISO_OP_BEGIN)
		return iso_do_begin(&c);
	sb = iso_sandbox_of(c.sandbox);
	if (!sb)
		return -ENOENT;
	if (c.op == ISO_OP_REMOVE)
		return iso_do_remove(sb, c.sandbox);
	return iso_do_add(sb, &c);
}

static __always_inline int iso_answer_rule(struct iso_inquiry *context, __u64 sandbox, __s32 fd)
{
	__u64 inode = iso_inode_at(fd);
	struct iso_rule *rule;

	if (!inode)
		return -EBADF;
	rule = iso_rule_on(sandbox, inode);
	if (!rule)
		return -ENOENT;
	context->arg = rule->rights;
	context->rule = rule->rule;
	return 0;
}

static __always_inline int iso_answer_name(struct iso_inquiry *context, struct iso_name_key *key,
					   __s32 fd)
{
	__u64 inode = iso_inode_at(fd);
	struct iso_object *object = inode ? bpf_map_lookup_elem(&iso_objects, &inode) : 0;
	struct iso_name *name;

	if (!inode)
		return -EBADF;
	if (!object)
		return -ENOENT;
	key->object = object->id;
	name = bpf_map_lookup_elem(&iso_names, key);
	if (!name)
		return -ENOENT;
	context->rule = name->rule;
	return 0;
}

static __always_inline int iso_answer_absent(struct iso_inquiry *context,
					     struct iso_absent_key *key)
{
	__u32 *rule = bpf_map_lookup_elem(&iso_absents, key);

	if (!rule)
		return -ENOENT;
	context->rule = *rule;
	return 0;
}

SEC("syscall")
int iso_query(struct iso_inquiry *context)
{
	__u64 sandbox = context->sandbox, value = context->value;
	struct iso_absent_key absent = {sandbox, value};
	struct iso_name_key name = {sandbox, 0, value};
	struct iso_globals *g = iso_globals();
	__u32 op = context->op, arg = context->arg;
	struct iso_sandbox *sb;
	__s32 fd = context->fd;
	__u64 *counter;

	switch (op) {
	case ISO_ASK_SANDBOX:
		sb = iso_sandbox_of(sandbox);
		if (!sb)
			return -ENOENT;
		context->answer = *sb;
		return 0;
	case ISO_ASK_RULE:
		return iso_answer_rule(context, sandbox, fd);
	case ISO_ASK_NAME:
		return iso_answer_name(context, &name, fd);
	case ISO_ASK_ABSENT:
		return iso_answer_absent(context, &absent);
	case ISO_ASK_COUNTER:
		counter = bpf_map_lookup_elem(&iso_counters, &arg);
		if (!counter)
			return -ENOENT;
		context->value = *counter;
		return 0;
	case ISO_ASK_AGENT:
		if (!g)
			return -EFAULT;
		context->value = g->agents ? g->agent_tgid : 0;
		return 0;
	case ISO_ASK_ACCOUNT:
		return iso_answer_account(context, sandbox);
	case ISO_ASK_WINDOW:
		return iso_answer_window(context, sandbox, arg);
	case ISO_ASK_GUARD:
		return iso_answer_guard(arg, context);
	default:
		return -EINVAL;
	}
}

/*
 * An inode that is freed takes its number along. If a rule hung on it, that sandbox would fall
 * back to the rule above, and a name rule would protect nothing: it is torn instead, and everything
 * is denied to it.
 */
struct iso_tear {
	__u64 object;
	__u64 rules;
};

/* Everything is denied from now on, also to tasks that remember the sandbox as whole. */
static __always_inline void iso_tear_down(struct iso_sandbox *sb)
{
	struct iso_globals *g = iso_globals();

	sb->flags |= ISO_SB_TORN;
	if (g)
		__sync_fetch_and_add(&g->epoch, 1);
}

static long iso_tear_one(void *map, __u64 *sandbox, struct iso_sandbox *sb, struct iso_tear *t)
{
	struct iso_rule_key key = {*sandbox, t->object};

	if (bpf_map_lookup_elem(&iso_rules, &key)) {
		iso_tear_down(sb);
		t->rules++;
	}
	return 0;
}

static long iso_tear_name(void *map, struct iso_name_key *key, struct iso_name *name,
			  struct iso_tear *t)
{
	__u64 sandbox = key->sandbox;
	struct iso_sandbox *sb;

	if (key->object != t->object)
		return 0;
	sb = iso_sandbox_of(sandbox);
	if (sb)
		iso_tear_down(sb);
	return 0;
}

SEC("lsm/inode_free_security")
int BPF_PROG(iso_inode_free, struct inode *freed)
{
	struct iso_marks *marks = iso_all_marks();
	__u64 inode = (__u64)freed;
	struct iso_object *object;
	struct iso_tear t = {};
	__u64 users;

	if (marks && !*iso_mark_of(marks, inode))
		return 0;
	object = bpf_map_lookup_elem(&iso_objects, &inode);
	if (!object)
		return 0;
	t.object = object->id;
	users = object->users;
	bpf_for_each_map_elem(&iso_sandboxes, iso_tear_one, &t, 0);
	if (users > t.rules)
		bpf_for_each_map_elem(&iso_names, iso_tear_name, &t, 0);
	iso_object_drop(inode);
	return 0;
}

#endif
