/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System call filters: one program per task. Its first part refuses by argument
 * (seccomp_arguments.c), what that lets pass goes on to the allow-list (syscalls.def). One and not
 * two, because a task can have one listener only, and a filter without it cannot notify.
 *
 * ENOSYS is answered by the filter itself: runtimes probe for such calls and go on without. Every
 * other refusal is a notification (SECCOMP_RET_USER_NOTIF): isod reads it, answers it with the
 * row's errno and leaves an event (notify.h). Three calls are refused by the filter alone when a
 * manifest denies them, for the launch makes them when nobody reads yet: execve, write, exit_group.
 *
 * The installed filter is held to this whatever becomes of the reader: it is dead or gone, and the
 * kernel answers ENOSYS; it stands still, and isoinit ends the sandbox (isoinit/listener.c).
 */
#ifndef ISO_SANDBOX_SECCOMP_H
#define ISO_SANDBOX_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "common/error.h"
#include "manifest/manifest.h"

struct iso_seccomp_program {
	struct sock_filter *code; /* malloc */
	size_t length;		  /* instructions */
};

enum iso_seccomp_action {
	ISO_SECCOMP_ALLOW,
	ISO_SECCOMP_OPTIONAL,
	ISO_SECCOMP_OPTIONAL_ENOSYS,
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
 * The filter of a task; must be installed with SECCOMP_FILTER_FLAG_NEW_LISTENER. -EINVAL with *e
 * when allow[] or deny[] names what it may not. Free it.
 */
int iso_seccomp_task(const struct iso_manifest *m, struct iso_seccomp_program *ret,
		     struct iso_error *e);
/* The row of a system call by its number, or NULL. */
const struct iso_seccomp_row *iso_seccomp_find(int number);
/* What the filter's notification is answered with: a positive errno. */
int iso_seccomp_errno(const struct seccomp_data *d);
/* The filter of the copying helpers: a handful of file calls, death for anything else. */
int iso_seccomp_helper(struct iso_seccomp_program *ret);
void iso_seccomp_free(struct iso_seccomp_program *p);

/* seccomp_arguments.c: adds the rules by argument to a libseccomp context that allows */
int iso_seccomp_arguments(void *context, enum iso_syscall_profile profile, bool daemons_deny);

#endif
