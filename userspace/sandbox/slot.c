/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots of ids: 4096 ranges of 65,536, from 0x70000000 to 2^31 - 1, above what systemd-nspawn
 * takes and below what some programs read as negative. One byte of a file stands for each, and an
 * open-file-description lock on it for its use: isoinit inherits the description, so a slot comes
 * free when isod and isoinit are both gone, whoever dies first. All storage of a slot is memory
 * that goes with its mount namespace: no file of a former owner remains.
 */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/io.h"

#define SUBIDS_MAX (1u << 20)

bool iso_slot_overlaps(const char *subids, uint64_t start)
{
	for (const char *line = subids; line && *line; line = strchr(line, '\n')) {
		const char *colon;
		char *end;
		uint64_t first, count;

		line += *line == '\n';
		colon = memchr(line, ':', strcspn(line, "\n"));
		if (*line == '#' || !colon)
			continue;
		first = strtoull(colon + 1, &end, 10);
		if (*end != ':')
			continue;
		count = strtoull(end + 1, NULL, 10);
		if (first < start + ISO_SLOT_SIZE &&
		    (count > UINT64_MAX - first || first + count > start))
			return true;
	}
	return false;
}

static int open_slots(struct iso_build *b)
{
	const char *path = b->seams->slots;
	int fd;

	if (!path) {
		path = ISO_SLOTS_PATH;
		if (mkdir("/run/isoctl", 0755) < 0 && errno != EEXIST)
			return iso_step_error(b, -errno, SLOT, "isod needs to write to /run",
					      "cannot make /run/isoctl: %m");
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return iso_step_error(b, -errno, SLOT, "isod needs to write to /run",
				      "cannot open the table of id ranges %s: %m", path);
	return fd;
}

/* 0: ours; -EAGAIN: somebody else's */
static int try_slot(int fd, unsigned slot)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};

	if (fcntl(fd, F_OFD_SETLK, &l) == 0)
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}

int iso_slot_take(struct iso_build *b)
{
	static atomic_uint next; /* a slot just freed is the last to be used again */
	ISO_AUTO_FREE char *uids = NULL, *gids = NULL;
	ISO_AUTO_CLOSE int fd = -1;
	int r;

	ISO_FAULT_POINT(b, SLOT);
	fd = open_slots(b);
	if (fd < 0)
		return fd;
	r = iso_read_file(AT_FDCWD, "/etc/subuid", SUBIDS_MAX, &uids, NULL);
	if (r == 0 || r == -ENOENT)
		r = iso_read_file(AT_FDCWD, "/etc/subgid", SUBIDS_MAX, &gids, NULL);
	if (r < 0 && r != -ENOENT)
		return iso_step_error(b, r, SLOT, NULL,
				      "cannot read /etc/subuid and /etc/subgid: %m");
	for (unsigned n = 0; n < ISO_SLOTS; n++) {
		unsigned slot = atomic_fetch_add(&next, 1) % ISO_SLOTS;
		uint32_t base = ISO_SLOT_BASE + slot * ISO_SLOT_SIZE;

		if (iso_slot_overlaps(uids, base) || iso_slot_overlaps(gids, base))
			continue;
		r = try_slot(fd, slot);
		if (r == -EAGAIN)
			continue;
		if (r < 0)
			return iso_step_error(b, r, SLOT, NULL, "cannot lock an id range: %m");
		b->h->slot = slot;
		b->h->base = base;
		b->h->slot_fd = iso_take_fd(&fd);
		return 0;
	}
	iso_step_error(b, -EAGAIN, SLOT, "wait for sandboxes to end", "all %u id ranges are in use",
		       ISO_SLOTS);
	return iso_error_retryable(b->e, -EAGAIN);
}
