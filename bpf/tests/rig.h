/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sandbox without namespaces: a bound cgroup, this program as its launcher, and rules on the
 * guest's own tree. What is asked of it is done by a program of the sandbox (inside.c); the answer
 * is the errno that it got.
 */
#ifndef ISO_RIG_H
#define ISO_RIG_H

#include <stdint.h>
#include <sys/types.h>

#include "check.h"
#include "iso_abi.h"
#include "kernel/kernel.h"

#define RIG_RATE    10000u /* events per second: nothing is lost unless a test wants it */
#define RIG_BASE    1u	   /* rule on "/", everything: what a case adds is deeper */
#define RIG_EVENTS  4096u
#define RIG_UNKNOWN (-1) /* no answer came */

struct rig {
	uint64_t id;
	char cgroup[64];
	int cgroup_fd;
	pid_t init;
	int commands, answers, go;
};

/* One for the program; the agent is this process. */
extern struct iso_kernel *rig_kernel;

/* Each step is a check of the case; false: the rest has no meaning. */
bool rig_begin(struct rig *r, uint32_t flags, uint32_t rate);
bool rig_launch(struct rig *r); /* first process, confirmed; it has become the launcher */
bool rig_rule(struct rig *r, const char *path, uint32_t rights, uint32_t rule);
bool rig_name(struct rig *r, const char *parent, const char *name, uint32_t rule);
bool rig_seal(struct rig *r);
/* begin, launch and the base rule; the case adds its own and seals. */
bool rig_prepare(struct rig *r, uint32_t flags, uint32_t rate);
/* Ends what lives, removes it, and checks that its count of tasks has come to 0. */
void rig_end(struct rig *r);

/* A number that no sandbox has had. */
uint64_t rig_new_id(void);
/* An empty cgroup of a new name below the guest's root, and its descriptor; -1. */
int rig_new_cgroup(char path[64]);
/* A process cloned into the cgroup; in the child 0. */
pid_t rig_clone_into(int cgroup_fd);
int rig_wait(pid_t pid);
/*
 * Waits (5 s at most) until the kernel says that the cgroup has no process. From 7.0 on that is
 * later than the reap: a dead task leaves its cgroup when it is switched away from for good.
 */
bool rig_emptied(const char *cgroup);

/* Does "VERB ARGUMENT..." (inside.c) in the sandbox: errno, 0, or RIG_UNKNOWN. */
int rig_ask(struct rig *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same without waiting for the answer. */
bool rig_tell(struct rig *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next answer of one that gives several; and the sign for one that waits. */
int rig_answer(struct rig *r);
void rig_go(struct rig *r);

struct iso_sandbox rig_counts(struct rig *r);
struct iso_account rig_account(struct rig *r);
/* All refusals, whatever became of them. */
uint64_t rig_denials(const struct iso_account *a);
/* Waits (5 s at most) until that many tasks are counted. */
bool rig_tasks(struct rig *r, uint64_t want);

/* Events since the last call. */
extern struct iso_event rig_events[RIG_EVENTS];
size_t rig_read_events(void);
/* The path of an event as text. */
const char *rig_path(const struct iso_event *e);

/* Files: an empty tmpfs at /tmp/rig, made anew; helpers that check. */
#define RIG_TREE "/tmp/rig"
bool rig_tree(void);
bool rig_file(const char *path);
bool rig_directory(const char *path);

/* Entry of the program as the launcher, and as a program of the sandbox. */
int inside_init(void);
int inside_verb(int argc, char **argv);

/* test_foreign.c: loads a program that decides, says so, and keeps it until its input ends. */
int rig_hold_foreign(void);

/* Tables of the test files. */
extern const struct iso_case rig_installer_cases[], rig_identity_cases[], rig_rule_cases[],
	rig_event_cases[], rig_backstop_cases[], rig_flood_cases[], rig_hostile_cases[],
	rig_cost_cases[];
extern const struct iso_case rig_guard_cases[], rig_lock_cases[], rig_foreign_cases[],
	rig_guard_process_cases[];
extern const size_t rig_guard_count, rig_lock_count, rig_foreign_count, rig_guard_process_count;
extern const size_t rig_installer_count, rig_identity_count, rig_rule_count, rig_event_count,
	rig_backstop_count, rig_flood_count, rig_hostile_count, rig_cost_count;

#endif
