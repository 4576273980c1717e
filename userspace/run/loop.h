/* SPDX-License-Identifier: BSD-2-Clause */
/* One epoll instance and what hangs on it; blocking work goes to threads and comes back here. */
#ifndef ISO_RUN_LOOP_H
#define ISO_RUN_LOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "run/clock.h"

/* First member of whatever owns the descriptor. */
struct iso_source {
	void (*ready)(struct iso_source *source, uint32_t events);
};

#define ISO_LOOP_BATCH 64

struct iso_loop {
	int epoll;
	struct epoll_event batch[ISO_LOOP_BATCH];
	int at, count; /* of the batch that is being dispatched */
};

int iso_loop_open(struct iso_loop *loop);
void iso_loop_close(struct iso_loop *loop);
int iso_loop_add(struct iso_loop *loop, int fd, uint32_t events, struct iso_source *source);
int iso_loop_change(struct iso_loop *loop, int fd, uint32_t events, struct iso_source *source);
/* Also takes it out of the batch that is being dispatched: the owner may be freed at once. */
void iso_loop_remove(struct iso_loop *loop, int fd, struct iso_source *source);
/* Waits at most timeout_ms (-1: for ever) and dispatches one batch. 0 or a negative errno. */
int iso_loop_once(struct iso_loop *loop, int timeout_ms);

/* A piece of blocking work. `work` runs on a thread of its own, then `done` in the loop. */
struct iso_job {
	void (*work)(struct iso_job *job);
	void (*done)(struct iso_job *job);
	struct iso_job *next;
	struct iso_workers *workers;
};

struct iso_workers {
	struct iso_source source;
	struct iso_loop *loop;
	int event;
	pthread_mutex_t lock;
	struct iso_job *finished;
	unsigned busy; /* jobs whose `done` has not run; the loop's thread only */
};

int iso_workers_open(struct iso_workers *w, struct iso_loop *loop);
void iso_workers_close(struct iso_workers *w);
/* -EAGAIN: no thread could be had. */
int iso_workers_start(struct iso_workers *w, struct iso_job *job);

#endif
