/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan that isoinit works by: everything it must know, in one sealed memfd, because it has no
 * environment, no arguments and opens no file. One version of isod writes it for the isoinit that
 *it carries, so there is no compatibility to keep: the version must be equal.
 *
 *	struct iso_plan_header
 *	struct iso_plan_rlimit	[rlimit_count]
 *	struct sock_filter	[filter_length]
 *	cwd, path, argv..., envp...	each ends in NUL, the last byte of the plan is the last NUL
 */
#ifndef ISO_ISOINIT_PLAN_H
#define ISO_ISOINIT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <linux/filter.h>

#define ISO_PLAN_MAGIC	  0x6e616c70u
#define ISO_PLAN_VERSION  2u
#define ISO_PLAN_SIZE_MAX (4u << 20)
#define ISO_PLAN_ARGS_MAX 65536u /* argv and envp together */
#define ISO_PLAN_RLIMITS  16u

#define ISO_PLAN_DAEMONS_DENY (1u << 0) /* a reparented process is killed and reported */
#define ISO_PLAN_FLAGS_ALL    1u

struct iso_plan_header {
	uint32_t magic;
	uint32_t version;
	uint32_t size; /* of the whole plan, bytes */
	uint32_t flags;
	uint64_t wall_ms;
	uint64_t grace_ms;
	uint32_t uid; /* of the entry command, inside */
	uint32_t gid;
	uint32_t umask;
	uint32_t rlimit_count;
	uint32_t filter_length; /* instructions, at least 1 */
	uint32_t argc;		/* at least 1 */
	uint32_t envc;
	uint32_t pad; /* 0 */
};

struct iso_plan_rlimit {
	uint32_t resource;
	uint32_t pad; /* 0 */
	uint64_t soft;
	uint64_t hard;
};

/* A decoded plan; every pointer leads into the bytes it was decoded from, or into `pointers`. */
struct iso_plan {
	struct iso_plan_header header;
	const struct iso_plan_rlimit *rlimits;
	const struct sock_filter *filter;
	const char *cwd;
	const char *path; /* PATH in which argv[0] is looked up */
	char **argv;
	char **envp;
};

/* How many pointers iso_plan_decode() needs for this plan; 0 when the header is not valid. */
size_t iso_plan_pointers(const void *data, size_t size);

/*
 * Checks and decodes data[0..size), which must be 8-byte aligned and stay. 0, or -EINVAL: anything
 * that is not exactly what the encoder writes (a byte too many is one). Allocates nothing.
 */
int iso_plan_decode(const void *data, size_t size, char **pointers, size_t pointer_count,
		    struct iso_plan *ret);

#endif
