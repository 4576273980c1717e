/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls by name, and those that a manifest may add to a profile (syscalls.def). */
#ifndef ISO_MANIFEST_SYSCALLS_H
#define ISO_MANIFEST_SYSCALLS_H

#include <stdbool.h>
#include <string.h>

/* Has this machine's kind of kernel a call of that name? The table is made at build time. */
bool iso_syscall_known(const char *name);
/* Is it on the optional list of the profile ("strict", "build")? */
bool iso_syscall_optional(const char *profile, const char *name);
/* Is it one of io_uring's, which the ceiling must allow? */
static inline bool iso_syscall_of_uring(const char *name)
{
	return !strncmp(name, "io_uring_", 9);
}
/* The list, for people. */
const char *iso_syscall_optional_list(const char *profile);

#endif
