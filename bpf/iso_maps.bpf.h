/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every map. All but the ring are frozen by userspace right after load, before they hold anything:
 * from then on bpf(2) writes none of them; the installer program does. There is no .bss or .data:
 * a mapping kept by the loader would stay writable.
 */
#ifndef ISO_MAPS_BPF_H
#define ISO_MAPS_BPF_H

#define ISO_MAX_SANDBOXES 4096
#define ISO_MAX_RULES	  (1 << 20) /* over all sandboxes; 10,000 each is the policy's own bound */
#define ISO_MAX_OBJECTS	  (1 << 19)
#define ISO_RING_BYTES	  (16 << 20)
#define ISO_MARK_BITS	  20 /* 4 MiB; 10,000 objects share a mark with 1 in 100 inodes */

struct iso_globals {
	__u64 agents; /* living tasks with the agent label */
	__u64 agent_tgid;
	__u64 next_object; /* last object number given out */
	__u64 bound;	   /* cgroups bound now: 0 lets fork and exec outside skip the search */
	__u32 levels;	   /* bit: a cgroup was bound that deep in the tree, ever */
	__u32 epoch;	   /* begins anew when a sandbox is torn: what labels remember is void */
	__u64 secret;	   /* key of what is hashed of a task's choosing (account.bpf.h) */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct iso_label);
} iso_labels SEC(".maps");

/* The label of whoever cannot be asked for one (identity.bpf.h): of a sandbox that never is. */
#define ISO_NOBODY (~0ull)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct iso_label);
} iso_nobody SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64); /* sandbox of the task that made the socket */
} iso_sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct iso_globals);
} iso_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ISO_COUNT_MAX);
	__type(key, __u32);
	__type(value, __u64);
} iso_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ISO_MAX_SANDBOXES);
	__type(key, __u64); /* cgroup id */
	__type(value, __u64);
} iso_cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ISO_MAX_SANDBOXES);
	__type(key, __u64);
	__type(value, struct iso_sandbox);
} iso_sandboxes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ISO_MAX_OBJECTS);
	__type(key, __u64); /* inode address */
	__type(value, struct iso_object);
} iso_objects SEC(".maps");

/*
 * How many objects have an inode address with this hash. Where it is 0 there is no object, so the
 * walk asks iso_objects only at inodes that probably carry a rule of some sandbox. Counted up
 * before an object is entered and down after it was taken out: never 0 while one is there.
 */
struct iso_marks {
	__u32 objects[1 << ISO_MARK_BITS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct iso_marks);
} iso_marks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ISO_MAX_RULES);
	__type(key, struct iso_rule_key);
	__type(value, struct iso_rule);
} iso_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ISO_MAX_RULES);
	__type(key, struct iso_name_key);
	__type(value, struct iso_name);
} iso_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, struct iso_absent_key);
	__type(value, __u32); /* rule */
} iso_absents SEC(".maps");

/* Where the refusals of a sandbox are accounted for (account.bpf.h). */
struct iso_ledger {
	struct iso_account account;
	__u64 seed;
	__u64 interval; /* ns a token */
	__u64 due;	/* ns: when the bucket is full again */
	__u32 kinds[ISO_KINDS];
	__u64 window[ISO_WINDOW];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ISO_MAX_SANDBOXES + 1);
	__type(key, __u64);
	__type(value, struct iso_ledger);
} iso_ledgers SEC(".maps");

/* What a ledger is when it is opened: too large for a program's stack. Never written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct iso_ledger);
} iso_blank SEC(".maps");

#define ISO_MAX_GUARDED 4096 /* some 200 of ours, and what is listed of others */

struct iso_guard {
	__u32 state;
	__u32 scanned;	 /* since it began to close */
	__u64 since;	 /* ns, boot time, of the last change */
	__u64 foreign;	 /* programs of others that decide, by the scan */
	__u64 intruders; /* programs of others that hold one of our objects, by the scan */
	__u64 fops[4];	 /* by ISO_OBJECT_*: the file operations of their descriptors */
	__u64 refused;	 /* last sequence number given out */
	__u64 bucket_time;
	__u64 bucket;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct iso_guard);
} iso_guard SEC(".maps");

struct iso_guarded {
	__u64 address;
	__u64 holders; /* how many may hold it, descriptors that stay included */
	__u64 kept;    /* of these, descriptors */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ISO_MAX_GUARDED);
	__type(key, __u64); /* ISO_OBJECT_* << 32 | id */
	__type(value, struct iso_guarded);
} iso_guarded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ISO_RING_BYTES);
} iso_ring SEC(".maps");

static __always_inline struct iso_globals *iso_globals(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&iso_state, &zero);
}

static __always_inline __u64 iso_secret(void)
{
	struct iso_globals *g = iso_globals();

	return g ? g->secret : 0;
}

static __always_inline struct iso_marks *iso_all_marks(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&iso_marks, &zero);
}

/* Fibonacci hashing: the upper bits of a product know of all bits of the address' lower half. */
static __always_inline __u32 *iso_mark_of(struct iso_marks *marks, __u64 inode)
{
	return &marks->objects[(iso_low_half(inode) * 0x9e3779b1u) >> (32 - ISO_MARK_BITS)];
}

static __always_inline void iso_count(__u32 place)
{
	__u64 *n = bpf_map_lookup_elem(&iso_counters, &place);

	if (n)
		__sync_fetch_and_add(n, 1);
}

#endif
