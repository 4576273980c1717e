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
 */
#ifndef ISO_TESTS_FAKE_HOST_H
#define ISO_TESTS_FAKE_HOST_H

#include <stdint.h>

/* Puts a refusal of a file operation into the ring of the next poll. */
void fake_ring_denial(uint64_t sandbox, const char *path);

#endif
