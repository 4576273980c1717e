/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"

int iso_sandbox_id_next(int dirfd, uint64_t *ret)
{
	ISO_AUTO_CLOSE int fd =
		openat(dirfd, "next-id", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	char text[32] = "";
	struct timespec now;
	uint64_t last, id;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	n = pread(fd, text, sizeof text - 1, 0);
	if (n < 0)
		return -errno;
	last = strtoull(text, NULL, 10);
	clock_gettime(CLOCK_BOOTTIME, &now);
	id = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (id <= last)
		id = last + 1;
	n = snprintf(text, sizeof text, "%020" PRIu64 "\n", id);
	if (pwrite(fd, text, (size_t)n, 0) != n)
		return -EIO;
	*ret = id;
	return 0;
}

int iso_run_id_make(const char *task, uint32_t attempt, char out[ISO_RUN_ID_MAX])
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	unsigned char random[6];
	char tail[sizeof random + 1] = "";
	int n;

	if (getrandom(random, sizeof random, 0) != sizeof random)
		return -errno;
	for (size_t i = 0; i < sizeof random; i++)
		tail[i] = digits[random[i] % 32];
	n = snprintf(out, ISO_RUN_ID_MAX, "%s-%" PRIu32 "-%s", task, attempt, tail);
	return n < 0 || n >= ISO_RUN_ID_MAX ? -ENAMETOOLONG : 0;
}
