/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events: what a sandbox was refused and what became of it, as OCSF lines in a file.
 *
 *	ring buffer --iso_event_decode--> struct iso_event --+
 *	                                                      +--> stream --> queue -->
 *events.ndjson isod's own: struct iso_record ----iso_stream_emit-----+
 *
 * A stream belongs to one event loop; nothing here blocks on another process, starts a thread or
 * decides anything. A stream that cannot write keeps a bounded queue and counts what it had to
 * drop; the loss is a record of its own (a gap) as soon as there is room.
 *
 * Sequence. Every record of a run takes the next metadata.sequence, whoever made it. What is lost
 * takes its numbers too, at the moment at which it is reported: the gap names them
 * (first_seq..last_seq) and is itself the next record, so that a reader sees no hole that the
 * following record does not explain. Gaps come at most once a second and cause. The kernel numbers
 * its own events; its numbers are kept in unmapped.isoctl.kernel_sequence and are what finds its
 * losses, and its account says their cause.
 *
 * Repeats of one refusal (hook, object, reason, verdict; a system call's object is its name and its
 * arguments) are held back after the first one and reported as one record with a count: after a
 * second, then two, four... up to 64, and at the run's end. The counts of all records of a refusal
 * add up to how often it happened. Refusals that are expected are one record with a count, at the
 * end. The kernel sends the first one of them only and counts the others itself (window.h): their
 * time is when the count was read.
 */
#ifndef ISO_EVENT_EVENT_H
#define ISO_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "event/paths.h"
#include "manifest/manifest.h"
#include "policy/policy.h"

struct iso_event;  /* bpf/iso_abi.h */
struct iso_tally;  /* bpf/iso_abi.h */
struct iso_tamper; /* bpf/iso_abi.h */
struct iso_stream;

/* ------------------------------------------------------------------------------ records */

/* What a record reports; one OCSF class each (ocsf.c). */
enum iso_record_kind {
	ISO_RECORD_FILE,     /* a file operation was refused */
	ISO_RECORD_ABSENT,   /* an assert_absent path was asked for */
	ISO_RECORD_NET,	     /* connect, send, bind, listen or socket was refused */
	ISO_RECORD_EXEC,     /* executing or mapping executable was refused */
	ISO_RECORD_KERNEL,   /* a kernel interface was refused: mount, ptrace, signal... */
	ISO_RECORD_TAMPER,   /* somebody reached for the enforcement itself */
	ISO_RECORD_STARTED,  /* a program of the sandbox started */
	ISO_RECORD_ENDED,    /* ... ended: exit_code or signal */
	ISO_RECORD_SURVIVOR, /* isoinit ended a process that had outlived its parent */
	ISO_RECORD_LIMIT,    /* a limit was reached: limit, max, observed */
	ISO_RECORD_STATE,    /* sealed, unsealed, quarantined */
	ISO_RECORD_GAP,	     /* events are missing: lost, first_seq, last_seq, cause */
	ISO_RECORD_KINDS,
};

enum iso_record_state {
	ISO_RUN_SEALED = 1,
	ISO_RUN_UNSEALED, /* over: the last record of a run that ended in order */
	ISO_RUN_QUARANTINED,
};

/* Why events are missing. */
enum iso_gap_cause {
	ISO_GAP_RING = 1, /* the kernel's ring buffer was full */
	ISO_GAP_RATE,	  /* over the sandbox's events_per_second */
	ISO_GAP_KERNEL,	  /* the kernel lost them; which of the two is not known yet */
	ISO_GAP_SINK,	  /* the file could not be written and the queue was full */
	ISO_GAP_KINDS,	  /* more kinds than are told apart: further first ones are rate-limited */
	ISO_GAP_CAUSES,
};

#define ISO_RECORD_TEXT 512 /* bytes of a path with its NUL; longer ones keep their end */

/*
 * Text is raw bytes of the task's choosing: it is escaped when it is encoded, not before. A record
 * owns everything in it and may be copied by assignment. Zero means unknown or not applicable.
 */
struct iso_record {
	enum iso_record_kind kind;
	uint64_t sandbox;
	uint64_t time;		  /* ns, CLOCK_REALTIME; 0: the stream fills in now */
	uint64_t kernel_sequence; /* 0: made by userspace */
	uint64_t exec;		  /* exec id of the acting program; looked up in the run's table */
	uint32_t hook;		  /* ISO_HOOK_* */
	uint32_t reason;	  /* ISO_REASON_* */
	uint32_t rule;		  /* as in struct iso_event */
	uint32_t wanted;	  /* ISO_READ... */
	int error;		  /* positive errno that the task got */
	uint32_t pid, tid, ns_pid, ppid, uid;
	char comm[16];

	uint64_t device, inode; /* FILE, ABSENT, EXEC: of the object */
	uint32_t mode;
	bool path_truncated, path2_truncated;
	char path[ISO_RECORD_TEXT];  /* also of the program: STARTED, ENDED, SURVIVOR */
	char path2[ISO_RECORD_TEXT]; /* FILE: where to, for rename and link */

	uint16_t family, port, protocol, type; /* NET; port in host order */
	uint8_t address[16];

	/* KERNEL, of the hook seccomp: the system call, its number, and what it was called with.
	 * Not raw: escaped by who decoded it (sandbox/notify.h). */
	char call[32];
	char arguments[ISO_RECORD_TEXT];
	uint32_t number;

	int exit_code, signal; /* ENDED; signal 0: it exited */

	uint32_t bpf_cmd, map_id, prog_id, link_id; /* TAMPER; 0: none. What it was about in words
						       is its path, the signal is `signal` */
	uint32_t target_pid;			    /* TAMPER: of the process reached for */
	char program[64];			    /* TAMPER: file name of who acted */

	char limit[32]; /* LIMIT: "memory", "pids", "wall-time", "log"... */
	uint64_t max, observed;

	enum iso_record_state state; /* STATE */

	enum iso_gap_cause cause; /* GAP */
	uint64_t lost, first_seq, last_seq;

	uint64_t count;	     /* how often; 0 and 1: once. Time is that of the last one, who acted
				is that of the first */
	uint64_t first_time; /* of the first one, when count > 1 */
	bool expected;	     /* a refusal the profile or the manifest knows to be harmless */
};

/*
 * Copies data[0..size) of the ring buffer to *out when it is one well-formed record of this ABI:
 * exact size, known kind, hook and reason, paths inside their areas and without a NUL, an
 * errno. -EBADMSG otherwise, and *out is untouched.
 */
int iso_event_decode(const void *data, size_t size, struct iso_event *out);

/* The record of a decoded event. boot_offset: CLOCK_REALTIME minus CLOCK_BOOTTIME, ns. */
void iso_record_from_event(const struct iso_event *event, int64_t boot_offset,
			   struct iso_record *ret);

/* The same two for attempts at the enforcement itself (struct iso_tamper). */
int iso_tamper_decode(const void *data, size_t size, struct iso_tamper *out);
void iso_record_from_tamper(const struct iso_tamper *tamper, int64_t boot_offset,
			    struct iso_record *ret);

/* Sets a text of a record; one that is too long keeps its end, behind "...". */
void iso_record_set_text(char out[ISO_RECORD_TEXT], bool *truncated, const char *s, size_t n);

const char *iso_record_kind_word(enum iso_record_kind kind); /* "file", "network"... */
const char *iso_gap_cause_word(enum iso_gap_cause cause);

/* ------------------------------------------------------------------------------ stream */

struct iso_stream_options {
	const char *directory; /* NULL: ISO_EVENTS_DIRECTORY. Made, 0750, when it is missing */
	uint64_t rotate_bytes; /* 0: 64 MiB. The file is renamed to .1 when it would grow beyond */
	unsigned rotate_keep;  /* 0: 8 rotated files stay */
	size_t queue_bytes;    /* 0: 1 MiB of lines wait at most while the file cannot be written */
	uint64_t (*now)(void *, int clock); /* ns; NULL: clock_gettime(). For tests */
	void *now_data;
};

/* What is known about a run before its first event. Texts are copied; the policy must outlive it.
 */
struct iso_run_context {
	uint64_t sandbox;   /* as the kernel numbers it */
	const char *run_id; /* [A-Za-z0-9._:-]{1,128}: metadata.correlation_uid */
	const char *task_id;
	uint32_t attempt;
	const char *manifest_sha256;	 /* 64 hexadecimal digits */
	const struct iso_policy *policy; /* or NULL: rules are shown by number */
	const struct iso_pairs *labels;	 /* or NULL */
	const struct iso_strv *expected; /* or NULL: /response/expected */
	uint64_t cgroup_id;
	const char *hostname, *machine_id, *kernel_release;
	uint32_t events_per_second; /* 0: 200 */
};

/* A program of a run, by exec id: what events of it will say. */
struct iso_program {
	uint64_t exec;
	uint64_t start_time;	  /* ns, CLOCK_REALTIME; 0: unknown */
	const char *path;	  /* raw bytes, or NULL */
	const char *command_line; /* words joined by spaces, raw, or NULL; credentials are masked */
	uint32_t pid;
};

/* Refusals, for the result document. */
struct iso_refusal {
	enum iso_record_kind kind;
	const char *hook;      /* static: name of its row */
	const char *reason;    /* static: its word */
	const char *why;       /* static: its sentence */
	const char *operation; /* static: "remove", "open-for-write" */
	char errno_name[16];   /* "EACCES" */
	char *object;	       /* escaped: a path, an address and port, or "" */
	char *rule;	       /* JSON pointer into the manifest, "none", "built-in" or "rule:N" */
	uint64_t count;
	bool expected;
};

#define ISO_REFUSALS_MAX 64

struct iso_run_summary {
	uint64_t happened[ISO_RECORD_KINDS]; /* by kind, repeats and expected ones included */
	uint64_t expected;		     /* refusals among them that were expected */
	uint64_t records;		     /* lines of this run */
	uint64_t gaps;			     /* gap records among them */
	uint64_t lost;			     /* events without a record, all causes */
	uint64_t last_sequence;
	uint64_t unwritten;  /* lines of all runs that still wait for the file to be writable */
	char chain_head[65]; /* SHA-256 of the run's last line, hexadecimal */
	struct iso_refusal refusals[ISO_REFUSALS_MAX]; /* in the order of their first time */
	size_t refusal_count;
	uint64_t refusals_more; /* refusals (not kinds) that found the list full */
};

/*
 * Opens the file (0640), takes over after a writer that died in the middle of a line, and holds
 * nothing else open. -EACCES, -EROFS, -ENOSPC... with *e. More than one stream may write to one
 * directory at a time (isod --private): lines are whole, rotation is done once.
 */
int iso_stream_new(const struct iso_stream_options *o, struct iso_stream **ret,
		   struct iso_error *e);
/* Writes what can be written and forgets the rest; runs that have not ended lose their repeats. */
void iso_stream_free(struct iso_stream *s);

/* -EEXIST: that sandbox or run id has a run already; -EINVAL: a malformed id or digest. */
int iso_stream_add_run(struct iso_stream *s, const struct iso_run_context *ctx);

/* Remembers a program; a later call for the same exec id replaces it. -ENOENT: no such run. */
int iso_stream_add_program(struct iso_stream *s, uint64_t sandbox, const struct iso_program *p);
bool iso_stream_has_program(const struct iso_stream *s, uint64_t sandbox, uint64_t exec);

/* Is it a refusal that the run's manifest lists under /response/expected? */
bool iso_stream_expects(const struct iso_stream *s, const struct iso_record *record);

/* A record of the ring, undecoded; malformed ones are counted and become a gap. */
int iso_stream_ring(struct iso_stream *s, const void *data, size_t size);
/* -ENOENT: the sandbox has no run (counted). Never waits; 0 also when it was counted as lost. */
int iso_stream_kernel_event(struct iso_stream *s, const struct iso_event *event);
/* The same for an attempt: a record of the run of sandbox ISO_RUN_HOST, wherever it came from. */
#define ISO_RUN_HOST 0
int iso_stream_tamper(struct iso_stream *s, const struct iso_tamper *tamper);
/* The same for a record of userspace's own making. GAP records are refused: -EINVAL. */
int iso_stream_emit(struct iso_stream *s, const struct iso_record *record);

/* Writes the queue. Call it after a batch of events. A failure is kept and retried, not returned.
 */
void iso_stream_flush(struct iso_stream *s);
/*
 * What is due: repeats that are a second old, fsync, another try of a file that failed. Returns the
 * milliseconds until it wants to be called again, -1 when nothing is pending.
 */
int iso_stream_tick(struct iso_stream *s);

/*
 * What the kernel has counted by now: repeats become records, losses get their cause. Consume the
 * ring before the question is asked. 1: some of it is about events that have not been read yet,
 * ask again; -ENOENT: no such run.
 */
int iso_stream_tally(struct iso_stream *s, uint64_t sandbox, const struct iso_tally *kernel);

/*
 * Writes the run's repeats and remaining gap, `unsealed`, and fsyncs. Consume the ring first.
 * `kernel` is what the kernel counted, or NULL: it tells losses after the last event, too.
 */
int iso_stream_end_run(struct iso_stream *s, uint64_t sandbox, const struct iso_tally *kernel,
		       struct iso_run_summary *ret);
void iso_run_summary_free(struct iso_run_summary *summary);

struct iso_stream_counters {
	uint64_t records, written, lost, malformed, unknown_run, collapsed;
	uint64_t write_failures, fsync_failures, rotations;
	int last_error; /* negative errno of the last failure of the file; 0: it is fine */
};
void iso_stream_counters(const struct iso_stream *s, struct iso_stream_counters *ret);

#endif
