/* SPDX-License-Identifier: BSD-2-Clause */
/* The caller's end of the agent's socket. */
#ifndef ISO_RUN_CLIENT_H
#define ISO_RUN_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "run/outcome.h"
#include "run/varlink.h"

struct iso_client;

struct iso_client_options {
	const char *socket; /* NULL: ISO_AGENT_SOCKET */
	bool private;	    /* start an isod of our own, whether one runs or not */
	bool may_start;	    /* as root: start one when none answers */
};

/*
 * Connects; -ENOENT (class NO_AGENT) when nobody answers and none may be started. A private isod
 * is ended by the end of the connection.
 */
int iso_client_open(const struct iso_client_options *o, struct iso_client **ret,
		    struct iso_failure *f);
void iso_client_free(struct iso_client *c);
int iso_client_fd(const struct iso_client *c);

/* Sends a call of io.isoctl.Agent. Parameters and fds are taken over. */
enum {
	ISO_CALL_MORE = 1,
	ISO_CALL_ONEWAY = 2,
};
int iso_client_send(struct iso_client *c, const char *method, json_t *parameters, unsigned flags,
		    const int *fds, size_t n, struct iso_failure *f);

struct iso_client_reply {
	json_t *parameters; /* NULL when it failed */
	bool continues;
	struct iso_fds fds;
	json_t *findings; /* InvalidManifest: the list, else NULL */
};
void iso_client_reply_clear(struct iso_client_reply *r);

/*
 * Takes one reply. wait: until it is there; else -EAGAIN when it is not. A reply that is an error
 * is -EIO (-ENOENT for NoSuchRun) with *f; the agent's end is -ECONNRESET (class AGENT, or BUSY).
 */
int iso_client_receive(struct iso_client *c, bool wait, struct iso_client_reply *ret,
		       struct iso_failure *f);

/* Both, for calls with one reply and no descriptors. *ret: its parameters. */
int iso_client_call(struct iso_client *c, const char *method, json_t *parameters, json_t **ret,
		    struct iso_failure *f);

#endif
