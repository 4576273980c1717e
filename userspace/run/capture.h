/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manifest, captured: parsed, checked, compiled and frozen together with who submitted it. What
 * is captured is what runs; nothing of it is read again from anywhere.
 */
#ifndef ISO_RUN_CAPTURE_H
#define ISO_RUN_CAPTURE_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "manifest/manifest.h"
#include "policy/policy.h"
#include "run/ids.h"
#include "run/outcome.h"

#define ISO_CALLER_GROUPS_MAX 1024

struct iso_caller {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_count;
};

struct iso_capture {
	struct iso_manifest *manifest;
	struct iso_policy *policy;
	char **argv;
	char **environment;
	char manifest_sha256[65];
	struct iso_caller caller; /* its groups are a copy */
	uint64_t time_ms;
	uint32_t attempt;
	uint64_t sandbox;
	char run[ISO_RUN_ID_MAX];
};

struct iso_capture_request {
	const char *manifest;
	size_t size;
	json_t *command;     /* array of strings; empty: the manifest's */
	json_t *environment; /* object of strings */
	const struct iso_caller *caller;
};

/*
 * Parses, checks and compiles; takes no attempt and makes no name yet, so that everything that can
 * be refused is refused before {task, attempt} is used up. *findings is filled when the manifest
 * is not valid (f->class ISO_CLASS_MANIFEST).
 */
int iso_capture_new(const struct iso_capture_request *request, struct iso_capture **ret,
		    struct iso_findings *findings, struct iso_failure *f);

/* Takes the attempt (state_fd: its directory) and the names (run_fd: where next-id is). */
int iso_capture_commit(struct iso_capture *c, int state_fd, int run_fd, struct iso_failure *f);

void iso_capture_free(struct iso_capture *c);

#endif
