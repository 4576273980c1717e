/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Link-time stand-ins for the sandbox and kernel layers, so that the agent runs where no BPF can be
 * loaded. A "sandbox" is a child process that runs the entry command as it is, unless argv[0] is
 * one of these words:
 *
 *	fail-setup	iso_sandbox_create() fails at step "cgroup"
 *	fail-snapshot	... at step "snapshot"
 *	slow-setup	... waits until it is told to give up
 *	not-there	the exec fails with ENOENT
 *	not-allowed	... with EACCES
 *	wall		the wall limit is reached at once
 *	oom		the cgroup is killed for memory
 *	lost		isoinit is gone without a word
 *	survivor	one survivor is reported, then it exits 0
 *	stays		destroying it fails
 *	torn		the kernel side says that an object with a rule is gone, then it sleeps
 *	unlabelled	... that a task could not be labelled
 *	unanswered	... nothing any more
 *	violates	a refused file operation is reported as it starts, then it sleeps
 */
#ifndef ISO_TESTS_FAKE_HOST_H
#define ISO_TESTS_FAKE_HOST_H

#include <sys/types.h>
#include "isod/daemon.h"

struct fake_agent {
	char directory[64];
	char socket[96];
	pid_t pid;
};

/* Starts a daemon over the fakes in a child process, listening below a new directory. */
void fake_agent_start(struct fake_agent *a, long member_gid);
/* A new connection to it, the caller's to free; a test without one ends at once. */
struct iso_client *fake_agent_join(const struct fake_agent *a);
/* Sends SIGTERM unless it has ended; returns its wait status (leaks and faults make it non-zero).
 */
int fake_agent_end(struct fake_agent *a);

/* A valid manifest whose members may be replaced: "" or `, "response": {...}` and so on. */
char *fake_manifest(const char *task, const char *limits, const char *more);

#endif
