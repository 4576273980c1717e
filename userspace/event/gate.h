/* SPDX-License-Identifier: BSD-2-Clause */
/* What gets into a run's stream: rate, first ones of a kind, and the kernel's numbering. */
#ifndef ISO_EVENT_GATE_H
#define ISO_EVENT_GATE_H

#include "event/run.h"

/* Records that pass whatever the rate, and may use the queue's reserve. */
bool iso_gate_must_pass(const struct iso_record *r);
/* Records whose repeats are held back and counted. */
bool iso_gate_collapses(const struct iso_record *r);
/* Takes a token, or passes the first of a kind (hook, reason, rule). t: CLOCK_MONOTONIC ns. */
bool iso_gate_admit(struct iso_run *run, const struct iso_record *r, uint64_t t);

/*
 * The kernel's number `sequence` has arrived. CPUs hand over out of order, so what was jumped over
 * is awaited for half a second. False: it had arrived before. *ret_lost: numbers given up because
 * more ranges are missing than can be awaited.
 */
bool iso_gate_arrive(struct iso_run *run, uint64_t sequence, uint64_t t, uint64_t *ret_lost);
/* The kernel has given out numbers up to `sequence`, and is done. How many were given up. */
uint64_t iso_gate_skip_to(struct iso_run *run, uint64_t sequence);
/* Finds the cause of losses that the kernel has told meanwhile. */
void iso_gate_attribute(struct iso_run *run);
/* Gives up what has been awaited until t: how many numbers. *next: when to ask again. */
uint64_t iso_gate_expire(struct iso_run *run, uint64_t t, uint64_t *next);

#endif
