/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "isod/daemon.h"

#define SECOND	    1000000000ull
#define HALF_LIMIT  (10 * SECOND)  /* for the rest of a message that has begun */
#define QUIET_LIMIT (300 * SECOND) /* without a call and without an answer that is due */

static void ready(struct iso_source *source, uint32_t events);

static unsigned connections_of(const struct iso_daemon *d, uid_t uid, unsigned *ret_all)
{
	unsigned own = 0;

	*ret_all = 0;
	for (const struct iso_connection *c = d->connections; c; c = c->next) {
		own += c->caller.uid == uid;
		++*ret_all;
	}
	return own;
}

static bool has_room(const struct iso_daemon *d, uid_t uid)
{
	unsigned all, own = connections_of(d, uid, &all);

	if (uid == 0)
		return all < ISO_CONNECTIONS_MAX;
	return own < ISO_CONNECTIONS_PER_USER && all < ISO_CONNECTIONS_MAX - 64;
}

int iso_connection_new(struct iso_daemon *d, int fd, bool private)
{
	struct iso_connection *c = calloc(1, sizeof *c);
	int r = c ? iso_peer_read(fd, &c->caller) : -ENOMEM;

	if (r == 0 && !has_room(d, c->caller.uid))
		r = -EUSERS;
	if (r == 0)
		r = iso_varlink_stream_new(fd, &c->stream);
	if (r < 0) {
		close(fd);
		if (c)
			free(c->caller.groups);
		free(c);
		return r;
	}
	c->source.ready = ready;
	c->daemon = d;
	c->private = private;
	c->allowed = iso_peer_member(d, &c->caller);
	c->active_ns = iso_monotonic_ns();
	c->events = EPOLLIN | EPOLLRDHUP;
	r = iso_loop_add(&d->loop, fd, c->events, &c->source);
	if (r < 0) {
		iso_connection_free(c);
		return r;
	}
	c->next = d->connections;
	d->connections = c;
	return 0;
}

void iso_connection_free(struct iso_connection *c)
{
	json_decref(c->held);
	iso_fds_close(&c->held_fds);
	iso_varlink_stream_free(c->stream);
	free(c->caller.groups);
	free(c);
}

/* The end of the connection that launched a run is the end of that run. */
void iso_connection_close(struct iso_connection *c)
{
	if (c->dead)
		return;
	c->dead = true;
	iso_loop_remove(&c->daemon->loop, iso_varlink_stream_fd(c->stream), &c->source);
	if (c->launched)
		iso_supervise_stop(c->launched, ISO_STOP_CANCELLED, false);
	c->launched = c->awaited = NULL;
}

/* ------------------------------------------------------------------------------ writing */

static void want(struct iso_connection *c, uint32_t events)
{
	if (c->events == events)
		return;
	c->events = events;
	iso_loop_change(&c->daemon->loop, iso_varlink_stream_fd(c->stream), events, &c->source);
}

static bool waiting(const struct iso_connection *c)
{
	return c->launched || c->awaited;
}

static void flush(struct iso_connection *c)
{
	int r = iso_varlink_stream_flush(c->stream);
	uint32_t events = EPOLLRDHUP;

	if (r < 0) {
		iso_connection_close(c);
		return;
	}
	if (!c->held)
		events |= EPOLLIN;
	if (r > 0)
		events |= EPOLLOUT;
	want(c, events);
}

static void send_message(struct iso_connection *c, json_t *message, const int *fds, size_t n)
{
	if (c->dead || !message) {
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
		iso_connection_close(c);
	} else if (iso_varlink_stream_queue(c->stream, message, fds, n) < 0) {
		iso_connection_close(c); /* too slow a reader, or no memory */
	} else {
		flush(c);
	}
	json_decref(message);
}

void iso_reply(struct iso_connection *c, json_t *parameters, bool continues, const int *fds,
	       size_t fd_count)
{
	char member[64];
	json_t *message;

	if (iso_idl_check(c->call.interface, c->call.method->out, parameters, member,
			  sizeof member) < 0) {
		iso_log_error("fault: reply to %s has a wrong %s", c->call.method->name, member);
		json_decref(parameters);
		parameters = NULL;
	}
	message = parameters ? json_pack("{s:o}", "parameters", parameters) : NULL;
	if (message && continues)
		json_object_set_new(message, "continues", json_true());
	if (c->call.oneway) {
		json_decref(message);
		for (size_t i = 0; i < fd_count; i++)
			close(fds[i]);
		return;
	}
	send_message(c, message, fds, fd_count);
}

static void reply_error(struct iso_connection *c, const struct iso_idl *interface,
			const char *error, json_t *parameters)
{
	char name[128];

	if (c->call.oneway) {
		json_decref(parameters);
		return;
	}
	snprintf(name, sizeof name, "%s.%s", iso_idl_name(interface), error);
	send_message(c, json_pack("{s:s, s:o}", "error", name, "parameters", parameters), NULL, 0);
}

void iso_reply_error(struct iso_connection *c, const char *error, json_t *parameters)
{
	reply_error(c, c->call.interface, error, parameters);
}

void iso_reply_failure(struct iso_connection *c, const struct iso_failure *f)
{
	bool permission = f->class == ISO_CLASS_PERMISSION;

	iso_reply_error(c, permission ? "NotPermitted" : "Failed",
			json_pack("{s:o}", "failure", iso_failure_json(f)));
}

static void service_error(struct iso_connection *c, const char *error, const char *member,
			  const char *value)
{
	reply_error(c, c->daemon->service, error,
		    member ? json_pack("{s:s}", member, value) : json_object());
}

/* ------------------------------------------------------------------------------ calls */

/* NULL, or the name of the first member of the envelope that is not as it must be. */
static const char *check_envelope(json_t *message)
{
	const char *name;
	json_t *value;

	json_object_foreach (message, name, value) {
		bool right = false;

		if (strcmp(name, "method") == 0)
			right = json_is_string(value);
		else if (strcmp(name, "parameters") == 0)
			right = json_is_object(value);
		else if (strcmp(name, "oneway") == 0 || strcmp(name, "more") == 0)
			right = json_is_boolean(value);
		if (!right)
			return name; /* `upgrade` too: this connection stays Varlink */
	}
	return json_object_get(message, "method") ? NULL : "method";
}

static void refuse_caller(struct iso_connection *c)
{
	struct iso_failure f = {0};

	iso_failure_set(&f, ISO_CLASS_PERMISSION, -EPERM, "caller",
			"ask root to add you: usermod -a -G isoctl USER, then log in again",
			"only root and members of group isoctl may use the agent");
	iso_reply_failure(c, &f);
}

/* Sets interface and method of the call, or answers why it cannot be. */
static bool resolve(struct iso_connection *c, const char *full)
{
	struct iso_daemon *d = c->daemon;
	const char *dot = strrchr(full, '.');
	const struct iso_idl *interface = NULL;
	char name[128];

	if (!dot || (size_t)(dot - full) >= sizeof name) {
		service_error(c, "InterfaceNotFound", "interface", "");
		return false;
	}
	snprintf(name, sizeof name, "%.*s", (int)(dot - full), full);
	if (strcmp(name, iso_idl_name(d->agent)) == 0)
		interface = d->agent;
	else if (strcmp(name, iso_idl_name(d->service)) == 0)
		interface = d->service;
	if (!interface) {
		service_error(c, "InterfaceNotFound", "interface", name);
		return false;
	}
	c->call.interface = interface;
	c->call.method = iso_idl_find(interface, ISO_IDL_METHOD, dot + 1);
	if (!c->call.method) {
		service_error(c, "MethodNotFound", "method", full);
		return false;
	}
	return true;
}

static void call(struct iso_connection *c, json_t *message, struct iso_fds *fds)
{
	const char *wrong = check_envelope(message);
	json_t *parameters = json_object_get(message, "parameters");
	json_t *empty = json_object();
	iso_method_fn method;
	char member[64];
	bool takes_fds;

	c->call.oneway = json_is_true(json_object_get(message, "oneway"));
	c->call.more = json_is_true(json_object_get(message, "more"));
	if (wrong) {
		service_error(c, "InvalidParameter", "parameter", wrong);
		goto out;
	}
	if (!resolve(c, json_string_value(json_object_get(message, "method"))))
		goto out;
	if (iso_idl_check(c->call.interface, c->call.method->in, parameters ? parameters : empty,
			  member, sizeof member) < 0) {
		service_error(c, "InvalidParameter", "parameter", member);
		goto out;
	}
	method = iso_method_find(iso_idl_name(c->call.interface), c->call.method->name, &takes_fds);
	if (!method)
		service_error(c, "MethodNotImplemented", "method", c->call.method->name);
	else if (fds->count && !takes_fds)
		service_error(c, "InvalidParameter", "parameter", "descriptors");
	else if (c->call.interface == c->daemon->agent && !c->allowed)
		refuse_caller(c);
	else
		method(c, parameters ? parameters : empty, fds);
out:
	iso_fds_close(fds);
	json_decref(empty);
}

/*
 * Calls are answered in order. While an answer is due only `oneway` calls are taken (a Cancel of
 * the run that is being launched); another waits, and nothing more is read.
 */
static void dispatch(struct iso_connection *c)
{
	while (!c->dead && !c->held) {
		struct iso_fds fds = {.count = 0};
		json_t *message = NULL;
		int r = iso_varlink_stream_next(c->stream, &message, &fds);

		if (r < 0) {
			iso_connection_close(c);
			return;
		}
		if (r == 0)
			break;
		c->active_ns = iso_monotonic_ns();
		c->began_ns = 0;
		if (waiting(c) && !json_is_true(json_object_get(message, "oneway"))) {
			c->held = message;
			c->held_fds = fds;
			want(c, c->events & ~(uint32_t)EPOLLIN);
			return;
		}
		call(c, message, &fds);
		json_decref(message);
	}
	if (!c->dead && iso_varlink_stream_pending(c->stream) && !c->began_ns)
		c->began_ns = iso_monotonic_ns();
}

void iso_connection_resume(struct iso_connection *c)
{
	json_t *message = c->held;
	struct iso_fds fds = c->held_fds;

	c->active_ns = iso_monotonic_ns();
	if (c->dead || waiting(c) || !message)
		return;
	c->held = NULL;
	c->held_fds.count = 0;
	call(c, message, &fds);
	json_decref(message);
	if (!c->dead)
		flush(c);
	dispatch(c);
}

static void ready(struct iso_source *source, uint32_t events)
{
	struct iso_connection *c = (struct iso_connection *)source;
	int r;

	if (events & EPOLLOUT)
		flush(c);
	if (!c->dead && (events & EPOLLIN) && !c->held) {
		r = iso_varlink_stream_read(c->stream);
		if (r == 1)
			dispatch(c);
		else if (r != -EAGAIN)
			iso_connection_close(c);
	}
	/* What was still readable is read first; the end itself shows as a read of nothing. */
	if (!c->dead && (events & (EPOLLERR | EPOLLHUP)) && !(events & EPOLLIN))
		iso_connection_close(c);
	if (!c->dead && (events & EPOLLRDHUP) && (c->held || !(events & EPOLLIN)))
		iso_connection_close(c);
}

void iso_connection_tick(struct iso_connection *c, uint64_t now)
{
	if (c->dead || c->private)
		return;
	if (c->began_ns && now > c->began_ns + HALF_LIMIT)
		iso_connection_close(c);
	else if (!waiting(c) && now > c->active_ns + QUIET_LIMIT)
		iso_connection_close(c);
}
