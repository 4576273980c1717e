/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probe: a static program that runs inside a sandbox and tries one thing for each row of
 * cases.def. It throws away whatever a forbidden action returned and reports its errno alone.
 */
#ifndef ISO_PROBE_H
#define ISO_PROBE_H

#include <errno.h>
#include <stddef.h>

#define PROBE_ALLOWED 0 /* it worked, as expected */
#define PROBE_DENIED  1 /* denied with the expected errno */
#define PROBE_NOT_RUN 2 /* could not be run */
#define PROBE_UNLIKE  3 /* allowed or denied with another errno than expected */
#define PROBE_WORDS   6

/* Preparation failed: the case says nothing. */
#define CANNOT (-1)

/* The errno of an action that failed, else 0. */
static inline int probe_errno(long result)
{
	return result < 0 ? errno : 0;
}

/* Does the action, gives the errno it got, 0 when it worked, or CANNOT. words[] ends in NULLs. */
struct probe_verb {
	const char *name;
	int (*run)(char **words);
};

extern const struct probe_verb probe_file_verbs[], probe_open_verbs[], probe_tree_verbs[],
	probe_exec_verbs[], probe_net_verbs[], probe_unix_verbs[], probe_process_verbs[],
	probe_surface_verbs[], probe_mount_verbs[], probe_kernel_verbs[], probe_uring_verbs[],
	probe_state_verbs[], probe_limits_verbs[];

/* In no sandbox, as root: verbs prepare what a sandbox would refuse before their own call. */
extern int probe_outside;

/* Runs body in a child and gives what it returned (0..255), or CANNOT. */
int probe_in_child(int (*body)(void *), void *data);
/* SCM_RIGHTS: 0 or errno; the descriptor, or -1. */
int probe_send_descriptor(int socket, int fd);
int probe_receive_descriptor(int socket);
/* Writes a small file that may be executed; false when it cannot be made. */
int probe_copy(const char *from, const char *to);

#endif
