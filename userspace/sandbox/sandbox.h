/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sandbox on this host: cgroup, ids, namespaces, mounts, storage, seccomp, isoinit. Built as
 * root by a worker thread of isod, in the order that leaves nothing unsealed:
 *
 *	cgroup -> kernel BEGIN (cgroup bound) -> storage, snapshot copies -> clone3 into the cgroup
 *with all namespaces -> mounts by the labelled first process -> exec of isoinit -> rules installed
 *and read back -> kernel SEAL -> ready. iso_sandbox_start() lets isoinit run the entry command.
 *
 * Every step is undone in reverse when a later one fails; the error names the step.
 */
#ifndef ISO_SANDBOX_SANDBOX_H
#define ISO_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "kernel/kernel.h"
#include "manifest/manifest.h"
#include "policy/policy.h"

struct iso_sandbox_caller {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t group_count;
};

/* All of it is borrowed until iso_sandbox_create() returns. */
struct iso_sandbox_request {
	const struct iso_manifest *manifest;
	const struct iso_policy *policy;
	struct iso_kernel *kernel; /* NULL only in tests of what needs no BPF */
	uint64_t sandbox;	   /* id, unique for this boot, never 0 */
	const char *name;	   /* run id; becomes the cgroup's name */
	struct iso_sandbox_caller caller;
	/*
	 * Opened by the caller with its own rights: one per ISO_TREE_HOST tree in policy order
	 * (readable directory or file; O_PATH|O_NOFOLLOW for a symbolic link), one per input
	 * (readable directory). Checked again here: type, access mode, mount namespace.
	 */
	const int *host_fds;
	const int *input_fds;
	char *const *argv;	  /* the entry command; argv[0] is looked up in PATH inside */
	char *const *environment; /* whole environment of the entry command, NULL-terminated */
	int stdio[3];		  /* ends of isod's pipes; -1: /dev/null */
	int isoinit_fd;		  /* sealed memfd holding isoinit */
	int cancel_fd;		  /* readable: give up (-ECANCELED) */
	uint64_t deadline_ns;	  /* CLOCK_MONOTONIC: give up (-ETIMEDOUT) */
};

struct iso_sandbox_handle;

int iso_sandbox_create(const struct iso_sandbox_request *request, struct iso_sandbox_handle **ret,
		       struct iso_error *e);

/* What isoinit says on the control descriptor (SOCK_SEQPACKET), decoded. */
enum iso_init_message_kind {
	ISO_INIT_STARTED,     /* the entry command was executed; pid = as seen on the host, or 0 */
	ISO_INIT_EXEC_FAILED, /* value = errno of the exec (ENOENT 127, else 126); then ENDED */
	ISO_INIT_SURVIVOR,    /* a process whose parent had ended was killed: pid, text = comm */
	ISO_INIT_WALL,	      /* the wall limit was reached; value = ms */
	ISO_INIT_ENDED,	      /* the entry command ended: value = wait status; nothing else lives */
	ISO_INIT_LISTENER,    /* iso_sandbox_listener() is there; comes before STARTED */
	ISO_INIT_UNANSWERED,  /* nobody answered a refused call: everything is killed */
};

struct iso_init_message {
	enum iso_init_message_kind kind;
	int32_t value;
	int32_t pid; /* inside */
	char text[64];
};

/* The control descriptor, for epoll. It reads EOF when isoinit is gone. */
int iso_sandbox_control_fd(const struct iso_sandbox_handle *h);
/*
 * 1 and *ret, 0 on EOF, -EAGAIN, other negative errno. Also answers isoinit's question for a sign
 * of life: whoever calls this must serve the listener too.
 */
int iso_sandbox_receive(struct iso_sandbox_handle *h, struct iso_init_message *ret);

/*
 * The listener of the task's filter, for epoll and iso_notify_take(); -1: not there (yet). It
 * belongs to the handle.
 */
int iso_sandbox_listener(const struct iso_sandbox_handle *h);

int iso_sandbox_start(struct iso_sandbox_handle *h);	       /* run the entry command now */
int iso_sandbox_terminate(struct iso_sandbox_handle *h);       /* TERM now, KILL after the grace */
int iso_sandbox_signal(struct iso_sandbox_handle *h, int sig); /* forwarded to the entry command */
int iso_sandbox_kill(struct iso_sandbox_handle *h);	       /* cgroup.kill */

int iso_sandbox_pidfd(const struct iso_sandbox_handle *h); /* of isoinit */
uint64_t iso_sandbox_cgroup_id(const struct iso_sandbox_handle *h);

/* Counters of the cgroup, read before it goes. */
struct iso_sandbox_usage {
	uint64_t memory_peak; /* bytes; 0 where the kernel (6.1) does not say */
	uint64_t cpu_usec;
	uint64_t throttled_usec;
	uint64_t pids_max_hits; /* forks refused by pids.max */
	uint64_t oom_kills;
	uint64_t memory_max_hits;
	uint64_t pids_peak;
};
int iso_sandbox_usage(struct iso_sandbox_handle *h, struct iso_sandbox_usage *ret);

/* Digest over the rules as the kernel answered them; equals policy->digest or creation failed. */
const uint8_t *iso_sandbox_policy_digest(const struct iso_sandbox_handle *h);

/*
 * Ends what still lives, waits for `populated 0`, removes cgroup, kernel state, mounts, slot, each
 * step retried. 0 when nothing is left (settled), else the first error with the step. Frees h.
 */
int iso_sandbox_destroy(struct iso_sandbox_handle *h, struct iso_error *e);

#endif
