/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "event/gate.h"
#include "event/stream.h"
#include "event/window.h"
#include "iso_abi.h"

#define SECOND	    1000000000ull
#define MILLISECOND 1000000ull
#define RETRY	    (100 * MILLISECOND)
#define END_WAIT    100	 /* ms for other writers, at the end of a run */
#define FREE_WAIT   5000 /* ms: what is not written then never will be */

static uint64_t system_now(void *data, int clock)
{
	struct timespec t;

	(void)data;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

uint64_t iso_stream_now(const struct iso_stream *s, int clock)
{
	return s->now(s->now_data, clock);
}

int iso_stream_new(const struct iso_stream_options *o, struct iso_stream **ret, struct iso_error *e)
{
	struct iso_stream *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return iso_error_set(e, -ENOMEM, "events", NULL, "no memory");
	s->now = o->now ? o->now : system_now;
	s->now_data = o->now_data;
	s->file.rotate_bytes = o->rotate_bytes ? o->rotate_bytes : 64u << 20;
	s->file.rotate_keep = o->rotate_keep ? o->rotate_keep : 8;
	if (s->file.rotate_keep > ISO_EVENTS_ROTATED_MAX)
		s->file.rotate_keep = ISO_EVENTS_ROTATED_MAX;
	s->file.limit = o->queue_bytes ? o->queue_bytes : 1u << 20;
	r = iso_file_open(&s->file, o->directory ? o->directory : ISO_EVENTS_DIRECTORY, e);
	if (r < 0) {
		free(s);
		return r;
	}
	s->synced = iso_stream_now(s, CLOCK_MONOTONIC);
	*ret = s;
	return 0;
}

void iso_stream_free(struct iso_stream *s)
{
	if (!s)
		return;
	iso_file_flush(&s->file, FREE_WAIT);
	iso_file_sync(&s->file);
	while (s->runs) {
		struct iso_run *next = s->runs->next;

		iso_run_free(s->runs);
		s->runs = next;
	}
	iso_file_close(&s->file);
	free(s);
}

struct iso_run *iso_stream_find(const struct iso_stream *s, uint64_t sandbox)
{
	for (struct iso_run *run = s->runs; run; run = run->next)
		if (run->sandbox == sandbox)
			return run;
	return NULL;
}

int iso_stream_add_run(struct iso_stream *s, const struct iso_run_context *ctx)
{
	struct iso_run *run = NULL;
	int r;

	for (run = s->runs; run; run = run->next)
		if (run->sandbox == ctx->sandbox ||
		    (ctx->run_id && !strcmp(run->run_id, ctx->run_id)))
			return -EEXIST;
	r = iso_run_new(ctx, &run);
	if (r < 0)
		return r;
	run->refilled = iso_stream_now(s, CLOCK_MONOTONIC);
	run->next = s->runs;
	s->runs = run;
	return 0;
}

int iso_stream_add_program(struct iso_stream *s, uint64_t sandbox, const struct iso_program *p)
{
	struct iso_run *run = iso_stream_find(s, sandbox);

	return run ? iso_run_add_program(run, p) : -ENOENT;
}

bool iso_stream_expects(const struct iso_stream *s, const struct iso_record *record)
{
	const struct iso_run *run = iso_stream_find(s, record->sandbox);

	return record->expected || (run && iso_run_expects(run, record));
}

bool iso_stream_has_program(const struct iso_stream *s, uint64_t sandbox, uint64_t exec)
{
	const struct iso_run *run = iso_stream_find(s, sandbox);

	return run && iso_run_program(run, exec);
}

/* Repeats that the kernel has counted. */
static void take_owed(struct iso_stream *s, struct iso_run *run, struct iso_record *r)
{
	r->time = iso_stream_now(s, CLOCK_REALTIME);
	iso_stream_take(s, run, r);
}

static void settle(struct iso_stream *s, struct iso_run *run, const struct iso_tally *kernel)
{
	struct iso_record owed;

	for (unsigned i = 0; i < ISO_WINDOW; i++)
		if (iso_window_settle(run, i, kernel->window[i], &owed))
			take_owed(s, run, &owed);
	run->kernel = kernel->account;
	run->kinds_full = run->kinds_full || run->kernel.kinds_full;
	iso_gate_attribute(run);
}

int iso_stream_emit(struct iso_stream *s, const struct iso_record *record)
{
	struct iso_record r = *record;
	struct iso_run *run = iso_stream_find(s, r.sandbox);

	if ((unsigned)r.kind >= ISO_RECORD_GAP)
		return -EINVAL;
	if (!run) {
		s->counters.unknown_run++;
		return -ENOENT;
	}
	if (!r.time)
		r.time = iso_stream_now(s, CLOCK_REALTIME);
	iso_stream_take(s, run, &r);
	return 0;
}

static int64_t boot_offset(const struct iso_stream *s)
{
	return (int64_t)(iso_stream_now(s, CLOCK_REALTIME) - iso_stream_now(s, CLOCK_BOOTTIME));
}

/* The run of a record that the kernel side numbered; 0: it has no number, and none is awaited. */
static int arrive(struct iso_stream *s, uint64_t sandbox, uint64_t sequence, struct iso_run **ret)
{
	uint64_t expired = 0;

	*ret = iso_stream_find(s, sandbox);
	if (!*ret) {
		s->counters.unknown_run++;
		return -ENOENT;
	}
	if (sequence &&
	    !iso_gate_arrive(*ret, sequence, iso_stream_now(s, CLOCK_MONOTONIC), &expired)) {
		s->counters.malformed++;
		return -EALREADY;
	}
	if (expired)
		iso_stream_lose(s, *ret, expired, ISO_GAP_KERNEL);
	return 0;
}

int iso_stream_kernel_event(struct iso_stream *s, const struct iso_event *event)
{
	struct iso_record r, owed;
	struct iso_run *run;
	int error = arrive(s, event->sandbox, event->sequence, &run);

	if (error < 0)
		return error;
	iso_record_from_event(event, boot_offset(s), &r);
	if (r.kind == ISO_RECORD_STARTED && !iso_run_program(run, r.exec)) {
		struct iso_program p = {
			.exec = r.exec, .start_time = r.time, .path = r.path, .pid = r.pid};

		iso_run_add_program(run, &p);
	}
	if (iso_window_take(run, event, &r, &owed))
		take_owed(s, run, &owed);
	iso_stream_take(s, run, &r);
	return 0;
}

int iso_stream_tally(struct iso_stream *s, uint64_t sandbox, const struct iso_tally *kernel)
{
	struct iso_run *run = iso_stream_find(s, sandbox);

	if (!run)
		return -ENOENT;
	settle(s, run, kernel);
	return run->settled < kernel->account.collapsed;
}

int iso_stream_tamper(struct iso_stream *s, const struct iso_tamper *tamper)
{
	struct iso_record r;
	struct iso_run *run;
	int error = arrive(s, ISO_RUN_HOST, tamper->sequence, &run);

	if (error < 0)
		return error;
	iso_record_from_tamper(tamper, boot_offset(s), &r);
	iso_stream_take(s, run, &r);
	return 0;
}

int iso_stream_ring(struct iso_stream *s, const void *data, size_t size)
{
	struct iso_event event;
	int r = iso_event_decode(data, size, &event);

	if (r < 0) {
		s->counters.malformed++;
		return r;
	}
	return iso_stream_kernel_event(s, &event);
}

void iso_stream_flush(struct iso_stream *s)
{
	iso_file_flush(&s->file, 0);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Does what is due in a run; returns when something is due next. */
static uint64_t tick_run(struct iso_stream *s, struct iso_run *run, uint64_t t)
{
	uint64_t next = UINT64_MAX, lost = iso_gate_expire(run, t, &next);

	if (lost)
		iso_stream_lose(s, run, lost, ISO_GAP_KERNEL);
	for (size_t i = 0; i < run->repeat_count; i++) {
		if (run->repeats[i].due <= t)
			iso_stream_report_repeat(s, run, &run->repeats[i]);
		next = earlier(next, run->repeats[i].due);
	}
	iso_stream_report_gaps(s, run, false);
	for (unsigned cause = 1; cause < ISO_GAP_CAUSES; cause++)
		if (run->lost[cause])
			next = earlier(next, run->gap_due > t ? run->gap_due : t + RETRY);
	return next;
}

int iso_stream_tick(struct iso_stream *s)
{
	uint64_t t = iso_stream_now(s, CLOCK_MONOTONIC), next = UINT64_MAX;

	for (struct iso_run *run = s->runs; run; run = run->next)
		next = earlier(next, tick_run(s, run, t));
	if (iso_file_flush(&s->file, 0) < 0)
		next = earlier(next, t + RETRY);
	if (s->file.dirty && t >= s->synced + SECOND) {
		iso_file_sync(&s->file);
		s->synced = t;
	}
	if (s->file.dirty)
		next = earlier(next, s->synced + SECOND);
	if (next == UINT64_MAX)
		return -1;
	return next > t ? (int)((next - t + MILLISECOND - 1) / MILLISECOND) : 0;
}

static void end_kernel(struct iso_stream *s, struct iso_run *run, const struct iso_tally *kernel)
{
	uint64_t next = UINT64_MAX, lost = 0;

	if (kernel) {
		settle(s, run, kernel);
		lost = iso_gate_skip_to(run, kernel->account.sequence);
		/* counted, and nobody can say any more of what */
		if (kernel->account.collapsed > run->settled)
			lost += kernel->account.collapsed - run->settled;
	}
	lost += iso_gate_expire(run, UINT64_MAX, &next);
	if (lost)
		iso_stream_lose(s, run, lost, ISO_GAP_KERNEL);
}

int iso_stream_end_run(struct iso_stream *s, uint64_t sandbox, const struct iso_tally *kernel,
		       struct iso_run_summary *ret)
{
	struct iso_run *run = iso_stream_find(s, sandbox), **at = &s->runs;
	struct iso_record over = {.kind = ISO_RECORD_STATE, .state = ISO_RUN_UNSEALED};

	if (!run)
		return -ENOENT;
	end_kernel(s, run, kernel);
	for (size_t i = 0; i < run->repeat_count; i++)
		iso_stream_report_repeat(s, run, &run->repeats[i]);
	over.sandbox = sandbox;
	over.time = iso_stream_now(s, CLOCK_REALTIME);
	iso_run_account(run, &over, 0);
	iso_stream_report_gaps(s, run, true);
	if (!iso_stream_append(s, run, &over, true))
		iso_stream_lose(s, run, 1, ISO_GAP_SINK);
	iso_file_flush(&s->file, END_WAIT);
	iso_file_sync(&s->file);
	s->synced = iso_stream_now(s, CLOCK_MONOTONIC);
	run->summary.last_sequence = run->sequence;
	memcpy(run->summary.chain_head, run->head, sizeof run->summary.chain_head);
	for (size_t i = 0; i < s->file.used; i++)
		run->summary.unwritten += s->file.queue[i] == '\n';
	*ret = run->summary;
	/* The texts of the refusals are the caller's now. */
	run->summary.refusal_count = 0;
	while (*at != run)
		at = &(*at)->next;
	*at = run->next;
	iso_run_free(run);
	return 0;
}

void iso_stream_counters(const struct iso_stream *s, struct iso_stream_counters *ret)
{
	*ret = s->counters;
	ret->written = s->file.written;
	ret->write_failures = s->file.write_failures;
	ret->fsync_failures = s->file.fsync_failures;
	ret->rotations = s->file.rotations;
	ret->last_error = s->file.error;
}
