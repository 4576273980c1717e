/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The anchor: the same restriction by Landlock, in the same guest. Numbers as in linux/landlock.h;
 * the build host's header may be older than the network rules (ABI 4, Linux 6.7).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "common/cleanup.h"

#define NET_CONNECT_TCP (1ull << 1)
#define RULE_NET_PORT	2
#define ABI_NET		4

#define FS_ALL                                                            \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |     \
	 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |     \
	 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG)

struct ruleset {
	uint64_t fs;
	uint64_t net;
};

struct port {
	uint64_t access;
	uint64_t port;
};

static int add_place(int ruleset, const char *path)
{
	ISO_AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = {.allowed_access = FS_ALL, .parent_fd = fd};

	if (fd < 0)
		return -errno;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0)
		       ? -errno
		       : 0;
}

int iso_bench_landlock(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct ruleset all = {.fs = FS_ALL, .net = abi >= ABI_NET ? NET_CONNECT_TCP : 0};
	const struct port port = {NET_CONNECT_TCP, ISO_BENCH_PORT};
	ISO_AUTO_CLOSE int ruleset = -1;
	int r = 0;

	if (abi < 1)
		return -errno;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &all,
			       all.net ? sizeof all : offsetof(struct ruleset, net), 0);
	if (ruleset < 0)
		return -errno;
	for (unsigned int i = 0; i < ISO_BENCH_FEW && !r; i++)
		r = add_place(ruleset, iso_bench_places[i]);
	if (r)
		return r;
	if (all.net && syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &port, 0))
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_landlock_restrict_self, ruleset, 0))
		return -errno;
	return 0;
}
