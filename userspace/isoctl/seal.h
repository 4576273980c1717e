/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of `isoctl seal`: the session with the agent, the result file, the account for people.
 */
#ifndef ISO_ISOCTL_SEAL_H
#define ISO_ISOCTL_SEAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "manifest/manifest.h"
#include "policy/policy.h"
#include "run/client.h"
#include "run/outcome.h"
#include "run/pump.h"

struct seal_options {
	const char *result; /* NULL: none */
	const char *socket; /* NULL: the usual one */
	const char *manifest;
	char **command; /* NULL-terminated; empty: the manifest's */
	bool json, quiet, private;
};

/* seal_result.c: FILE is written whole or not at all; a bad path refuses before anything starts. */
struct seal_file {
	int directory, fd;
	char name[256];	  /* final name in directory */
	char pending[64]; /* name of the unfinished file; empty: it has none */
};
int seal_file_open(const char *path, struct seal_file *ret, struct iso_failure *f);
int seal_file_commit(struct seal_file *file, json_t *document, struct iso_failure *f);
void seal_file_abandon(struct seal_file *file);

/* seal_session.c: one run, from Capture to its result. */
struct seal_session {
	const struct seal_options *options;
	const char *text; /* of the manifest */
	struct iso_manifest *manifest;
	struct iso_policy *policy;
	struct iso_client *client;
	char *run;	  /* once captured */
	char *sha256;	  /* of the manifest, once captured */
	json_t *result;	  /* once settled */
	json_t *findings; /* of the agent, when it found the manifest not valid */
	int attempt;
	bool launched, running;
	unsigned signals; /* that asked for an end */
	struct iso_pump pump;
	bool pumping;
};
int seal_session_run(struct seal_session *s, struct iso_failure *f);
void seal_session_free(struct seal_session *s);

/* seal_account.c: what happened, for people, on standard error. */
void seal_progress(const struct seal_session *s, const char *state);
void seal_account(const struct seal_session *s, json_t *result);
/* "isoctl: WHAT: step: message" and the remedy. */
void seal_say_failure(const char *what, const struct iso_failure *f);

#endif
