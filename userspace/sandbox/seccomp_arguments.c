/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is refused by argument. The kernel looks at 32 bits of these arguments and a task may put
 * anything into the other 32, so every comparison is masked, or refuses what lies beyond.
 */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/audit.h>

#define X32_BIT 0x40000000
#define LOW32	0xffffffffull

#ifndef TIOCLINUX
#define TIOCLINUX 0x541c
#endif

static int refuse(scmp_filter_ctx c, int number, struct scmp_arg_cmp a)
{
	return seccomp_rule_add_array(c, SCMP_ACT_NOTIFY, number, 1, &a);
}

static int refuse_equal(scmp_filter_ctx c, int number, unsigned argument, uint64_t value)
{
	return refuse(c, number, SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, LOW32, value));
}

/* CLONE_NEWTIME shares its bit with the exit signal of clone(2): it can only come to unshare(2). */
static int namespaces(scmp_filter_ctx c)
{
	static const uint64_t flags[] = {CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWPID,   CLONE_NEWNET,
					 CLONE_NEWIPC, CLONE_NEWUTS,  CLONE_NEWCGROUP};
	int r = refuse(c, SCMP_SYS(unshare), SCMP_A0(SCMP_CMP_MASKED_EQ, 0x80, 0x80));

	for (size_t i = 0; r == 0 && i < sizeof flags / sizeof *flags; i++) {
		struct scmp_arg_cmp a = SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]);

		r = refuse(c, SCMP_SYS(clone), a);
		if (r == 0)
			r = refuse(c, SCMP_SYS(unshare), a);
	}
	return r;
}

/*
 * An allow-list of families: AF_VSOCK, AF_ALG, AF_NETLINK and the rest do not exist here, which is
 * what iso_seccomp_errno() answers.
 */
static int families(scmp_filter_ctx c)
{
	int r = refuse(c, SCMP_SYS(socketpair), SCMP_A0(SCMP_CMP_NE, AF_UNIX));

	for (uint64_t f = 0; r == 0 && f < AF_INET6; f++)
		if (f != AF_UNIX && f != AF_INET)
			r = refuse(c, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, f));
	return r ? r : refuse(c, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_GT, AF_INET6));
}

/*
 * personality(2): asking (0xffffffff) and PER_LINUX (0) pass. libseccomp compares an argument once
 * per rule, so "neither" is said bit by bit: one bit differs from bit 31.
 */
static int personalities(scmp_filter_ctx c)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < 31; i++) {
		uint64_t top = 1ull << 31, bit = 1ull << i;

		r = refuse(c, SCMP_SYS(personality), SCMP_A0(SCMP_CMP_MASKED_EQ, top | bit, bit));
		if (r == 0)
			r = refuse(c, SCMP_SYS(personality),
				   SCMP_A0(SCMP_CMP_MASKED_EQ, top | bit, top));
	}
	return r;
}

/* soft = hard = 1 keeps a core dump from starting the host's handler; nothing else does. */
static int core_limit(scmp_filter_ctx c)
{
	int r = refuse_equal(c, SCMP_SYS(setrlimit), 0, RLIMIT_CORE);

	if (r)
		return r;
	return seccomp_rule_add(c, SCMP_ACT_NOTIFY, SCMP_SYS(prlimit64), 2,
				SCMP_A1(SCMP_CMP_MASKED_EQ, LOW32, RLIMIT_CORE),
				SCMP_A2(SCMP_CMP_NE, 0));
}

int iso_seccomp_errno(const struct seccomp_data *d)
{
	uint64_t family = d->args[0];

	if (d->arch != AUDIT_ARCH_X86_64 || d->nr & X32_BIT)
		return ENOSYS;
	if (d->nr == SYS_socket && family != AF_UNIX && family != AF_INET && family != AF_INET6)
		return EAFNOSUPPORT;
	if (d->nr == SYS_socketpair && family != AF_UNIX)
		return EAFNOSUPPORT;
	return EPERM;
}

int iso_seccomp_arguments(void *context, enum iso_syscall_profile profile, bool daemons_deny)
{
	scmp_filter_ctx c = context;
	int r = namespaces(c);

	if (r == 0)
		r = families(c);
	if (r == 0)
		r = personalities(c);
	if (r == 0)
		r = core_limit(c);
	/* typing into a terminal that somebody else reads */
	if (r == 0)
		r = refuse_equal(c, SCMP_SYS(ioctl), 1, TIOCSTI);
	if (r == 0)
		r = refuse_equal(c, SCMP_SYS(ioctl), 1, TIOCLINUX);
	if (r == 0 && profile == ISO_SYSCALLS_STRICT)
		r = refuse_equal(c, SCMP_SYS(prctl), 0, PR_SET_SECCOMP);
	if (r == 0 && daemons_deny)
		r = seccomp_rule_add(c, SCMP_ACT_NOTIFY, SCMP_SYS(setsid), 0);
	/* a subreaper would keep orphans from isoinit's eyes */
	if (r == 0 && daemons_deny)
		r = refuse_equal(c, SCMP_SYS(prctl), 0, PR_SET_CHILD_SUBREAPER);
	return r;
}
