/* SPDX-License-Identifier: BSD-2-Clause */
/* The round: wait, dispatch, read the kernel's ring, look at the clock, sweep. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "isod/daemon.h"

#define SECOND	       1000000000ull
#define BUSY_ROUND_MS  50 /* the ring's wake-ups are adaptive: it is polled while runs live */
#define QUIET_ROUND_MS 1000
#define CAPTURED_LIMIT 60 /* s, until a launch */
#define SETTLED_KEEP   60 /* s, for Wait and Inspect */

struct iso_supervised *iso_daemon_run_of(struct iso_daemon *d, uint64_t sandbox)
{
	for (struct iso_supervised *run = d->runs; run; run = run->next)
		if (run->capture->sandbox == sandbox)
			return run;
	return NULL;
}

static int ring_record(void *context, const void *data, size_t size)
{
	struct iso_daemon *d = context;
	struct iso_event event;
	struct iso_record record;
	struct iso_supervised *run;

	if (iso_daemon_tampered(d, data, size))
		return 0;
	if (iso_event_decode(data, size, &event) < 0) {
		iso_stream_ring(d->host.events, data, size);
		return 0;
	}
	iso_stream_kernel_event(d->host.events, &event);
	run = iso_daemon_run_of(d, event.sandbox);
	if (!run)
		return 0;
	iso_record_from_event(&event, 0, &record);
	iso_supervise_violation(run, &record);
	return 0;
}

void iso_daemon_drain(void *context)
{
	struct iso_daemon *d = context;

	if (!d->host.kernel)
		return;
	iso_kernel_ring_consume(d->host.kernel, ring_record, d);
	iso_stream_flush(d->host.events);
}

static bool live(const struct iso_supervised *run)
{
	return run->life.state != ISO_STATE_RUN_SETTLED;
}

bool iso_daemon_any_live(const struct iso_daemon *d)
{
	for (const struct iso_supervised *run = d->runs; run; run = run->next)
		if (live(run))
			return true;
	return false;
}

static bool any_connection(const struct iso_daemon *d)
{
	for (const struct iso_connection *c = d->connections; c; c = c->next)
		if (!c->dead)
			return true;
	return false;
}

static bool awaited(const struct iso_daemon *d, const struct iso_supervised *run)
{
	for (const struct iso_connection *c = d->connections; c; c = c->next)
		if (c->launched == run || c->awaited == run)
			return true;
	return false;
}

static void stop_listening(struct iso_daemon *d)
{
	for (size_t i = 0; i < d->listener_count; i++) {
		iso_loop_remove(&d->loop, d->listeners[i].fd, &d->listeners[i].source);
		iso_close_fd(&d->listeners[i].fd);
	}
	d->listener_count = 0;
	if (d->socket_path[0])
		unlink(d->socket_path);
	d->socket_path[0] = '\0';
}

static void sweep(struct iso_daemon *d)
{
	uint64_t now_ms = iso_realtime_ms();

	for (struct iso_connection **at = &d->connections, *c; (c = *at);) {
		if (!c->dead) {
			at = &c->next;
			continue;
		}
		d->leaving |= c->private;
		*at = c->next;
		iso_connection_free(c);
	}
	if (d->leaving)
		stop_listening(d); /* whoever comes now starts an isod of its own */
	for (struct iso_supervised **at = &d->runs, *run; (run = *at);) {
		bool over =
			!live(run) && !awaited(d, run) &&
			(d->ending || d->leaving || now_ms > run->ended_ms + SETTLED_KEEP * 1000);

		if (!over) {
			at = &run->next;
			continue;
		}
		*at = run->next;
		iso_supervise_free(run);
	}
}

static void tick(struct iso_daemon *d)
{
	uint64_t now = iso_monotonic_ns(), now_ms = iso_realtime_ms();

	for (struct iso_supervised *run = d->runs; run; run = run->next) {
		if (run->life.state == ISO_STATE_RUN_CAPTURED &&
		    (d->ending || now_ms > run->capture->time_ms + CAPTURED_LIMIT * 1000))
			iso_supervise_stop(run, ISO_STOP_CANCELLED, false);
		iso_supervise_tick(run, now);
	}
	for (struct iso_connection *c = d->connections; c; c = c->next)
		iso_connection_tick(c, now);
	for (struct iso_connection *c = d->connections; c; c = c->next)
		if (!c->dead && c->held)
			iso_connection_resume(c);
}

static void end(struct iso_daemon *d)
{
	if (d->ending)
		return;
	d->ending = true;
	stop_listening(d);
	for (struct iso_supervised *run = d->runs; run; run = run->next)
		iso_supervise_stop(run, ISO_STOP_CANCELLED, false);
}

static void signalled(struct iso_source *source, uint32_t events)
{
	struct iso_daemon *d =
		(struct iso_daemon *)((char *)source - offsetof(struct iso_daemon, signals));
	struct signalfd_siginfo info;

	(void)events;
	while (read(d->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		iso_log_info("signal %u: ending", info.ssi_signo);
		end(d);
	}
}

static int watch_signals(struct iso_daemon *d)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->signal_fd < 0 || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	d->signals.ready = signalled;
	return iso_loop_add(&d->loop, d->signal_fd, EPOLLIN, &d->signals);
}

static int round_ms(struct iso_daemon *d)
{
	int due = d->host.events ? iso_stream_tick(d->host.events) : -1;
	int ms = iso_daemon_any_live(d)		? BUSY_ROUND_MS
		 : any_connection(d) || d->runs ? QUIET_ROUND_MS
						: -1;

	if (due >= 0 && (ms < 0 || due < ms))
		ms = due;
	return ms;
}

/* A private isod serves whoever joined it to the end, then leaves. */
static bool over(const struct iso_daemon *d)
{
	return (d->ending || (d->leaving && !any_connection(d))) && !iso_daemon_any_live(d) &&
	       d->workers.busy == 0;
}

int iso_daemon_serve(struct iso_daemon *d)
{
	int r = watch_signals(d);

	while (r == 0 && !over(d)) {
		r = iso_loop_once(&d->loop, round_ms(d));
		iso_daemon_drain(d);
		tick(d);
		sweep(d);
	}
	return r;
}

void iso_daemon_free(struct iso_daemon *d)
{
	for (struct iso_connection *c = d->connections, *next; c; c = next) {
		next = c->next;
		iso_connection_free(c);
	}
	for (struct iso_supervised *run = d->runs, *next; run; run = next) {
		next = run->next;
		iso_supervise_free(run);
	}
	stop_listening(d);
	iso_daemon_guard_end(d);
	if (d->host.kernel)
		iso_kernel_close(d->host.kernel);
	if (d->host.events)
		iso_stream_free(d->host.events);
	if (d->workers.loop)
		iso_workers_close(&d->workers);
	iso_loop_close(&d->loop);
	iso_idl_free(d->agent);
	iso_idl_free(d->service);
	iso_close_fd(&d->host.isoinit_fd);
	iso_close_fd(&d->signal_fd);
	iso_close_fd(&d->run_fd);
	iso_close_fd(&d->state_fd);
	iso_close_fd(&d->lock_fd); /* last: the next one may begin */
}
