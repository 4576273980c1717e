/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real sandboxes, without the kernel side: root, namespaces and a cgroup v2 hierarchy are enough.
 * Manifest and policy are made by hand, as small as a program can live with.
 */
#ifndef ISO_TEST_SANDBOX_FIXTURE_H
#define ISO_TEST_SANDBOX_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox/internal.h"
#include "sandbox/notify.h"

#define FIXTURE_TREES 16
#define FIXTURE_RULES 16

struct fixture {
	struct iso_manifest m;
	struct iso_policy p;
	struct iso_tree trees[FIXTURE_TREES];
	struct iso_policy_rule rules[FIXTURE_RULES];
	struct iso_input input;
	struct iso_scratch scratch;
	struct iso_sandbox_request q;
	struct iso_sandbox_seams seams;
	int host_fds[FIXTURE_TREES];
	int input_fd;
	int isoinit;
	int cancel[2];
	char cgroup[128];
	char slots[64];
	char source[64]; /* directory of the input on the host */
	char name[32];
	struct iso_error e;
};

/* What a run gave. */
struct outcome {
	char out[65536]; /* stdout and stderr */
	size_t size;
	int status; /* wait status of the entry command, -1: no ENDED */
	int exec_error;
	char stage[64];
	int survivors;
	char survivor[64]; /* comm of the last one */
	int wall;
	bool started;
	bool unanswered;
	unsigned refused;	      /* system calls */
	struct iso_refused_call call; /* the last of them */
};

int fixture_setup(void **state);
int fixture_teardown(void **state);

void fixture_host_tree(struct fixture *f, const char *path);
struct iso_tree *fixture_tree(struct fixture *f, enum iso_tree_kind kind, const char *path);
struct iso_policy_rule *fixture_rule(struct fixture *f, enum iso_rule_kind kind, const char *path);
/* A writable input at /work from f->source. */
void fixture_input(struct fixture *f);
/* Writes a file of the source; makes its directories. */
void fixture_source(struct fixture *f, const char *path, const char *text);

int fixture_create(struct fixture *f, struct iso_sandbox_handle **ret);
/* Creates, runs argv, collects, destroys. The create error is returned. */
int fixture_run(struct fixture *f, char *const *argv, struct outcome *o);
int fixture_shell(struct fixture *f, const char *script, struct outcome *o);
/* Collects until EOF of the control descriptor. */
void fixture_collect(struct iso_sandbox_handle *h, int out, struct outcome *o);
/* How many entries the cgroup directory has: 0 when everything was undone. */
int fixture_leftovers(const struct fixture *f);
int fixture_open_descriptors(void);

#endif
