/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of a refusal: each is exactly one of
 *
 * collapsed   a repeat of one that was said and still has its place in the window: counted there
 * lost_rate   the bucket is empty, and it is not the first of its kind (hook, reason, rule)
 * lost_full   the ring was full
 * emitted     it became a record
 *
 * A repeat is known by a hash over all that a record would say of it but who acted and when, and
 * over the program. The hash is keyed: a task that could make two refusals collide would hide one
 * behind the other. A program that was interrupted here, or runs on two processors at once, may
 * give one repeat to the refusal that took over its place; the sums stay exact.
 *
 * One ledger for each sandbox, so that none spends another's tokens or window; that of sandbox 0 is
 * for what happens outside of all. No loop here waits for another processor.
 */
#ifndef ISO_ACCOUNT_BPF_H
#define ISO_ACCOUNT_BPF_H

#define ISO_NSEC_PER_SEC 1000000000ull
#define ISO_PROBES	 8	    /* places in the window that one refusal may have */
#define ISO_KIND_PROBES	 4	    /* the same among the kinds */
#define ISO_REPEATS_MAX	 (1u << 31) /* then it is said anew: the count must not reach the tag */
#define ISO_KIND_NONE	 ISO_KINDS

/* A refusal before it becomes a record. */
struct iso_refusal {
	__u32 kind;
	__u32 hook;
	__u32 reason;
	__u32 rule;
	__u32 wanted;
	__u32 mode; /* of an object that is still to be made; else 0 */
	__s32 error;
	__u32 pad;
	__u64 object; /* hash of what it is about, apart from the places */
};

/* A refusal on its way into the ring. */
struct iso_entry {
	__u64 time;
	__u64 before; /* what its place in the window held */
	__u32 index;  /* of that place */
	__u32 tag;
	__u32 kind; /* index of a kind that was entered with it, or ISO_KIND_NONE */
	__u32 pad;
};

static __always_inline struct iso_ledger *iso_ledger_of(__u64 sandbox)
{
	return bpf_map_lookup_elem(&iso_ledgers, &sandbox);
}

/* A ledger of a new sandbox, or -errno. rate: events a second; 0 for no bound. */
static __always_inline int iso_ledger_open(__u64 sandbox, __u32 rate)
{
	struct iso_ledger *blank, *ledger;
	__u32 zero = 0;
	int r;

	blank = bpf_map_lookup_elem(&iso_blank, &zero);
	if (!blank)
		return -EFAULT;
	r = bpf_map_update_elem(&iso_ledgers, &sandbox, blank, BPF_NOEXIST);
	if (r)
		return r;
	ledger = iso_ledger_of(sandbox);
	if (!ledger)
		return -EFAULT;
	ledger->account.rate = rate;
	ledger->interval = rate ? ISO_NSEC_PER_SEC / rate : 0;
	ledger->seed = iso_secret();
	return 0;
}

static __always_inline void iso_ledger_close(__u64 sandbox)
{
	bpf_map_delete_elem(&iso_ledgers, &sandbox);
}

static __always_inline __u64 iso_refusal_hash(const struct iso_ledger *ledger, __u64 exec,
					      const struct iso_refusal *why)
{
	__u64 h = ledger->seed;

	h = iso_mix(h, (__u64)why->hook << 48 | (__u64)why->reason << 32 | why->rule);
	h = iso_mix(h, exec << 24 | (__u64)(__u16)why->mode << 8 | why->wanted);
	return iso_mix(h, why->object);
}

/* Its own place, else an empty one, else somebody's. A place that was taken is never empty again.
 */
static __always_inline __u32 iso_window_find(const struct iso_ledger *ledger, __u64 hash)
{
	__u32 index = hash & (ISO_WINDOW - 1), tag = hash >> 32;

	for (int i = 0; i < ISO_PROBES; i++) {
		__u64 word = ledger->window[index];

		if (!word || word >> 32 == tag)
			return index;
		index = (index + 1) & (ISO_WINDOW - 1);
	}
	return (index - 1 - (ledger->account.emitted & (ISO_PROBES - 1))) & (ISO_WINDOW - 1);
}

/* Counts a repeat at its place; false: the place is not, or no longer, that of this refusal. */
static __always_inline bool iso_window_repeat(__u64 *place, __u32 tag)
{
	__u64 word = __sync_fetch_and_add(place, 1);

	if (word >> 32 == tag && (__u32)word < ISO_REPEATS_MAX)
		return true;
	__sync_fetch_and_add(place, -1);
	return false;
}

/*
 * A token of the bucket, which holds those of a second and starts full. `due` is when it will be
 * full again.
 */
static __always_inline bool iso_ledger_token(struct iso_ledger *ledger, __u64 now)
{
	__u64 due = ledger->due, step = ledger->interval;

	if (due < now)
		__sync_val_compare_and_swap(&ledger->due, due, now); /* or somebody else did */
	due = __sync_fetch_and_add(&ledger->due, step);
	if (due + step <= now + ISO_NSEC_PER_SEC)
		return true;
	__sync_fetch_and_add(&ledger->due, -step);
	return false;
}

/* Enters the kind. Its index when it is the first of it, else ISO_KIND_NONE. */
static __always_inline __u32 iso_ledger_kind(struct iso_ledger *ledger,
					     const struct iso_refusal *why)
{
	__u32 kind = why->hook << 22 | (why->reason & 0xff) << 14 | (why->rule & 0x3fff);
	__u32 index = kind * 0x9e3779b1u >> 24;

	for (int i = 0; i < ISO_KIND_PROBES; i++) {
		__u32 have = ledger->kinds[index & (ISO_KINDS - 1)];

		if (!have)
			have = __sync_val_compare_and_swap(&ledger->kinds[index & (ISO_KINDS - 1)],
							   0, kind);
		if (!have)
			return index & (ISO_KINDS - 1);
		if (have == kind)
			return ISO_KIND_NONE;
		index++;
	}
	__sync_fetch_and_add(&ledger->account.kinds_full, 1);
	return ISO_KIND_NONE;
}

/*
 * Does it want a record? Else it has been counted. Global for the verifier's sake (event.bpf.h): of
 * all the ways through it one comes back.
 */
__noinline int iso_account_open(struct iso_label *label, struct iso_refusal *why,
				struct iso_entry *entry)
{
	struct iso_ledger *ledger;
	__u64 hash, *place;
	__u32 tag;

	if (!label || !why || !entry)
		return 0;
	ledger = iso_ledger_of(label->sandbox);
	if (!ledger) {
		iso_count(ISO_COUNT_NO_SANDBOX);
		return 0;
	}
	hash = iso_refusal_hash(ledger, label->exec, why) | 1ull << 32; /* taken is not 0 */
	tag = hash >> 32;
	entry->index = iso_window_find(ledger, hash);
	place = &ledger->window[entry->index & (ISO_WINDOW - 1)];
	entry->tag = tag;
	entry->before = *(volatile __u64 *)place;
	if (entry->before >> 32 == tag && iso_window_repeat(place, tag)) {
		__sync_fetch_and_add(&ledger->account.collapsed, 1);
		return 0;
	}
	entry->time = bpf_ktime_get_boot_ns();
	entry->kind = iso_ledger_kind(ledger, why);
	if (iso_ledger_token(ledger, entry->time) || entry->kind != ISO_KIND_NONE)
		return 1;
	__sync_fetch_and_add(&ledger->account.sequence, 1);
	__sync_fetch_and_add(&ledger->account.lost_rate, 1);
	return 0;
}

/* There is no room for it; the next one of its kind may be the first that is said. */
static __always_inline void iso_account_lose(struct iso_ledger *ledger,
					     const struct iso_entry *entry)
{
	__sync_fetch_and_add(&ledger->account.sequence, 1);
	__sync_fetch_and_add(&ledger->account.lost_full, 1);
	iso_count(ISO_COUNT_RING_FULL);
	if (entry->kind != ISO_KIND_NONE)
		ledger->kinds[entry->kind & (ISO_KINDS - 1)] = 0;
}

/* It has a record: takes its place, unless somebody else has meanwhile, and its number. */
static __always_inline void iso_account_emit(struct iso_ledger *ledger,
					     const struct iso_entry *entry, struct iso_event *e)
{
	__u64 *place = &ledger->window[entry->index & (ISO_WINDOW - 1)];

	e->time = entry->time;
	e->sequence = __sync_fetch_and_add(&ledger->account.sequence, 1) + 1;
	e->slot = 0;
	e->tag = entry->tag;
	e->before = entry->before;
	if (__sync_val_compare_and_swap(place, entry->before, (__u64)entry->tag << 32 | 1) ==
	    entry->before)
		e->slot = entry->index + 1;
	__sync_fetch_and_add(&ledger->account.emitted, 1);
}

/* What iso_query answers (installer.bpf.h). */
static __always_inline int iso_answer_account(struct iso_inquiry *context, __u64 sandbox)
{
	struct iso_ledger *ledger = iso_ledger_of(sandbox);

	if (!ledger)
		return -ENOENT;
	context->account = ledger->account;
	return 0;
}

static __always_inline int iso_answer_window(struct iso_inquiry *context, __u64 sandbox, __u32 part)
{
	struct iso_ledger *ledger = iso_ledger_of(sandbox);

	if (!ledger)
		return -ENOENT;
	part &= ISO_WINDOW / ISO_WINDOW_PART - 1;
	for (__u32 i = 0; i < ISO_WINDOW_PART; i++)
		context->window[i] = ledger->window[part * ISO_WINDOW_PART + i];
	return 0;
}

#endif
