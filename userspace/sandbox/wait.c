/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "sandbox/raw.h"

uint64_t iso_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int wait_fd(const struct iso_build *b, int fd, short events, bool block)
{
	for (;;) {
		struct pollfd p[2] = {{.fd = b->q->cancel_fd, .events = POLLIN},
				      {.fd = fd, .events = events}};
		uint64_t now = iso_now_ns(), left = 0;
		int r;

		if (b->q->deadline_ns > now)
			left = (b->q->deadline_ns - now) / 1000000 + 1;
		if (left > INT_MAX)
			left = INT_MAX;
		r = poll(p, 2, block ? (int)left : 0);
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0 && p[0].revents)
			return -ECANCELED;
		if (r > 0 && p[1].revents)
			return 0;
		if (iso_now_ns() >= b->q->deadline_ns)
			return -ETIMEDOUT;
		if (!block)
			return 0;
	}
}

int iso_build_wait(const struct iso_build *b, int fd, short events)
{
	return wait_fd(b, fd, events, true);
}

int iso_build_alive(const struct iso_build *b)
{
	return wait_fd(b, -1, 0, false);
}

int iso_reap(int pidfd, int timeout_ms, int *ret_status)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	siginfo_t info = {0};
	int r;

	do
		r = poll(&p, 1, timeout_ms);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	if (r == 0)
		return -ETIMEDOUT;
	/* __WALL: these children have no exit signal, so that no other waitpid() takes them */
	if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) < 0)
		return -errno;
	if (ret_status)
		*ret_status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8
							 : info.si_status & 0x7f;
	return 0;
}
