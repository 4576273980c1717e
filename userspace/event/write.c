/* SPDX-License-Identifier: BSD-2-Clause */
/* A record's way into the chain and the file, and what is said of those that did not get there. */
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "event/gate.h"
#include "event/stream.h"

#define SECOND	 1000000000ull
#define FLUSH_AT (64u * 1024) /* of the queue, when the caller does not flush */

void iso_stream_lose(struct iso_stream *s, struct iso_run *run, uint64_t n,
		     enum iso_gap_cause cause)
{
	run->lost[cause] += n;
	run->summary.lost += n;
	s->counters.lost += n;
	iso_gate_attribute(run);
}

bool iso_stream_append(struct iso_stream *s, struct iso_run *run, const struct iso_record *r,
		       bool must)
{
	ISO_AUTO_FREE char *line = NULL;
	size_t n;

	if (!iso_file_has_room(&s->file, must))
		return false;
	line = iso_ocsf_encode(run, r, run->sequence + 1);
	if (!line)
		return false;
	n = strlen(line);
	if (iso_file_put(&s->file, line, n) < 0)
		return false;
	iso_chain_hash(line, n, run->head);
	run->sequence++;
	run->summary.records++;
	s->counters.records++;
	if (s->file.used >= FLUSH_AT)
		iso_file_flush(&s->file, 0);
	return true;
}

/* Gaps stay pending until there is room for them: a loss is never lost. */
void iso_stream_report_gaps(struct iso_stream *s, struct iso_run *run, bool at_end)
{
	uint64_t t = iso_stream_now(s, CLOCK_MONOTONIC);

	if (!at_end && t < run->gap_due)
		return;
	for (unsigned cause = 1; cause < ISO_GAP_CAUSES; cause++) {
		uint64_t lost = run->lost[cause], before = run->sequence;
		struct iso_record gap = {
			.kind = ISO_RECORD_GAP,
			.sandbox = run->sandbox,
			.time = iso_stream_now(s, CLOCK_REALTIME),
			.cause = cause,
			.lost = lost,
			.first_seq = lost ? before + 1 : 0,
			.last_seq = lost ? before + lost : 0,
		};
		bool full = cause == ISO_GAP_KINDS && run->kinds_full && !run->kinds_reported;

		if (!lost && !full)
			continue;
		run->sequence += lost;
		if (!iso_stream_append(s, run, &gap, true)) {
			run->sequence = before;
			return;
		}
		run->lost[cause] = 0;
		run->kinds_reported = run->kinds_reported || full;
		run->summary.gaps++;
		run->summary.happened[ISO_RECORD_GAP]++;
		run->gap_due = t + SECOND;
	}
}

void iso_stream_write(struct iso_stream *s, struct iso_run *run, const struct iso_record *r)
{
	iso_stream_report_gaps(s, run, false);
	if (!iso_stream_append(s, run, r, iso_gate_must_pass(r)))
		iso_stream_lose(s, run, r->count ? r->count : 1, ISO_GAP_SINK);
}
