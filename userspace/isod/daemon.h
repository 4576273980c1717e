/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent: one epoll loop that owns everything here. Callers speak Varlink on a stream socket
 * (run/io.isoctl.Agent.varlink); whatever they send is bounded, and none of them can make the loop
 * wait.
 */
#ifndef ISO_ISOD_DAEMON_H
#define ISO_ISOD_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "run/idl.h"
#include "run/loop.h"
#include "run/supervise.h"
#include "run/varlink.h"

#define ISO_LISTENERS_MAX	 4
#define ISO_CONNECTIONS_MAX	 1024 /* of which the last 64 are root's */
#define ISO_CONNECTIONS_PER_USER 64
#define ISO_RUNS_PER_USER	 64 /* at once; root: ISO_RUNS_MAX */
#define ISO_RUNS_MAX		 1024
#define ISO_RULES_PER_USER	 100000u /* at once, in all of its runs */
#define ISO_RULES_AT_ONCE	 500000u /* of all callers: iso_maps.bpf.h has room for so many */
#define ISO_ABSENT_PER_USER	 49152u	 /* paths of assert_absent, the same; they are rules too */
#define ISO_ABSENT_AT_ONCE	 65536u

struct iso_daemon;

struct iso_listener {
	struct iso_source source;
	struct iso_daemon *daemon;
	int fd;
};

struct iso_call {
	const struct iso_idl *interface;
	const struct iso_idl_member *method;
	bool oneway, more;
};

struct iso_connection {
	struct iso_source source;
	struct iso_connection *next;
	struct iso_daemon *daemon;
	struct iso_varlink_stream *stream;
	struct iso_caller caller;
	bool allowed; /* may call more than GetInfo */
	bool private; /* the socket that a private isod was started on */
	bool dead;    /* closed; freed at the end of the round */
	uint32_t events;
	uint64_t active_ns; /* when the peer last said something whole */
	uint64_t began_ns;  /* when a message began that has not ended; 0: none */

	struct iso_call call;		 /* what replies belong to at this moment */
	struct iso_call due;		 /* the Launch or Wait that these are of: */
	struct iso_supervised *launched; /* a Launch whose last reply is due */
	struct iso_supervised *awaited;	 /* a Wait whose reply is due */

	/* a call that has to wait until those are answered */
	json_t *held;
	struct iso_fds held_fds;
};

struct iso_daemon_options {
	const char *run_directory;   /* sockets, locks, ids */
	const char *state_directory; /* attempts */
	const char *log_directory;   /* events */
	const char *socket;	     /* NULL: in the run directory */
	const char *ceiling;	     /* NULL: ISO_CEILING_PATH */
	int private_fd;		     /* -1: a daemon */
};

struct iso_daemon {
	struct iso_loop loop;
	struct iso_workers workers;
	struct iso_supervise_host host;
	struct iso_supervised *runs;
	struct iso_connection *connections;
	struct iso_listener listeners[ISO_LISTENERS_MAX];
	size_t listener_count;
	struct iso_idl *agent, *service;
	int run_fd, state_fd;
	const char *ceiling_path;
	int signal_fd;
	struct iso_source signals;
	bool ending;  /* told to: every run ends, then the daemon */
	bool leaving; /* a private one, whose first connection has gone: it ends with the others */
	struct iso_failure refusal; /* why nothing can be launched here; class NONE: it can */
	long member_gid;	    /* of group isoctl; -1: there is none */
	struct utsname uname;
	char machine_id[33];
	int lock_fd;
	struct iso_source ring; /* wakes the loop for attempts at the enforcement */
	bool host_run;		/* the stream has a run for them */
	char socket_path[108];	/* unlinked at the end; empty: not ours */
};

/* setup.c */
int iso_daemon_prepare(struct iso_daemon *d, const struct iso_daemon_options *o,
		       struct iso_error *e);
int iso_daemon_listen(struct iso_daemon *d, int fd);
/* Binds `path` when nobody answers there. -EADDRINUSE: somebody does. */
int iso_daemon_bind(struct iso_daemon *d, const char *path, struct iso_error *e);

/* guard.c: locks it and listens to what it refuses; then its methods. */
int iso_daemon_guard(struct iso_daemon *d, struct iso_error *e);
/* A record of the ring; false: it is not the guard's. */
bool iso_daemon_tampered(struct iso_daemon *d, const void *data, size_t size);
/* Ends the run of what happened outside of sandboxes. */
void iso_daemon_guard_end(struct iso_daemon *d);
void iso_guard_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds);
void iso_release_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds);

/* isoinit.c: copies the isoinit beside this program into a sealed memfd. */
int iso_isoinit_open(int *ret, struct iso_error *e);

/* peer.c */
int iso_peer_read(int fd, struct iso_caller *ret);
bool iso_peer_member(const struct iso_daemon *d, const struct iso_caller *caller);
/*
 * May this caller seal this manifest here and now: within the ceiling, its sums, and what one
 * caller may have at once? Findings come with ISO_CLASS_CEILING.
 */
int iso_peer_may_seal(struct iso_daemon *d, const struct iso_capture *c,
		      struct iso_findings *findings, struct iso_failure *f);

/* connection.c */
int iso_connection_new(struct iso_daemon *d, int fd, bool private);
void iso_connection_close(struct iso_connection *c);
void iso_connection_free(struct iso_connection *c);
void iso_connection_tick(struct iso_connection *c, uint64_t now);
/* Takes over the parameters. fds are taken over too. */
void iso_reply(struct iso_connection *c, json_t *parameters, bool continues, const int *fds,
	       size_t fd_count);
/* `error` is a member of the interface that was called. */
void iso_reply_error(struct iso_connection *c, const char *error, json_t *parameters);
void iso_reply_failure(struct iso_connection *c, const struct iso_failure *f);
/* Goes on with a call that had to wait. */
void iso_connection_resume(struct iso_connection *c);

/* methods.c */
typedef void (*iso_method_fn)(struct iso_connection *c, json_t *parameters, struct iso_fds *fds);
/* NULL: the interface has no such method. takes_fds: descriptors may come with it. */
iso_method_fn iso_method_find(const char *interface, const char *name, bool *ret_takes_fds);
json_t *iso_features_json(void);
void iso_daemon_changed(void *context, struct iso_supervised *run);

/* daemon.c */
struct iso_supervised *iso_daemon_run_of(struct iso_daemon *d, uint64_t sandbox);
bool iso_daemon_any_live(const struct iso_daemon *d);
void iso_daemon_drain(void *context);
/* Serves until it is told to end and nothing is left to end. 0 or a negative errno. */
int iso_daemon_serve(struct iso_daemon *d);
void iso_daemon_free(struct iso_daemon *d);

#endif
