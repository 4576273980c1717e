/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"

#define MS	     1000000ull
#define BUILD_LIMIT  (120 * 1000 * MS) /* copying a large snapshot on a slow disk */
#define LOOK_EVERY   (500 * MS)
#define WALL_MARGIN  (2000 * MS) /* isoinit holds the limit; isod steps in when it does not */
#define GRACE_MARGIN (1000 * MS)

static void act(struct iso_supervised *run, enum iso_action action);

static void close_all(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		iso_close_fd(&fds[i]);
}

struct iso_supervised *iso_supervise_new(struct iso_supervise_host *host,
					 struct iso_capture *capture)
{
	struct iso_supervised *run = calloc(1, sizeof *run);

	if (!run)
		return NULL;
	run->host = host;
	run->capture = capture;
	run->cancel_fd = -1;
	for (int i = 0; i < 3; i++)
		run->stdio[i] = -1;
	return run;
}

void iso_supervise_free(struct iso_supervised *run)
{
	close_all(run->stdio, 3);
	iso_close_fd(&run->cancel_fd);
	free(run->fds);
	json_decref(run->result);
	iso_capture_free(run->capture);
	free(run);
}

size_t iso_supervise_host_count(const struct iso_policy *policy)
{
	size_t n = 0;

	for (size_t i = 0; i < policy->tree_count; i++)
		n += policy->trees[i].kind == ISO_TREE_HOST;
	return n;
}

static void advance(struct iso_supervised *run, enum iso_happening what)
{
	enum iso_run_state before = run->life.state;
	enum iso_action action = iso_lifecycle_advance(&run->life, what);

	/* A finished run is announced by act(), with its result. */
	if (run->life.state != before && action != ISO_ACTION_FINISH)
		run->host->changed(run->host->context, run);
	act(run, action);
}

/* ------------------------------------------------------------------------------ building */

static void build_work(struct iso_job *job)
{
	struct iso_supervised *run =
		(struct iso_supervised *)((char *)job - offsetof(struct iso_supervised, job));
	const struct iso_capture *c = run->capture;
	struct iso_sandbox_request request = {
		.manifest = c->manifest,
		.policy = c->policy,
		.kernel = run->host->kernel,
		.sandbox = c->sandbox,
		.name = c->run,
		.caller = {c->caller.uid, c->caller.gid, c->caller.groups, c->caller.group_count},
		.host_fds = run->fds,
		.input_fds = run->fds + run->host_count,
		.argv = c->argv,
		.environment = c->environment,
		.stdio = {run->stdio[0], run->stdio[1], run->stdio[2]},
		.isoinit_fd = run->host->isoinit_fd,
		.cancel_fd = run->cancel_fd,
		.deadline_ns = iso_monotonic_ns() + BUILD_LIMIT,
	};

	run->build_result = iso_sandbox_create(&request, &run->sandbox, &run->build_error);
}

static void set_up_failed(struct iso_supervised *run)
{
	const struct iso_error *e = &run->build_error;
	enum iso_class class = ISO_CLASS_SETUP;

	if (run->life.outcome.stop != ISO_STOP_NONE)
		return; /* it was told to give up */
	run->life.outcome.stop = ISO_STOP_SETUP_FAILURE;
	/* What the caller brought is not this host's fault, and does not get better by waiting. */
	if (!e->retryable &&
	    (strcmp(e->step, "snapshot") == 0 || strcmp(e->step, "host-tree") == 0))
		class = ISO_CLASS_SOURCE;
	iso_failure_wrap(&run->failure, class, e);
}

static void control_ready(struct iso_source *source, uint32_t events);

static int watch(struct iso_supervised *run)
{
	int r = iso_loop_add(run->host->loop, iso_sandbox_control_fd(run->sandbox), EPOLLIN,
			     &run->control);

	run->control.ready = control_ready;
	run->watched = r == 0;
	return r;
}

static void build_done(struct iso_job *job)
{
	struct iso_supervised *run =
		(struct iso_supervised *)((char *)job - offsetof(struct iso_supervised, job));
	size_t count = run->host_count + run->capture->manifest->filesystem.input_count;

	/* The sandbox has its own copies of what it needs: nothing stays open here. */
	close_all(run->fds, count);
	close_all(run->stdio, 3);
	if (run->build_result < 0) {
		set_up_failed(run);
		advance(run, ISO_HAPPENED_FAILED);
		return;
	}
	memcpy(run->digest, iso_sandbox_policy_digest(run->sandbox), sizeof run->digest);
	run->digest_known = true;
	iso_account_begin(run);
	if (watch(run) < 0) {
		iso_supervise_stop(run, ISO_STOP_SETUP_FAILURE, true);
		iso_failure_set(&run->failure, ISO_CLASS_SETUP, -ENOMEM, "supervise", NULL,
				"cannot watch the sandbox");
	}
	advance(run, ISO_HAPPENED_BUILT);
}

static int make_pipes(struct iso_supervised *run, int pipes[3])
{
	for (int i = 0; i < 3; i++) {
		int p[2];

		if (i == 0 && !run->capture->manifest->process.stdin_inherit)
			continue;
		if (pipe2(p, O_CLOEXEC) < 0)
			return -errno;
		run->stdio[i] = p[i == 0 ? 0 : 1];
		pipes[i] = p[i == 0 ? 1 : 0];
	}
	return 0;
}

int iso_supervise_launch(struct iso_supervised *run, const int *fds, size_t count, int pipes[3],
			 struct iso_failure *f)
{
	size_t inputs = run->capture->manifest->filesystem.input_count;
	int r;

	for (int i = 0; i < 3; i++)
		pipes[i] = -1;
	run->host_count = iso_supervise_host_count(run->capture->policy);
	run->fds = calloc(count + 1, sizeof *run->fds);
	if (!run->fds || count != run->host_count + inputs) {
		for (size_t i = 0; i < count; i++)
			close(fds[i]);
		return iso_failure_set(f, ISO_CLASS_SETUP, run->fds ? -EINVAL : -ENOMEM, "launch",
				       NULL, "cannot take the descriptors of the launch: %m");
	}
	if (count)
		memcpy(run->fds, fds, count * sizeof *fds);
	run->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = run->cancel_fd < 0 ? -errno : make_pipes(run, pipes);
	run->job = (struct iso_job){.work = build_work, .done = build_done};
	if (r == 0)
		r = iso_workers_start(run->host->workers, &run->job);
	if (r < 0) {
		close_all(run->fds, count);
		close_all(run->stdio, 3);
		close_all(pipes, 3);
		return iso_failure_set(f, ISO_CLASS_SETUP, r, "launch", "try again later",
				       "cannot begin to build: %m");
	}
	advance(run, ISO_HAPPENED_LAUNCH);
	return 0;
}

/* ------------------------------------------------------------------------------ running */

static void started(struct iso_supervised *run)
{
	if (run->started_ms)
		return;
	run->started_ms = iso_realtime_ms();
	iso_account_started(run);
	advance(run, ISO_HAPPENED_STARTED);
}

static void received(struct iso_supervised *run, const struct iso_init_message *m)
{
	struct iso_outcome *o = &run->life.outcome;

	switch (m->kind) {
	case ISO_INIT_STARTED:
		run->pid = m->pid;
		started(run);
		return;
	case ISO_INIT_EXEC_FAILED:
		o->exec_error = m->value;
		return;
	case ISO_INIT_SURVIVOR:
		iso_account_survivor(run, m->pid, m->text);
		return;
	case ISO_INIT_LISTENER:
	case ISO_INIT_UNANSWERED:
		iso_refusals_message(run, m);
		return;
	case ISO_INIT_WALL:
		iso_supervise_stop(run, ISO_STOP_DEADLINE, false);
		return;
	case ISO_INIT_ENDED:
		o->ended = true;
		o->wait_status = m->value;
		/* isoinit's word of the wall limit can be lost when its cgroup has no memory left.
		 */
		if (WIFSIGNALED(m->value) && iso_monotonic_ns() >= run->wall_ns)
			iso_supervise_stop(run, ISO_STOP_DEADLINE, true);
		advance(run, ISO_HAPPENED_ENDED);
		return;
	}
}

/* isoinit is gone without a last word: killed with its cgroup, or by somebody. */
static void lost(struct iso_supervised *run)
{
	iso_sandbox_kill(run->sandbox);
	if (iso_sandbox_usage(run->sandbox, &run->usage) == 0 && run->usage.oom_kills)
		iso_supervise_stop(run, ISO_STOP_LIMIT_MEMORY, true);
	iso_supervise_stop(run, ISO_STOP_SUPERVISOR_LOST, true);
	advance(run, ISO_HAPPENED_ENDED);
}

static void control_ready(struct iso_source *source, uint32_t events)
{
	struct iso_supervised *run =
		(struct iso_supervised *)((char *)source -
					  offsetof(struct iso_supervised, control));
	struct iso_init_message m;

	(void)events;
	while (run->watched) {
		int r = iso_sandbox_receive(run->sandbox, &m);

		if (r == -EAGAIN || r == -EINTR)
			return;
		if (r == 1)
			received(run, &m);
		else
			lost(run);
	}
}

static void terminate(struct iso_supervised *run)
{
	uint64_t grace = run->capture->manifest->limits.stop_grace_ms * MS;

	run->kill_ns = iso_monotonic_ns() + grace + GRACE_MARGIN;
	if (iso_sandbox_terminate(run->sandbox) < 0)
		iso_sandbox_kill(run->sandbox);
}

void iso_supervise_stop(struct iso_supervised *run, enum iso_stop reason, bool kill)
{
	enum iso_run_state before = run->life.state;
	enum iso_action action = iso_lifecycle_stop(&run->life, reason);

	if (action == ISO_ACTION_TERMINATE && kill)
		action = ISO_ACTION_NONE;
	if (run->life.state == ISO_STATE_RUN_STOPPING && before != ISO_STATE_RUN_STOPPING) {
		if (reason == ISO_STOP_DEADLINE)
			iso_account_limit(run, "wall-time", run->capture->manifest->limits.wall_ms,
					  run->capture->manifest->limits.wall_ms);
		if (reason == ISO_STOP_LIMIT_LOG)
			iso_account_limit(run, "log", run->capture->manifest->limits.log_bytes, 0);
		run->host->changed(run->host->context, run);
	}
	if (run->life.state == ISO_STATE_RUN_STOPPING && kill) {
		run->kill_ns = iso_monotonic_ns() + GRACE_MARGIN;
		iso_sandbox_kill(run->sandbox);
	}
	act(run, action);
}

void iso_supervise_violation(struct iso_supervised *run, const struct iso_record *record)
{
	const enum iso_response *response = run->capture->manifest->response;
	enum iso_violation kind;

	/* Programs of the task have exec ids from 2 on; 1 is isoinit, until it executes the first.
	 * The filter's refusals are all the task's, even where the program is not known. */
	if (record->exec < 2 && record->hook != ISO_HOOK_seccomp)
		return;
	/* The ring may be faster than isoinit's own word that the entry command runs. */
	started(run);
	switch (record->kind) {
	case ISO_RECORD_FILE:
	case ISO_RECORD_ABSENT:
		kind = ISO_VIOLATION_FILE;
		break;
	case ISO_RECORD_EXEC:
		kind = ISO_VIOLATION_EXEC;
		break;
	case ISO_RECORD_NET:
		kind = ISO_VIOLATION_NETWORK;
		break;
	case ISO_RECORD_KERNEL:
		kind = ISO_VIOLATION_SYSCALL;
		break;
	case ISO_RECORD_TAMPER:
		iso_supervise_stop(run, ISO_STOP_TAMPER, true);
		return;
	default:
		return;
	}
	if (response[kind] == ISO_RESPONSE_STOP && !iso_stream_expects(run->host->events, record))
		iso_supervise_stop(run, ISO_STOP_VIOLATION, true);
}

static void look(struct iso_supervised *run)
{
	const struct iso_manifest *m = run->capture->manifest;
	struct iso_sandbox_usage usage;

	iso_account_tally(run);
	if (iso_integrity_look(run))
		return;
	if (iso_sandbox_usage(run->sandbox, &usage) < 0)
		return;
	if (usage.oom_kills) {
		/* What isoinit said before (that the command runs) counts first. */
		control_ready(&run->control, 0);
		iso_supervise_stop(run, ISO_STOP_LIMIT_MEMORY, true);
		return;
	}
	if (!usage.pids_max_hits || run->pids_told)
		return;
	run->pids_told = true;
	iso_account_limit(run, "pids", m->process.limits.pids, usage.pids_peak);
	if (m->response[ISO_VIOLATION_LIMIT] == ISO_RESPONSE_STOP)
		iso_supervise_stop(run, ISO_STOP_LIMIT_PIDS, true);
}

void iso_supervise_tick(struct iso_supervised *run, uint64_t now)
{
	enum iso_run_state state = run->life.state;

	if (state != ISO_STATE_RUN_SEALED && state != ISO_STATE_RUN_RUNNING &&
	    state != ISO_STATE_RUN_STOPPING)
		return;
	if (now >= run->look_ns) {
		run->look_ns = now + LOOK_EVERY;
		look(run);
	}
	if (run->deadline_ns && now >= run->deadline_ns) {
		run->deadline_ns = 0;
		iso_supervise_stop(run, ISO_STOP_DEADLINE, true);
	}
	if (run->kill_ns && now >= run->kill_ns) {
		run->kill_ns = now + GRACE_MARGIN;
		iso_sandbox_kill(run->sandbox);
	}
}

/* ------------------------------------------------------------------------------ ending */

static void destroy_work(struct iso_job *job)
{
	struct iso_supervised *run =
		(struct iso_supervised *)((char *)job - offsetof(struct iso_supervised, job));

	run->destroy_result = iso_sandbox_destroy(run->sandbox, &run->build_error);
}

static void destroy_done(struct iso_job *job)
{
	struct iso_supervised *run =
		(struct iso_supervised *)((char *)job - offsetof(struct iso_supervised, job));

	run->sandbox = NULL;
	if (run->destroy_result < 0) {
		iso_failure_wrap(&run->failure, ISO_CLASS_CLEANUP, &run->build_error);
		iso_log_error("run %s: %s", run->capture->run, run->build_error.message);
	}
	advance(run, ISO_HAPPENED_SETTLED);
}

/* Counters are read while what they count is still there. */
static void destroy(struct iso_supervised *run)
{
	if (run->watched)
		iso_loop_remove(run->host->loop, iso_sandbox_control_fd(run->sandbox),
				&run->control);
	run->watched = false;
	iso_refusals_unwatch(run);
	run->usage_known = iso_sandbox_usage(run->sandbox, &run->usage) == 0;
	run->tally_known =
		iso_kernel_ask_tally(run->host->kernel, run->capture->sandbox, &run->tally) == 0;
	if (run->life.outcome.stop == ISO_STOP_NONE && run->usage_known && run->usage.oom_kills)
		run->life.outcome.stop = ISO_STOP_LIMIT_MEMORY;
	run->ended_ms = iso_realtime_ms();
	run->job = (struct iso_job){.work = destroy_work, .done = destroy_done};
	if (iso_workers_start(run->host->workers, &run->job) < 0) {
		/* No thread can be had: better a loop that waits than a sandbox that stays. */
		destroy_work(&run->job);
		destroy_done(&run->job);
	}
}

static void name_failure(struct iso_supervised *run)
{
	const struct iso_outcome *o = &run->life.outcome;

	if (run->failure.class != ISO_CLASS_NONE)
		return;
	if (o->stop != ISO_STOP_NONE)
		iso_failure_stop(&run->failure, o->stop);
	else if (o->exec_error)
		iso_failure_set(&run->failure,
				o->exec_error == ENOENT ? ISO_CLASS_NOT_FOUND
							: ISO_CLASS_NOT_EXECUTABLE,
				-o->exec_error, "exec", "see /filesystem/root and /process/execute",
				"the command cannot be executed inside: %m");
}

static void finish(struct iso_supervised *run)
{
	run->host->drain(run->host->context);
	if (!run->ended_ms)
		run->ended_ms = iso_realtime_ms();
	name_failure(run);
	run->result = iso_account_close(run);
	run->host->changed(run->host->context, run);
}

static void start(struct iso_supervised *run)
{
	uint64_t wall = run->capture->manifest->limits.wall_ms * MS;
	uint64_t grace = run->capture->manifest->limits.stop_grace_ms * MS;

	run->wall_ns = iso_monotonic_ns() + wall;
	run->deadline_ns = run->wall_ns + grace + WALL_MARGIN;
	if (iso_sandbox_start(run->sandbox) < 0)
		iso_supervise_stop(run, ISO_STOP_SUPERVISOR_LOST, true);
}

static void act(struct iso_supervised *run, enum iso_action action)
{
	uint64_t one = 1;

	switch (action) {
	case ISO_ACTION_NONE:
	case ISO_ACTION_BUILD:
		return;
	case ISO_ACTION_START:
		start(run);
		return;
	case ISO_ACTION_GIVE_UP:
		if (write(run->cancel_fd, &one, sizeof one) < 0 && errno != EAGAIN)
			iso_log_error("run %s: cannot tell its builder to give up",
				      run->capture->run);
		return;
	case ISO_ACTION_TERMINATE:
		terminate(run);
		return;
	case ISO_ACTION_DESTROY:
		destroy(run);
		return;
	case ISO_ACTION_FINISH:
		finish(run);
		return;
	}
}
