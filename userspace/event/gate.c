/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/gate.h"

#include <string.h>

#define AWAITED 500000000ull /* ns */

bool iso_gate_must_pass(const struct iso_record *r)
{
	switch (r->kind) {
	case ISO_RECORD_TAMPER:
	case ISO_RECORD_LIMIT:
	case ISO_RECORD_STATE:
	case ISO_RECORD_GAP:
		return true;
	default:
		return false;
	}
}

bool iso_gate_collapses(const struct iso_record *r)
{
	return (iso_record_is_refusal(r) && r->kind != ISO_RECORD_TAMPER) ||
	       r->kind == ISO_RECORD_SURVIVOR;
}

static bool first_of_its_kind(struct iso_run *run, const struct iso_record *r)
{
	/* no rule decides about a system call: each call is a kind of its own */
	uint64_t kind = (uint64_t)r->kind << 56 | (uint64_t)r->hook << 44 |
			(uint64_t)r->reason << 32 | (r->call[0] ? r->number : r->rule);

	for (size_t i = 0; i < run->kind_count; i++)
		if (run->kinds[i] == kind)
			return false;
	if (run->kind_count == ISO_RUN_KINDS) {
		run->kinds_full = true;
		return false;
	}
	run->kinds[run->kind_count++] = kind;
	return true;
}

bool iso_gate_admit(struct iso_run *run, const struct iso_record *r, uint64_t t)
{
	bool first = first_of_its_kind(run, r);

	run->tokens += (double)(t - run->refilled) * run->rate / 1e9;
	run->refilled = t;
	if (run->tokens > run->rate)
		run->tokens = run->rate;
	if (first || iso_gate_must_pass(r))
		return true;
	if (run->tokens < 1)
		return false;
	run->tokens -= 1;
	return true;
}

static void remove_hole(struct iso_run *run, size_t i)
{
	run->hole_count--;
	memmove(&run->holes[i], &run->holes[i + 1], (run->hole_count - i) * sizeof *run->holes);
}

/* Holes are kept in the order of their numbers, so the first one is the oldest. */
static uint64_t insert_hole(struct iso_run *run, size_t at, struct iso_hole hole)
{
	uint64_t lost = 0;

	if (run->hole_count == ISO_RUN_HOLES) {
		if (at == 0)
			return hole.last - hole.first + 1;
		lost = run->holes[0].last - run->holes[0].first + 1;
		remove_hole(run, 0);
		at--;
	}
	memmove(&run->holes[at + 1], &run->holes[at], (run->hole_count - at) * sizeof *run->holes);
	run->holes[at] = hole;
	run->hole_count++;
	return lost;
}

/* A number that was jumped over comes late. */
static bool fill_hole(struct iso_run *run, uint64_t sequence, uint64_t *ret_lost)
{
	for (size_t i = 0; i < run->hole_count; i++) {
		struct iso_hole *hole = &run->holes[i], rest = *hole;

		if (sequence < hole->first || sequence > hole->last)
			continue;
		if (hole->first == hole->last) {
			remove_hole(run, i);
		} else if (sequence == hole->first) {
			hole->first++;
		} else {
			hole->last = sequence - 1;
			rest.first = sequence + 1;
			if (rest.first <= rest.last)
				*ret_lost += insert_hole(run, i + 1, rest);
		}
		return true;
	}
	return false;
}

bool iso_gate_arrive(struct iso_run *run, uint64_t sequence, uint64_t t, uint64_t *ret_lost)
{
	*ret_lost = 0;
	if (sequence <= run->kernel_seen)
		return fill_hole(run, sequence, ret_lost);
	if (sequence > run->kernel_seen + 1) {
		struct iso_hole hole = {run->kernel_seen + 1, sequence - 1, t + AWAITED};

		*ret_lost = insert_hole(run, run->hole_count, hole);
	}
	run->kernel_seen = sequence;
	return true;
}

uint64_t iso_gate_skip_to(struct iso_run *run, uint64_t sequence)
{
	uint64_t lost = 0;

	if (sequence > run->kernel_seen)
		iso_gate_arrive(run, sequence + 1, 0, &lost);
	return lost;
}

uint64_t iso_gate_expire(struct iso_run *run, uint64_t t, uint64_t *next)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < run->hole_count;) {
		if (run->holes[i].deadline <= t) {
			lost += run->holes[i].last - run->holes[i].first + 1;
			remove_hole(run, i);
			continue;
		}
		if (run->holes[i].deadline < *next)
			*next = run->holes[i].deadline;
		i++;
	}
	return lost;
}

static void attribute(struct iso_run *run, enum iso_gap_cause cause, uint64_t counted)
{
	uint64_t n = counted > run->told[cause] ? counted - run->told[cause] : 0;

	if (n > run->lost[ISO_GAP_KERNEL])
		n = run->lost[ISO_GAP_KERNEL];
	run->lost[ISO_GAP_KERNEL] -= n;
	run->lost[cause] += n;
	run->told[cause] += n;
}

void iso_gate_attribute(struct iso_run *run)
{
	attribute(run, ISO_GAP_RATE, run->kernel.lost_rate);
	attribute(run, ISO_GAP_RING, run->kernel.lost_full);
}
