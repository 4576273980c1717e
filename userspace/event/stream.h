/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream as the files of event/ that write to it share it. */
#ifndef ISO_EVENT_STREAM_H
#define ISO_EVENT_STREAM_H

#include "event/event.h"
#include "event/file.h"
#include "event/run.h"

struct iso_stream {
	struct iso_file file;
	struct iso_run *runs;
	uint64_t (*now)(void *, int);
	void *now_data;
	uint64_t synced; /* CLOCK_MONOTONIC ns */
	struct iso_stream_counters counters;
};

/* stream.c. clock: CLOCK_* */
uint64_t iso_stream_now(const struct iso_stream *s, int clock);
struct iso_run *iso_stream_find(const struct iso_stream *s, uint64_t sandbox);

/* write.c */
/* Counts n as lost; a gap will say so. */
void iso_stream_lose(struct iso_stream *s, struct iso_run *run, uint64_t n,
		     enum iso_gap_cause cause);
/* Appends a record to the chain and the queue. False: there was no room or no memory. */
bool iso_stream_append(struct iso_stream *s, struct iso_run *run, const struct iso_record *r,
		       bool must);
/* At most once a second, unless it is the end. */
void iso_stream_report_gaps(struct iso_stream *s, struct iso_run *run, bool at_end);
void iso_stream_write(struct iso_stream *s, struct iso_run *run, const struct iso_record *r);

/* repeat.c */
/* Accounts for a record, and writes it, holds it back as a repeat, or counts it as lost. */
void iso_stream_take(struct iso_stream *s, struct iso_run *run, struct iso_record *r);
/* Writes what a refusal holds back, if anything. */
void iso_stream_report_repeat(struct iso_stream *s, struct iso_run *run, struct iso_repeat *repeat);

#endif
