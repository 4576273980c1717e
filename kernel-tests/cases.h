/* SPDX-License-Identifier: BSD-2-Clause */
/* cases.def, uring.def and operations.def as one table, for the probe and for the judge. */
#ifndef ISO_KERNEL_CASES_H
#define ISO_KERNEL_CASES_H

#include <stddef.h>

struct iso_kernel_case {
	const char *variant; /* manifest: kernel-tests/manifest-VARIANT.json */
	const char *name;
	const char *action; /* verb of the probe and its words */
	int error;	    /* errno it must get; 0: it must work */
	/* "KIND HOOK REASON"; alternatives of HOOK by '|'; "": no event at all */
	const char *event;
	const char *object;  /* path, "PATH -> PATH2", or "ADDRESS:PORT" */
	const char *rule;    /* JSON pointer, or "none" */
	const char *decider; /* of an operation: what decides it; NULL: a row of cases.def */
	const char *why;     /* of an operation without an event */
	int since;	     /* CASES_SINCE(): EINVAL and no event on older kernels; 0: all */
	int outside;	     /* errno of the operation outside any sandbox; or CASES_SINCE() */
};

/* Works from that kernel on, and is ENOSYS before. */
#define CASES_SINCE(major, minor) (0x10000 | (major) << 8 | (minor))

extern const struct iso_kernel_case iso_case_rows[];
extern const size_t iso_case_count;

#endif
