/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the guard is locked. Each step closes a way round the next:
 *
 *	GUARD each object	what is ours, learned from the object behind the agent's descriptor
 *	CLOSE			nobody else comes by a descriptor or adds a program that decides
 *	(the agent)		gets what it keeps anew, drops every other descriptor
 *	iso_scan		all programs of others that decide, or that hold an object of ours
 *	LOCK			only if the scan found nothing but what is listed, and each object
 *is held as often as we know of: who had a descriptor, a mapping, a map in a map or a program with
 *our map from before shows here
 */
#ifndef ISO_LOCK_BPF_H
#define ISO_LOCK_BPF_H

static __always_inline int iso_do_guard(struct iso_guard *guard, const struct iso_command *c)
{
	struct iso_guarded entry = {.holders = c->value, .kept = c->rule};
	struct file *file = iso_file_at(c->fd);
	__u64 address, fops, key, *known; /* address: CO-RE would relocate a structure of ours */
	__u32 id;

	if (guard->state != ISO_GUARD_OPEN)
		return -EBUSY;
	if (!file)
		return -EBADF;
	address = (__u64)BPF_CORE_READ(file, private_data);
	switch (c->arg) {
	case ISO_OBJECT_MAP:
		id = BPF_CORE_READ((struct bpf_map *)address, id);
		known = &guard->fops[ISO_OBJECT_MAP];
		break;
	case ISO_OBJECT_PROGRAM:
		id = BPF_CORE_READ((struct bpf_prog *)address, aux, id);
		known = &guard->fops[ISO_OBJECT_PROGRAM];
		break;
	case ISO_OBJECT_LINK:
		id = BPF_CORE_READ((struct bpf_link *)address, id);
		known = &guard->fops[ISO_OBJECT_LINK];
		break;
	default:
		return -EINVAL;
	}
	fops = (__u64)BPF_CORE_READ(file, f_op);
	if (!*known)
		*known = fops;
	/* all descriptors of one kind have the same operations: it is none of that kind */
	if (!id || *known != fops)
		return -EINVAL;
	entry.address = address;
	key = (__u64)c->arg << 32 | id;
	return bpf_map_update_elem(&iso_guarded, &key, &entry, BPF_ANY);
}

static __always_inline void iso_guard_become(struct iso_guard *guard, __u32 state)
{
	guard->state = state;
	guard->since = bpf_ktime_get_boot_ns();
}

static long iso_forget_found(void *map, __u64 *key, struct iso_guarded *entry, void *none)
{
	__u64 mine = *key;

	if (mine >> 32 == ISO_OBJECT_FOREIGN)
		bpf_map_delete_elem(&iso_guarded, &mine);
	return 0;
}

static __always_inline int iso_do_close(struct iso_guard *guard)
{
	if (guard->state == ISO_GUARD_LOCKED)
		return -EBUSY;
	iso_guard_become(guard, ISO_GUARD_CLOSING);
	guard->scanned = 0;
	guard->foreign = 0;
	guard->intruders = 0;
	bpf_for_each_map_elem(&iso_guarded, iso_forget_found, 0, 0);
	return 0;
}

/* The first object that somebody else holds. */
struct iso_held {
	__u32 object;
	__u32 id;
};

static long iso_held_step(void *map, __u64 *key, struct iso_guarded *entry, struct iso_held *held)
{
	__u64 address = entry->address, holders, kept = entry->kept;
	__u32 object = *key >> 32;

	if (object == ISO_OBJECT_MAP) {
		holders = BPF_CORE_READ((struct bpf_map *)address, refcnt.counter);
		kept = BPF_CORE_READ((struct bpf_map *)address, usercnt.counter);
	} else if (object == ISO_OBJECT_PROGRAM) {
		holders = BPF_CORE_READ((struct bpf_prog *)address, aux, refcnt.counter);
	} else if (object == ISO_OBJECT_LINK) {
		holders = BPF_CORE_READ((struct bpf_link *)address, refcnt.counter);
	} else {
		return 0;
	}
	if (holders == entry->holders && kept == entry->kept)
		return 0;
	held->object = object;
	held->id = (__u32)*key;
	return 1;
}

static __always_inline int iso_do_lock(struct iso_guard *guard, const struct iso_command *c,
				       struct iso_command *answer)
{
	struct iso_held held = {};

	if (guard->state != ISO_GUARD_CLOSING || !guard->scanned)
		return -EINVAL;
	if (guard->foreign != c->value || guard->intruders)
		return -EEXIST;
	bpf_for_each_map_elem(&iso_guarded, iso_held_step, &held, 0);
	if (held.object) {
		answer->arg = held.object;
		answer->rule = held.id;
		return -EBUSY;
	}
	iso_guard_become(guard, ISO_GUARD_LOCKED);
	return 0;
}

static __always_inline int iso_do_release(struct iso_guard *guard)
{
	struct iso_globals *g = iso_globals();

	if (!g)
		return -EFAULT;
	/* a lock that did not come about has promised nothing */
	if (guard->state == ISO_GUARD_LOCKED && g->bound)
		return -EBUSY;
	iso_guard_become(guard, ISO_GUARD_OPEN);
	return 0;
}

/* Operations of the agent's on the guard; 1: it is none. */
static __always_inline int iso_guard_operation(const struct iso_command *c,
					       struct iso_command *answer)
{
	struct iso_guard *guard = iso_guard_of();

	if (!guard)
		return -EFAULT;
	switch (c->op) {
	case ISO_OP_GUARD:
		return iso_do_guard(guard, c);
	case ISO_OP_CLOSE:
		return iso_do_close(guard);
	case ISO_OP_LOCK:
		return iso_do_lock(guard, c, answer);
	case ISO_OP_RELEASE:
		return iso_do_release(guard);
	default:
		return 1;
	}
}

static __always_inline int iso_answer_guard(__u32 figure, struct iso_inquiry *answer)
{
	struct iso_guard *guard = iso_guard_of();

	if (!guard)
		return -EFAULT;
	switch (figure) {
	case ISO_FIGURE_STATE:
		answer->value = guard->state;
		return 0;
	case ISO_FIGURE_SINCE:
		answer->value = guard->since;
		return 0;
	case ISO_FIGURE_REFUSED:
		answer->value = guard->refused;
		return 0;
	case ISO_FIGURE_FOREIGN:
		answer->value = guard->foreign;
		return 0;
	case ISO_FIGURE_INTRUDER:
		answer->value = guard->intruders;
		return 0;
	default:
		return -ENOENT;
	}
}

/*
 * Counts, and writes down, every program of others that decides or holds an object of ours. Only
 * while closing: what is loaded then was there before. A program that is shown twice counts once.
 */
SEC("iter/bpf_prog")
int iso_scan(struct bpf_iter__bpf_prog *context)
{
	struct iso_guard *guard = iso_guard_of();
	struct bpf_prog *prog = context->prog;
	struct iso_guarded entry = {};
	struct iso_found found = {};
	__u64 key;

	if (!guard || guard->state != ISO_GUARD_CLOSING)
		return 0;
	if (!prog) {
		guard->scanned = 1;
		return 0;
	}
	found.id = BPF_CORE_READ(prog, aux, id);
	if (iso_guards(ISO_OBJECT_PROGRAM, found.id))
		return 0;
	found.type = BPF_CORE_READ(prog, type);
	found.attach = BPF_CORE_READ(prog, expected_attach_type);
	found.intruder = iso_is_intruder(prog);
	if (!found.intruder && !iso_decides(found.type, found.attach))
		return 0;
	key = (__u64)ISO_OBJECT_FOREIGN << 32 | found.id;
	if (!bpf_map_update_elem(&iso_guarded, &key, &entry, BPF_NOEXIST)) {
		__sync_fetch_and_add(&guard->foreign, 1);
		if (found.intruder)
			__sync_fetch_and_add(&guard->intruders, 1);
	} else if (!iso_guards(ISO_OBJECT_FOREIGN, found.id)) {
		__sync_fetch_and_add(&guard->intruders, 1); /* no room: not to be locked */
	}
	found.uid = BPF_CORE_READ(prog, aux, user, uid.val);
	BPF_CORE_READ_INTO(&found.tag, prog, tag);
	BPF_CORE_READ_INTO(&found.name, prog, aux, name);
	bpf_seq_write(context->meta->seq, &found, sizeof found);
	return 0;
}

#endif
