/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run leaves on record: events of isod's own making, and its result document. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/log.h"
#include "common/text.h"
#include "run/result.h"
#include "run/supervise.h"

#define ENTRY_EXEC 2 /* exec ids of a sandbox: 1 is isoinit, 2 the entry command (iso_abi.h) */

/* The words of a command with spaces between, for people; the stream masks credentials. */
static char *join(char *const *argv)
{
	size_t bytes = 1;
	char *text, *end;

	for (char *const *a = argv; *a; a++)
		bytes += strlen(*a) + 1;
	text = end = malloc(bytes);
	if (!text)
		return NULL;
	*end = '\0';
	for (char *const *a = argv; *a; a++) {
		if (a != argv)
			*end++ = ' ';
		end = stpcpy(end, *a);
	}
	return text;
}

static void emit(struct iso_supervised *run, struct iso_record *record)
{
	record->sandbox = run->capture->sandbox;
	if (run->streamed)
		iso_stream_emit(run->host->events, record);
}

void iso_account_begin(struct iso_supervised *run)
{
	const struct iso_capture *c = run->capture;
	const struct iso_manifest *m = c->manifest;
	struct iso_run_context context = {
		.sandbox = c->sandbox,
		.run_id = c->run,
		.task_id = m->task.id,
		.attempt = c->attempt,
		.manifest_sha256 = c->manifest_sha256,
		.policy = c->policy,
		.labels = &m->task.labels,
		.expected = &m->response_expected,
		.cgroup_id = iso_sandbox_cgroup_id(run->sandbox),
		.hostname = run->host->hostname,
		.machine_id = run->host->machine_id,
		.kernel_release = run->host->kernel_release,
		.events_per_second = m->limits.events_per_second,
	};
	char *command = join(c->argv);
	struct iso_program entry = {
		.exec = ENTRY_EXEC, .path = c->argv[0], .command_line = command};
	struct iso_record sealed = {.kind = ISO_RECORD_STATE, .state = ISO_RUN_SEALED};
	int r = iso_stream_add_run(run->host->events, &context);

	run->streamed = r == 0;
	if (r == 0) {
		iso_stream_add_program(run->host->events, c->sandbox, &entry);
		emit(run, &sealed);
	} else {
		iso_log_error("run %s: its events are not recorded: %s", c->run, strerror(-r));
	}
	free(command);
}

void iso_account_started(struct iso_supervised *run)
{
	const char *path = run->capture->argv[0];
	struct iso_record record = {.kind = ISO_RECORD_STARTED, .exec = ENTRY_EXEC};

	iso_record_set_text(record.path, &record.path_truncated, path, strlen(path));
	emit(run, &record);
}

void iso_account_limit(struct iso_supervised *run, const char *limit, uint64_t max,
		       uint64_t observed)
{
	struct iso_record record = {.kind = ISO_RECORD_LIMIT, .max = max, .observed = observed};

	snprintf(record.limit, sizeof record.limit, "%s", limit);
	emit(run, &record);
}

void iso_account_survivor(struct iso_supervised *run, int pid, const char *comm)
{
	struct iso_record record = {.kind = ISO_RECORD_SURVIVOR, .ns_pid = (uint32_t)pid};

	snprintf(record.comm, sizeof record.comm, "%.*s", (int)sizeof record.comm - 1, comm);
	iso_record_set_text(record.path, &record.path_truncated, comm, strlen(comm));
	emit(run, &record);
}

void iso_account_tally(struct iso_supervised *run)
{
	struct iso_kernel *kernel = run->host->kernel;
	struct iso_account account;

	if (!run->streamed || iso_kernel_ask_account(kernel, run->capture->sandbox, &account) < 0 ||
	    (!run->owed && !memcmp(&account, &run->tally.account, sizeof account)))
		return;
	if (iso_kernel_ask_tally(kernel, run->capture->sandbox, &run->tally) == 0)
		run->owed =
			iso_stream_tally(run->host->events, run->capture->sandbox, &run->tally) > 0;
}

void iso_account_end(struct iso_supervised *run)
{
	const struct iso_outcome *o = &run->life.outcome;
	struct iso_record record = {.kind = ISO_RECORD_ENDED, .exec = ENTRY_EXEC};

	if (!o->started || !o->ended)
		return;
	if (WIFSIGNALED(o->wait_status))
		record.signal = WTERMSIG(o->wait_status);
	else
		record.exit_code = WEXITSTATUS(o->wait_status);
	emit(run, &record);
}

static json_t *refusals_json(const struct iso_run_summary *summary)
{
	json_t *list = json_array();

	for (size_t i = 0; i < summary->refusal_count; i++) {
		const struct iso_refusal *r = &summary->refusals[i];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:b}", "kind",
					iso_record_kind_word(r->kind), "hook", r->hook, "reason",
					r->reason, "why", r->why, "errno", r->errno_name, "object",
					r->object, "rule", r->rule, "count", (json_int_t)r->count,
					"expected", r->expected));
	}
	return list;
}

static json_t *events_json(const struct iso_supervised *run, const struct iso_run_summary *summary)
{
	json_t *counts = json_object();
	const struct iso_account *a = &run->tally.account;
	uint64_t denials = a->emitted + a->collapsed + a->lost_rate + a->lost_full;

	for (int i = 0; i < ISO_RECORD_KINDS; i++)
		if (summary->happened[i])
			json_object_set_new(counts, iso_record_kind_word((enum iso_record_kind)i),
					    json_integer((json_int_t)summary->happened[i]));
	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:s}", "counts", counts, "denials",
			 run->tally_known ? json_integer((json_int_t)denials) : json_null(),
			 "expected", (json_int_t)summary->expected, "records",
			 (json_int_t)summary->records, "gaps", (json_int_t)summary->gaps, "lost",
			 (json_int_t)summary->lost, "more", (json_int_t)summary->refusals_more,
			 "chain_head", summary->chain_head);
}

static json_t *usage_json(const struct iso_supervised *run)
{
	const struct iso_sandbox_usage *u = &run->usage;

	if (!run->usage_known)
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "memory_peak_bytes",
			 (json_int_t)u->memory_peak, "cpu_usec", (json_int_t)u->cpu_usec,
			 "throttled_usec", (json_int_t)u->throttled_usec, "pids_peak",
			 (json_int_t)u->pids_peak, "pids_max_hits", (json_int_t)u->pids_max_hits,
			 "oom_kills", (json_int_t)u->oom_kills, "memory_max_hits",
			 (json_int_t)u->memory_max_hits);
}

/* What is only known at the end is on record too, before the stream closes the run. */
static void last_records(struct iso_supervised *run)
{
	const struct iso_manifest *m = run->capture->manifest;

	if (run->life.outcome.stop == ISO_STOP_LIMIT_MEMORY)
		iso_account_limit(run, "memory", m->process.limits.memory, run->usage.memory_peak);
	if (run->usage_known && run->usage.pids_max_hits && !run->pids_told)
		iso_account_limit(run, "pids", m->process.limits.pids, run->usage.pids_peak);
	iso_account_end(run);
}

json_t *iso_account_close(struct iso_supervised *run)
{
	const struct iso_capture *c = run->capture;
	struct iso_result result = {
		.run = c->run,
		.task = c->manifest->task.id,
		.attempt = c->attempt,
		.manifest_sha256 = c->manifest_sha256,
		.policy_digest = run->digest_known ? run->digest : NULL,
		.captured_ms = c->time_ms,
		.started_ms = run->started_ms,
		.ended_ms = run->ended_ms,
		.outcome = &run->life.outcome,
		.failure = &run->failure,
		.uid = (long)c->caller.uid,
		.usage = usage_json(run),
		.settled = run->destroy_result == 0,
	};
	struct iso_run_summary *summary = calloc(1, sizeof *summary);
	json_t *document;

	last_records(run);
	if (summary && run->streamed &&
	    iso_stream_end_run(run->host->events, c->sandbox, run->tally_known ? &run->tally : NULL,
			       summary) == 0) {
		result.events = events_json(run, summary);
		result.refusals = refusals_json(summary);
		iso_run_summary_free(summary);
	}
	run->streamed = false;
	free(summary);
	document = iso_result_make(&result);
	json_decref(result.events);
	json_decref(result.refusals);
	json_decref(result.usage);
	return document;
}

json_t *iso_supervise_json(const struct iso_supervised *run)
{
	const struct iso_capture *c = run->capture;
	const char *stop = iso_stop_word(run->life.outcome.stop);

	return json_pack("{s:s, s:s, s:I, s:s, s:I, s:s, s:I, s:o, s:I, s:o, s:o}", "run", c->run,
			 "task", c->manifest->task.id, "attempt", (json_int_t)c->attempt, "state",
			 iso_state_word(run->life.state), "uid", (json_int_t)c->caller.uid,
			 "manifest_sha256", c->manifest_sha256, "captured_ms",
			 (json_int_t)c->time_ms, "started_ms",
			 run->started_ms ? json_integer((json_int_t)run->started_ms) : json_null(),
			 "wall_ms", (json_int_t)c->manifest->limits.wall_ms, "pid",
			 run->pid ? json_integer(run->pid) : json_null(), "stop_reason",
			 stop ? json_string(stop) : json_null());
}
