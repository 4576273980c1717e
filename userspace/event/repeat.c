/* SPDX-License-Identifier: BSD-2-Clause */
/* A refusal that was reported holds back its repeats: they are counted, and told in one. */
#include <stdlib.h>
#include <time.h>

#include "event/gate.h"
#include "event/stream.h"

#define SECOND	     1000000000ull
#define REPEAT_FIRST SECOND
#define REPEAT_LAST  (64 * SECOND)

void iso_stream_report_repeat(struct iso_stream *s, struct iso_run *run, struct iso_repeat *repeat)
{
	struct iso_record r = *repeat->record;

	if (!repeat->pending)
		return;
	r.count = repeat->pending;
	r.first_time = repeat->first_time;
	r.time = repeat->last_time;
	repeat->pending = 0;
	repeat->interval = repeat->interval < REPEAT_LAST ? repeat->interval * 2 : REPEAT_LAST;
	repeat->due = UINT64_MAX;
	iso_stream_write(s, run, &r);
}

static void absorb(const struct iso_stream *s, struct iso_repeat *repeat,
		   const struct iso_record *r)
{
	if (!repeat->pending) {
		repeat->first_time = r->time;
		/* An expected refusal waits for the end of the run. */
		repeat->due = r->expected ? UINT64_MAX
					  : iso_stream_now(s, CLOCK_MONOTONIC) + repeat->interval;
	}
	repeat->pending += r->count ? r->count : 1;
	repeat->last_time = r->time;
}

static struct iso_repeat *find_repeat(struct iso_run *run, uint64_t key)
{
	for (size_t i = 0; i < run->repeat_count; i++)
		if (run->repeats[i].key == key)
			return &run->repeats[i];
	return NULL;
}

/* A slot for a new refusal; the one that was quiet for longest makes room, and is reported. */
static struct iso_repeat *add_repeat(struct iso_stream *s, struct iso_run *run,
				     const struct iso_record *r, uint64_t key)
{
	struct iso_repeat *slot = &run->repeats[0];
	struct iso_record *copy;

	if (run->repeat_count < ISO_RUN_REPEATS) {
		copy = malloc(sizeof *copy);
		if (!copy)
			return NULL;
		slot = &run->repeats[run->repeat_count++];
	} else {
		for (size_t i = 1; i < run->repeat_count; i++)
			if (run->repeats[i].last_time < slot->last_time)
				slot = &run->repeats[i];
		iso_stream_report_repeat(s, run, slot);
		copy = slot->record;
	}
	*copy = *r;
	*slot = (struct iso_repeat){
		.key = key,
		.last_time = r->time,
		.due = UINT64_MAX,
		.interval = REPEAT_FIRST,
		.record = copy,
	};
	return slot;
}

void iso_stream_take(struct iso_stream *s, struct iso_run *run, struct iso_record *r)
{
	uint64_t key = iso_record_key(r);
	struct iso_repeat *repeat = NULL;

	r->expected = r->expected || iso_run_expects(run, r);
	iso_run_account(run, r, key);
	if (iso_gate_collapses(r))
		repeat = find_repeat(run, key);
	if (repeat) {
		absorb(s, repeat, r);
		s->counters.collapsed += r->count ? r->count : 1;
		return;
	}
	if (!r->expected && !iso_gate_admit(run, r, iso_stream_now(s, CLOCK_MONOTONIC))) {
		iso_stream_lose(s, run, r->count ? r->count : 1, ISO_GAP_RATE);
		return;
	}
	if (iso_gate_collapses(r))
		repeat = add_repeat(s, run, r, key);
	if (repeat && r->expected)
		absorb(s, repeat, r);
	else
		iso_stream_write(s, run, r);
}
