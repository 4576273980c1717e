/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls by name, and those that a manifest may add to a profile (syscalls.def). */
#ifndef ISO_MANIFEST_SYSCALLS_H
#define ISO_MANIFEST_SYSCALLS_H

#include <stdbool.h>

/* Has this machine's kind of kernel a call of that name? The table is made at build time. */
bool iso_syscall_known(const char *name);
/* Is it on the optional list of the profile ("strict", "build")? */
bool iso_syscall_optional(const char *profile, const char *name);
/* The list, for people. */
const char *iso_syscall_optional_list(const char *profile);

#endif
