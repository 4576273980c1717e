/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event files as a reader sees them: from the oldest rotated one to the current one, and on
 * across rotation. Needs no more than libc.
 */
#ifndef ISO_EVENT_READ_H
#define ISO_EVENT_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

#define ISO_LINE_MAX (1u << 20) /* what is longer is handed out in pieces, and is no record */

struct iso_reader;

/*
 * Files below `directory`, or (directory NULL) the one file `path`. -ENOENT, -EACCES with *e. With
 * `follow` a current file that is not there yet is waited for.
 */
int iso_reader_open(const char *directory, const char *path, bool follow, struct iso_reader **ret,
		    struct iso_error *e);
void iso_reader_close(struct iso_reader *r);

/*
 * 1: *line (n bytes, without its newline, until the next call). 0: that is all for now; a last line
 * without a newline is not handed out, it is still being written. Negative errno.
 */
int iso_reader_next(struct iso_reader *r, const char **line, size_t *n);
/* At the end of a single file: what stands there without a newline. */
int iso_reader_rest(struct iso_reader *r, const char **line, size_t *n);
/* Waits until something has changed, at most this long; -EINTR on a signal. */
int iso_reader_wait(struct iso_reader *r, int timeout_ms);

#endif
