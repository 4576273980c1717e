/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Refused system calls of a run: taken from its filter's listener, answered at once, told of.
 *
 * What one sandbox can cost the others is bounded twice. In a round of the loop it gets
 * CALLS_PER_ROUND answers, then it is the next one's turn. And only so many calls a second are
 * looked at (pid, arguments: files of /proc, the task's memory); what is beyond is answered all the
 * same and told of by its name, which the stream collapses into one record with a count. No answer
 * waits for a budget or a file.
 */
#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "run/supervise.h"
#include "sandbox/notify.h"

#define CALLS_PER_ROUND	 16
#define LOOKS_PER_SECOND 200

/* A bucket of one second: what is looked at, and what only counts. */
static bool may_look(struct iso_supervised *run)
{
	uint64_t now = iso_monotonic_ns();

	if (now - run->look_calls_ns >= 1000000000ull) {
		run->look_calls_ns = now;
		run->look_calls = LOOKS_PER_SECOND;
	}
	return run->look_calls;
}

static void tell(struct iso_supervised *run, const struct iso_refused_call *c)
{
	struct iso_record record = {
		.kind = ISO_RECORD_KERNEL,
		.sandbox = run->capture->sandbox,
		.hook = ISO_HOOK_seccomp,
		.reason = ISO_REASON_SYSCALL,
		.rule = ISO_RULE_NONE,
		.error = c->error,
		.number = c->number,
		.expected = c->expected,
		.exec = c->exec,
		.pid = c->pid,
		.tid = c->tid,
		.ns_pid = c->ns_pid,
		.ppid = c->ppid,
		.uid = c->uid,
	};

	_Static_assert(sizeof record.call == sizeof c->call, "call");
	_Static_assert(sizeof record.arguments == sizeof c->arguments, "arguments");
	memcpy(record.call, c->call, sizeof record.call);
	memcpy(record.arguments, c->arguments, sizeof record.arguments);
	memcpy(record.comm, c->comm, sizeof record.comm);
	if (run->streamed)
		iso_stream_emit(run->host->events, &record);
	iso_supervise_violation(run, &record);
}

static uint64_t exec_of(void *context, uint32_t pid)
{
	const struct iso_supervised *run = context;
	uint64_t exec = 0;

	/* 0, unknown, is what an event says then */
	if (iso_kernel_ask_exec(run->host->kernel, run->capture->sandbox, (int)pid, &exec) < 0)
		return 0;
	return exec;
}

static void ready(struct iso_source *source, uint32_t events)
{
	struct iso_supervised *run =
		(struct iso_supervised *)((char *)source -
					  offsetof(struct iso_supervised, refusals));
	int listener = iso_sandbox_listener(run->sandbox);

	(void)events;
	for (unsigned i = 0; i < CALLS_PER_ROUND && run->refusals_watched; i++) {
		struct iso_refused_call call;
		bool look = may_look(run);
		int r = iso_notify_take(listener, look ? exec_of : NULL, run, &call);

		if (r == 0)
			return;
		if (r == 1) {
			run->look_calls -= look;
			tell(run, &call);
			continue;
		}
		/* -EPIPE: no task is left. Anything else, and its calls would hang. */
		iso_refusals_unwatch(run);
		if (r != -EPIPE) {
			iso_log_error("run %s: cannot read its refused calls: %s",
				      run->capture->run, strerror(-r));
			iso_supervise_stop(run, ISO_STOP_SUPERVISOR_LOST, true);
		}
	}
}

static int watch(struct iso_supervised *run)
{
	int r;

	run->refusals.ready = ready;
	r = iso_loop_add(run->host->loop, iso_sandbox_listener(run->sandbox), EPOLLIN,
			 &run->refusals);
	run->refusals_watched = r == 0;
	return r;
}

void iso_refusals_unwatch(struct iso_supervised *run)
{
	if (run->refusals_watched)
		iso_loop_remove(run->host->loop, iso_sandbox_listener(run->sandbox),
				&run->refusals);
	run->refusals_watched = false;
}

void iso_refusals_message(struct iso_supervised *run, const struct iso_init_message *m)
{
	int r = m->kind == ISO_INIT_LISTENER ? watch(run) : 0;

	if (r < 0) {
		iso_failure_set(&run->failure, ISO_CLASS_SETUP, r, "supervise", NULL,
				"cannot watch the task's filter: %m");
		iso_supervise_stop(run, ISO_STOP_SETUP_FAILURE, true);
	}
	if (m->kind == ISO_INIT_UNANSWERED) {
		iso_log_error("run %s: isod answered no refused call in time", run->capture->run);
		iso_supervise_stop(run, ISO_STOP_SUPERVISOR_LOST, true);
	}
}
