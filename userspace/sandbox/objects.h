/* SPDX-License-Identifier: BSD-2-Clause */
/* From a rule's path to what it hangs on, as the sandbox sees it. */
#ifndef ISO_SANDBOX_OBJECTS_H
#define ISO_SANDBOX_OBJECTS_H

#include "sandbox/internal.h"

struct iso_object_at {
	int fd;			/* O_PATH: the object, or the directory of `name` */
	bool missing;		/* a rule on the name stands in for the object */
	char name[256];		/* missing, and NAME rules */
	uint64_t device, inode; /* of fd */
};

/*
 * Opens a rule's object. Links are refused on the way, but followed in host trees, where what they
 * lead to is nobody's to change; they never lead to the sandbox's own storage. -ELOOP: a link.
 */
int iso_object_open(const struct iso_build *b, const struct iso_policy_rule *rule,
		    struct iso_object_at *ret);
/* 0: does not exist inside; 1: does. Links are followed. */
int iso_object_exists(const struct iso_build *b, const char *path);

#endif
