/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring of io_uring by raw system calls, for one request at a time. */
#ifndef ISO_PROBE_URING_H
#define ISO_PROBE_URING_H

#include <linux/io_uring.h>
#include <stdint.h>

/* Of kernels younger than Debian 12's headers. */
#define URING_OP_INSTALL      54
#define URING_OP_FTRUNCATE    55
#define URING_OP_BIND	      56
#define URING_OP_LISTEN	      57
#define URING_OP_WIDE_COMMAND 64

struct uring {
	int fd;
	struct io_uring_params params;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	unsigned char request_flags; /* IOSQE_ASYNC: by a worker thread */
	unsigned stride;	     /* entries of sqes that one request takes */
};

/* How: "inline", "worker", "sqpoll" or "wide" (requests of 128 bytes). 0, errno of the set-up, or
 * -1 when the mapping fails. */
int uring_open(struct uring *r, const char *how);
/* Submits one request, waits for it: its result, a negative errno when it failed. */
int uring_do(struct uring *r, const struct io_uring_sqe *request);
void uring_close(struct uring *r);

#endif
