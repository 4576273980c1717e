/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's ceiling, /etc/isoctl/ceiling.json (fields: ceiling.def): bounds for every manifest,
 * and what only an operator may allow. Without one only root may seal; host_root and shared_kernel
 * then count as allowed, every other permission as refused.
 */
#ifndef ISO_MANIFEST_CEILING_H
#define ISO_MANIFEST_CEILING_H

#include <sys/types.h>

#include "common/error.h"
#include "manifest/manifest.h"

#define ISO_CEILING_PATH "/etc/isoctl/ceiling.json"

struct iso_ceiling {
	struct {
		uid_t *users;
		size_t user_count;
		gid_t *groups;
		size_t group_count;
	} callers; /* besides root */
	struct iso_strv input_roots, host_root, allow_programs;
	bool shared_kernel, opaque_egress, private_networks, contain_daemons, io_uring;
	uint32_t max_sandboxes, max_guests;	 /* 0: no bound */
	uint64_t total_memory, total_cpus_milli; /* bytes; 0: no bound */
	uint32_t concurrent;			 /* of manifests that give none; 0: no bound */
	void *private;				 /* the document */
};

/*
 * Reads the file: 0 and *ret, which is NULL where there is no such file. Refused, with *e: a file
 * or folder that is not root's or that others may write (-EPERM), one that is not right (-EINVAL),
 * a caller whom this host does not know (-ENOENT).
 */
int iso_ceiling_load(const char *path, struct iso_ceiling **ret, struct iso_error *e);
/* The same of a text; `name` is for messages. */
int iso_ceiling_parse(const char *name, const char *text, size_t size, struct iso_ceiling **ret,
		      struct iso_error *e);
void iso_ceiling_free(struct iso_ceiling *c);

/*
 * May this caller seal this manifest? `c` may be NULL: no ceiling. 0, or -EINVAL with every finding
 * appended, or -ENOMEM.
 */
int iso_ceiling_check(const struct iso_ceiling *c, const struct iso_manifest *m, uid_t uid,
		      const gid_t *gids, size_t gid_count, struct iso_findings *findings);

#endif
