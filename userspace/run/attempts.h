/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attempts of this host: {task, attempt} is captured once, ever. One line each in a file that
 * only grows:
 *
 *	1 TASK ATTEMPT UNIX_MS MANIFEST_SHA256 UID end
 *
 * It is on disk (fsync) before a capture is answered. A writer that died leaves at most one torn
 * line at the end, which was never answered: the next writer cuts it off. Anything else that does
 * not read as a line is damage, and damage refuses every capture: an attempt must not be forgotten.
 */
#ifndef ISO_RUN_ATTEMPTS_H
#define ISO_RUN_ATTEMPTS_H

#include <stdint.h>
#include <sys/types.h>

#include "run/outcome.h"

#define ISO_ATTEMPTS_DIRECTORY "/var/lib/isoctl"
#define ISO_ATTEMPTS_FILE      "attempts"

struct iso_attempt {
	const char *task;
	uint32_t attempt; /* 0: the next free one of this task */
	uint64_t time_ms;
	const char *manifest_sha256; /* 64 hexadecimal digits */
	uid_t uid;
};

/*
 * Records it below dirfd and sets *ret to its number. -EEXIST: it was captured before. Blocks for
 * the file's lock and one fsync.
 */
int iso_attempts_capture(int dirfd, const struct iso_attempt *a, uint32_t *ret,
			 struct iso_failure *f);

#endif
