/* SPDX-License-Identifier: BSD-2-Clause */
#include "uring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES 8

static void *map(const struct uring *r, size_t size, off_t what)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, what);

	return at == MAP_FAILED ? NULL : at;
}

static int map_all(struct uring *r)
{
	const struct io_uring_params *p = &r->params;
	char *sq = map(r, p->sq_off.array + p->sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	char *cq = map(r, p->cq_off.cqes + p->cq_entries * sizeof *r->cqes, IORING_OFF_CQ_RING);

	r->sqes = map(r, p->sq_entries * r->stride * sizeof *r->sqes, IORING_OFF_SQES);
	if (!sq || !cq || !r->sqes)
		return -1;
	r->sq_tail = (unsigned *)(void *)(sq + p->sq_off.tail);
	r->sq_mask = (unsigned *)(void *)(sq + p->sq_off.ring_mask);
	r->sq_array = (unsigned *)(void *)(sq + p->sq_off.array);
	r->cq_head = (unsigned *)(void *)(cq + p->cq_off.head);
	r->cq_tail = (unsigned *)(void *)(cq + p->cq_off.tail);
	r->cq_mask = (unsigned *)(void *)(cq + p->cq_off.ring_mask);
	r->cqes = (struct io_uring_cqe *)(void *)(cq + p->cq_off.cqes);
	return 0;
}

int uring_open(struct uring *r, const char *how)
{
	memset(r, 0, sizeof *r);
	r->stride = 1;
	if (!strcmp(how, "wide")) {
		r->params.flags = IORING_SETUP_SQE128;
		r->stride = 2;
	}
	if (!strcmp(how, "sqpoll"))
		r->params.flags = IORING_SETUP_SQPOLL;
	if (!strcmp(how, "worker"))
		r->request_flags = IOSQE_ASYNC;
	r->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &r->params);
	if (r->fd < 0)
		return errno;
	return map_all(r);
}

int uring_do(struct uring *r, const struct io_uring_sqe *request)
{
	unsigned tail = *r->sq_tail, head = *r->cq_head, at = tail & *r->sq_mask;
	unsigned flags = IORING_ENTER_GETEVENTS, many = 1;
	int result;

	r->sqes[at * r->stride] = *request;
	r->sqes[at * r->stride].flags |= r->request_flags;
	r->sq_array[at] = at;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (r->params.flags & IORING_SETUP_SQPOLL)
		flags |= IORING_ENTER_SQ_WAKEUP;
	while (__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) == head) {
		if (syscall(SYS_io_uring_enter, r->fd, many, 1, flags, NULL, 0) < 0 &&
		    errno != EINTR)
			return -errno;
		many = 0;
	}
	result = r->cqes[head & *r->cq_mask].res;
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

void uring_close(struct uring *r)
{
	close(r->fd);
}
