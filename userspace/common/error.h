/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An error that reaches a person: what failed, at which step, and what to do about it. Functions
 * that can explain themselves take a `struct iso_error *` and fill it exactly once, where the
 * failure is understood; callers pass it on untouched. A function either fills it or logs, never
 * both.
 */
#ifndef ISO_COMMON_ERROR_H
#define ISO_COMMON_ERROR_H

#include <stdbool.h>

struct iso_error {
	char step[48];	   /* stable word of errors.def: "cgroup", "mount", "policy"... */
	char message[512]; /* one line, no newline; text from outside already escaped */
	char remedy[256];  /* what to do about it, or empty */
	bool retryable;	   /* would the same call, later, on this host, have a chance? */
};

/*
 * Fills *e (NULL is allowed) and returns `r`, a negative errno, so that
 * `return iso_error_set(e, r, "cgroup", "remedy", "cannot ...: %s", ...)` is one statement.
 * `%m` in the format prints -r.
 */
int iso_error_set(struct iso_error *e, int r, const char *step, const char *remedy,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Marks a failure as one that may pass when tried again (no memory, no free slot). Returns r. */
int iso_error_retryable(struct iso_error *e, int r);

#endif
