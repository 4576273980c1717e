/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file sink: whole lines, appended to DIRECTORY/events.ndjson.
 *
 * Lines wait in a bounded queue and go out many at a time. A write that comes back short is undone
 * to the last whole line, and what is left waits; so do lines that a full or read-only disk does
 * not take. Nothing is dropped here: a line that finds the queue full is refused to the caller.
 *
 * Several writers may share a directory. Each takes DIRECTORY/.lock (0600: a reader of the events
 * cannot hold it) for the length of one write, and looks whether another
 * has rotated the file in the meantime.
 *
 * fdatasync: when a run ends, and otherwise at most once a second while there is something new. It
 * is what makes a record survive a power cut; one that was written and not yet synced survives the
 * death of every process.
 */
#ifndef ISO_EVENT_FILE_H
#define ISO_EVENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct iso_file {
	char *directory;
	int dir_fd, fd, lock_fd;
	uint64_t rotate_bytes;
	unsigned rotate_keep;
	size_t limit; /* bytes of the queue for ordinary lines */
	char *queue;
	size_t used, room;
	bool dirty; /* written since the last fdatasync */
	int error;  /* of the last try; 0: it worked */
	uint64_t write_failures, fsync_failures, rotations, written;
};

/* Makes the directory (0750) and the file (0640) when they are missing. */
int iso_file_open(struct iso_file *f, const char *directory, struct iso_error *e);
void iso_file_close(struct iso_file *f);

/* Is there room for one more line? Those that must not be lost may use a reserve. */
bool iso_file_has_room(const struct iso_file *f, bool must);
/* Appends line and a newline to the queue. -ENOMEM. */
int iso_file_put(struct iso_file *f, const char *line, size_t n);
/*
 * Writes what can be written. 0: the queue is empty now; else why not, f->error too. Waits as long
 * for another writer (-EBUSY: longer than that).
 */
int iso_file_flush(struct iso_file *f, int patience_ms);
int iso_file_sync(struct iso_file *f);

#endif
