/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/loop.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int iso_loop_open(struct iso_loop *loop)
{
	*loop = (struct iso_loop){.epoll = epoll_create1(EPOLL_CLOEXEC)};
	return loop->epoll < 0 ? -errno : 0;
}

void iso_loop_close(struct iso_loop *loop)
{
	if (loop->epoll >= 0)
		close(loop->epoll);
	loop->epoll = -1;
}

static int control(struct iso_loop *loop, int op, int fd, uint32_t events, struct iso_source *s)
{
	struct epoll_event event = {.events = events, .data.ptr = s};

	return epoll_ctl(loop->epoll, op, fd, &event) < 0 ? -errno : 0;
}

int iso_loop_add(struct iso_loop *loop, int fd, uint32_t events, struct iso_source *source)
{
	return control(loop, EPOLL_CTL_ADD, fd, events, source);
}

int iso_loop_change(struct iso_loop *loop, int fd, uint32_t events, struct iso_source *source)
{
	return control(loop, EPOLL_CTL_MOD, fd, events, source);
}

void iso_loop_remove(struct iso_loop *loop, int fd, struct iso_source *source)
{
	control(loop, EPOLL_CTL_DEL, fd, 0, NULL);
	for (int i = loop->at; i < loop->count; i++)
		if (loop->batch[i].data.ptr == source)
			loop->batch[i].data.ptr = NULL;
}

int iso_loop_once(struct iso_loop *loop, int timeout_ms)
{
	int n = epoll_wait(loop->epoll, loop->batch, ISO_LOOP_BATCH, timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	loop->count = n;
	for (loop->at = 0; loop->at < loop->count; loop->at++) {
		struct epoll_event *event = &loop->batch[loop->at];
		struct iso_source *source = event->data.ptr;

		if (source)
			source->ready(source, event->events);
	}
	loop->at = loop->count = 0;
	return 0;
}

static void collect(struct iso_source *source, uint32_t events)
{
	struct iso_workers *w = (struct iso_workers *)source;
	struct iso_job *job, *next;
	uint64_t count;

	(void)events;
	if (read(w->event, &count, sizeof count) < 0)
		return;
	pthread_mutex_lock(&w->lock);
	job = w->finished;
	w->finished = NULL;
	pthread_mutex_unlock(&w->lock);
	for (; job; job = next) {
		next = job->next;
		w->busy--;
		job->done(job);
	}
}

int iso_workers_open(struct iso_workers *w, struct iso_loop *loop)
{
	int r;

	*w = (struct iso_workers){.source.ready = collect,
				  .loop = loop,
				  .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (w->event < 0)
		return -errno;
	pthread_mutex_init(&w->lock, NULL);
	r = iso_loop_add(loop, w->event, EPOLLIN, &w->source);
	if (r < 0)
		close(w->event);
	return r;
}

void iso_workers_close(struct iso_workers *w)
{
	iso_loop_remove(w->loop, w->event, &w->source);
	close(w->event);
	pthread_mutex_destroy(&w->lock);
}

static void *thread(void *argument)
{
	struct iso_job *job = argument;
	struct iso_workers *w = job->workers;
	uint64_t one = 1;

	job->work(job);
	pthread_mutex_lock(&w->lock);
	job->next = w->finished;
	w->finished = job;
	/* Under the lock, so that nobody closes the descriptor in between. */
	while (write(w->event, &one, sizeof one) < 0 && errno == EINTR)
		;
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int iso_workers_start(struct iso_workers *w, struct iso_job *job)
{
	pthread_attr_t attributes;
	pthread_t id;
	int r;

	job->workers = w;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&id, &attributes, thread, job);
	pthread_attr_destroy(&attributes);
	if (r)
		return -r;
	w->busy++;
	return 0;
}
