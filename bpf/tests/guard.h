/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the suites of the guard share: who attacks, and what is said about it. */
#ifndef ISO_TEST_GUARD_H
#define ISO_TEST_GUARD_H

#include "iso_abi.h"
#include "rig.h"

#define GUARD_TAMPERS 8192u

/* A list of others' programs that does not exist: nothing is listed. */
#define GUARD_NO_LIST "/nonexistent"

extern struct iso_tamper guard_tampers[GUARD_TAMPERS];
/* Attempts told of since the last call. */
size_t guard_read(void);

bool guard_lock(void);
bool guard_release(void);

/* What the attacker writes for the test to read. */
struct guard_answers {
	int pid;
	int count;
	int errors[4096];
};
extern struct guard_answers *guard_answers;
/* Adds the errno of a call, 0 when it succeeded. Returns it. */
int guard_answer(long result);

/*
 * Runs the body as root in a fork of the agent, which is nobody: without a descriptor above 2, or
 * with all that were inherited. True when it came to its end.
 */
bool guard_outside(void (*body)(void));
bool guard_inheriting(void (*body)(void));

/* Every answer is `want`, and there are `count`. */
bool guard_all(const char *what, int count, int want);
/* Exactly `count` attempts were told of, all by the last attacker, by this hook, about this. */
bool guard_told(const char *what, size_t count, uint32_t hook, uint32_t object);

#endif
