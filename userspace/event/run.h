/* SPDX-License-Identifier: BSD-2-Clause */
/* A run as the stream keeps it; event/ only. */
#ifndef ISO_EVENT_RUN_H
#define ISO_EVENT_RUN_H

#include <jansson.h>

#include "event/chain.h"
#include "event/event.h"
#include "iso_abi.h"

#define ISO_RUN_REPEATS	 128 /* distinct refusals whose repeats are held back at a time */
#define ISO_RUN_KINDS	 256 /* kinds (hook, reason, rule) whose first one always passes */
#define ISO_RUN_PROGRAMS 256 /* programs remembered; the oldest makes room */
#define ISO_RUN_HOLES	 64  /* ranges of kernel sequence numbers that are still awaited */

/* A refusal that has been reported; `pending` further ones have not. */
struct iso_repeat {
	uint64_t key;
	uint64_t pending;
	uint64_t first_time, last_time; /* of the pending ones */
	uint64_t due;			/* CLOCK_MONOTONIC ns: when they are reported */
	uint64_t interval;
	struct iso_record *record; /* the first one; allocated */
};

/* A place of the kernel's window (window.h). */
struct iso_seat {
	struct iso_record *record; /* allocated; NULL: never taken */
	uint32_t tag;
	uint64_t told;
};

struct iso_known_program {
	struct iso_known_program *next; /* newest first */
	uint64_t exec, start_time;
	uint32_t pid;
	char *path;
	char *command_line; /* escaped, credentials masked */
};

/* first..last have not arrived; CPUs hand over out of order, so they are given until `deadline`. */
struct iso_hole {
	uint64_t first, last, deadline;
};

struct iso_run {
	struct iso_run *next;
	uint64_t sandbox;
	char *run_id, *task_id, *manifest_sha256;
	uint32_t attempt;
	uint64_t cgroup_id;
	const struct iso_policy *policy;
	json_t *labels, *device, *product; /* shared by all records of the run */
	char **expected;
	size_t expected_count;

	uint64_t sequence; /* last given out */
	char head[ISO_CHAIN_TEXT];
	uint64_t lost[ISO_GAP_CAUSES]; /* not reported yet, by cause */
	bool kinds_full, kinds_reported;
	uint64_t gap_due; /* CLOCK_MONOTONIC ns: gaps are reported at most once a second */

	uint64_t kernel_seen; /* highest kernel sequence that arrived */
	struct iso_hole holes[ISO_RUN_HOLES];
	size_t hole_count;

	struct iso_seat window[ISO_WINDOW];
	uint64_t settled;	       /* repeats that the window has told */
	struct iso_account kernel;     /* as the kernel has it, when it was last asked */
	uint64_t told[ISO_GAP_CAUSES]; /* of what it lost, by cause */

	double tokens, rate; /* of the bucket; rate is its size too */
	uint64_t refilled;
	uint64_t kinds[ISO_RUN_KINDS];
	size_t kind_count;

	struct iso_repeat repeats[ISO_RUN_REPEATS];
	size_t repeat_count;
	struct iso_known_program *programs;
	size_t program_count;
	struct iso_run_summary summary;
	uint64_t refusal_keys[ISO_REFUSALS_MAX];
};

/* -ENOMEM, -EINVAL. The run has no record yet. */
int iso_run_new(const struct iso_run_context *ctx, struct iso_run **ret);
void iso_run_free(struct iso_run *run);

int iso_run_add_program(struct iso_run *run, const struct iso_program *p);
const struct iso_known_program *iso_run_program(const struct iso_run *run, uint64_t exec);

/*
 * What a refusal is about, apart from who did it; equal keys are repeats of each other. The hash is
 * keyed: a task that could make two refusals collide would hide one behind the other's name.
 */
uint64_t iso_record_key(const struct iso_record *r);
bool iso_record_is_refusal(const struct iso_record *r);
bool iso_run_expects(const struct iso_run *run, const struct iso_record *r);

/* JSON pointer of the rule that decided, "rule:N" without a policy, "built-in", or "none". */
const char *iso_run_rule(const struct iso_run *run, uint32_t rule, char scratch[24]);

/* Counts a record, and lists it when it is a refusal; key: its iso_record_key(). */
void iso_run_account(struct iso_run *run, const struct iso_record *r, uint64_t key);

/* The object of a record for people, escaped: a path, an address... Always ends in NUL. */
char *iso_record_object(const struct iso_record *r, char *out, size_t size);

/*
 * One OCSF line, without a newline, as record `sequence` of the run behind the run's head. NULL:
 * no memory. free() it.
 */
char *iso_ocsf_encode(const struct iso_run *run, const struct iso_record *r, uint64_t sequence);

#endif
