/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System call filters: two programs per task, of which the kernel takes the stricter answer. The
 * first refuses by argument, the second is the allow-list (syscalls.def).
 */
#ifndef ISO_SANDBOX_SECCOMP_H
#define ISO_SANDBOX_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/filter.h>

#include "common/error.h"
#include "manifest/manifest.h"

struct iso_seccomp_program {
	struct sock_filter *code; /* malloc */
	size_t length;		  /* instructions */
};

enum iso_seccomp_action {
	ISO_SECCOMP_ALLOW,
	ISO_SECCOMP_OPTIONAL,
	ISO_SECCOMP_EPERM,
	ISO_SECCOMP_ENOSYS,
};

struct iso_seccomp_row {
	const char *name;
	int number;
	enum iso_seccomp_action action[2]; /* by enum iso_syscall_profile */
	const char *why;
};

const struct iso_seccomp_row *iso_seccomp_rows(size_t *ret_count);

/*
 * The two filters of a task, in the order in which they must be installed. -EINVAL with *e when
 * allow[] or deny[] names what it may not. Free each.
 */
int iso_seccomp_task(const struct iso_manifest *m, struct iso_seccomp_program ret[2],
		     struct iso_error *e);
/* The filter of the copying helpers: a handful of file calls, death for anything else. */
int iso_seccomp_helper(struct iso_seccomp_program *ret);
void iso_seccomp_free(struct iso_seccomp_program *p);

/* seccomp_arguments.c: adds the rules by argument to a libseccomp context that allows */
int iso_seccomp_arguments(void *context, enum iso_syscall_profile profile, bool daemons_deny);

#endif
