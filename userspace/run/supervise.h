/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run from its capture until nothing of it is left. It lives in the loop's thread; building and
 * taking down, which block, happen on a worker's thread. No process watches it from outside.
 */
#ifndef ISO_RUN_SUPERVISE_H
#define ISO_RUN_SUPERVISE_H

#include <jansson.h>
#include <stdint.h>

#include "event/event.h"
#include "kernel/kernel.h"
#include "run/capture.h"
#include "run/lifecycle.h"
#include "run/loop.h"
#include "sandbox/sandbox.h"

struct iso_supervised;

/* What runs share. */
struct iso_supervise_host {
	struct iso_loop *loop;
	struct iso_workers *workers;
	struct iso_kernel *kernel;
	struct iso_stream *events;
	int isoinit_fd;
	const char *hostname, *machine_id, *kernel_release;
	/* Reads what the kernel's ring holds, so that an account misses nothing that came before.
	 */
	void (*drain)(void *context);
	/* The state has changed; after ISO_STATE_RUN_SETTLED `result` is set. */
	void (*changed)(void *context, struct iso_supervised *run);
	void *context;
};

struct iso_supervised {
	struct iso_supervised *next; /* the owner's list */
	struct iso_supervise_host *host;
	struct iso_capture *capture;
	struct iso_lifecycle life;
	struct iso_failure failure;
	json_t *result; /* once settled */
	uint64_t started_ms, ended_ms;
	int pid; /* of isoinit's child as the host sees it; 0: not known */

	/* the supervisor's own */
	struct iso_source control;
	struct iso_source refusals; /* the listener of the task's filter */
	bool refusals_watched;
	unsigned look_calls;	/* refused calls that are still looked at this second */
	uint64_t look_calls_ns; /* when that second began */
	struct iso_job job;
	struct iso_sandbox_handle *sandbox;
	int build_result, destroy_result;
	struct iso_error build_error;
	int stdio[3], cancel_fd, *fds;
	size_t host_count;
	uint64_t wall_ns;     /* CLOCK_MONOTONIC: when the wall limit is reached */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC: the backstop of the wall limit; 0: none yet */
	uint64_t kill_ns;     /* when the grace is over; 0: not stopping */
	uint64_t look_ns;     /* when its counters are looked at next */
	bool watched, streamed, pids_told, owed, broken_told;
	bool digest_known, usage_known, tally_known;
	uint8_t digest[ISO_POLICY_DIGEST];
	struct iso_sandbox_usage usage;
	struct iso_tally tally; /* what the kernel counted, as last read */
};

/* Takes over the capture. NULL: out of memory, and the capture stays the caller's. */
struct iso_supervised *iso_supervise_new(struct iso_supervise_host *host,
					 struct iso_capture *capture);
/* Only a captured or settled run may be freed. */
void iso_supervise_free(struct iso_supervised *run);

/* How many descriptors a launch needs: one for each host tree of the policy, in its order. */
size_t iso_supervise_host_count(const struct iso_policy *policy);

/*
 * Starts building. fds: host trees, then inputs; taken over in any case. pipes[0..2] become the
 * caller's ends of the entry command's stdin (-1 when closed), stdout and stderr.
 */
int iso_supervise_launch(struct iso_supervised *run, const int *fds, size_t count, int pipes[3],
			 struct iso_failure *f);
/* Ends it; the first reason is kept. kill: without the grace. */
void iso_supervise_stop(struct iso_supervised *run, enum iso_stop reason, bool kill);
/* Deadlines and counters. Call it at least every 50 ms. */
void iso_supervise_tick(struct iso_supervised *run, uint64_t now_ns);
/* An event of this run: /response may end it. */
void iso_supervise_violation(struct iso_supervised *run, const struct iso_record *record);

/* refusals.c: refused system calls. What isoinit says of the listener; and the end of it. */
void iso_refusals_message(struct iso_supervised *run, const struct iso_init_message *m);
void iso_refusals_unwatch(struct iso_supervised *run);

/* integrity.c: ends a run whose sandbox is not what was sealed any more; true when it did. */
bool iso_integrity_look(struct iso_supervised *run);

/* The `Run` of io.isoctl.Agent. */
json_t *iso_supervise_json(const struct iso_supervised *run);
/* account.c: events that isod itself reports, and the result document. */
void iso_account_begin(struct iso_supervised *run);
void iso_account_started(struct iso_supervised *run);
void iso_account_limit(struct iso_supervised *run, const char *limit, uint64_t max,
		       uint64_t observed);
void iso_account_survivor(struct iso_supervised *run, int pid, const char *comm);
/* Hands on what the kernel counted since it was last asked; the ring has just been read. */
void iso_account_tally(struct iso_supervised *run);
void iso_account_end(struct iso_supervised *run);
json_t *iso_account_close(struct iso_supervised *run);

#endif
