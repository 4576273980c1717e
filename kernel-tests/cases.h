/* SPDX-License-Identifier: BSD-2-Clause */
/* cases.def as a table, for the probe inside and for the harness outside. */
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
	const char *object; /* path, "PATH -> PATH2", or "ADDRESS:PORT" */
	const char *rule;   /* JSON pointer, or "none" */
};

extern const struct iso_kernel_case iso_case_rows[];
extern const size_t iso_case_count;

#endif
