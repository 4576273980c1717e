/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each refused call gives its errno, and each has a control that shows that the filter is what
 * refused it: the same call, or its harmless neighbour, without the filter or with other arguments.
 * Who reads the notifications here is what isod reads them with.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/seccomp.h>

#include "sandbox/notify.h"
#include "sandbox/seccomp.h"

#define HIGH 0x100000000l /* a bit that the kernel does not look at */

struct answer {
	long value;
	int error;
	int listener; /* in the child's table of descriptors, which is ours too */
	unsigned told;
	struct iso_refused_call call; /* the last that was told of */
};

struct call {
	long number;
	long a[6];
};

static int install(const struct iso_seccomp_program *p)
{
	struct sock_fprog f = {.len = (unsigned short)p->length, .filter = p->code};
	long fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(99);
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &f);
	if (fd < 0)
		_exit(98);
	return (int)fd;
}

static uint64_t no_exec(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
	return 0;
}

/* Answers until the child has ended. */
static void serve(int pidfd, struct answer *a)
{
	struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN},
			      {.fd = a->listener, .events = POLLIN}};

	while (!p[0].revents) {
		struct iso_refused_call call;

		assert_true(poll(p, 2, 60000) > 0);
		if (!(p[1].revents & POLLIN) ||
		    iso_notify_take(a->listener, no_exec, NULL, &call) != 1)
			continue;
		a->told++;
		a->call = call;
	}
	close(a->listener);
}

static void ask_in_child(const struct iso_seccomp_program *p, const struct call *c,
			 struct answer *shared, int ready)
{
	if (p)
		shared->listener = install(p);
	if (write(ready, "", 1) != 1)
		_exit(97);
	errno = 0;
	shared->value = syscall(c->number, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
	shared->error = shared->value < 0 ? errno : 0;
	syscall(SYS_exit_group, 0);
}

/* Does the call in a child, with the task's filter or without any. */
static struct answer ask(const struct iso_manifest *m, const struct call *c)
{
	struct iso_seccomp_program p = {0};
	struct answer *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, pidfd = -1, ready[2];
	struct answer a;
	char byte;
	long pid;

	assert_true(shared != MAP_FAILED);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	*shared = (struct answer){.value = -2, .listener = -1};
	if (m)
		assert_int_equal(iso_seccomp_task(m, &p, NULL), 0);
	pid = syscall(SYS_clone, CLONE_FILES | CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0);
	assert_true(pid >= 0);
	if (pid == 0)
		ask_in_child(m ? &p : NULL, c, shared, ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	serve(pidfd, shared);
	assert_int_equal(waitpid((pid_t)pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("call %ld: the child ended with %#x", c->number, (unsigned)status);
	a = *shared;
	munmap(shared, sizeof *shared);
	iso_seccomp_free(&p);
	close(ready[0]);
	close(ready[1]);
	close(pidfd);
	return a;
}

static struct iso_manifest profile(enum iso_syscall_profile p)
{
	return (struct iso_manifest){.process = {.syscalls = p}};
}

/* Every refusal of the filter is told of but ENOSYS; the others' errnos are the kernel's own. */
static void expect(const struct iso_manifest *m, struct call c, int error)
{
	struct answer a = ask(m, &c);
	bool told = m && (error == EPERM || error == EAFNOSUPPORT);

	if (a.error != error)
		fail_msg("call %ld(%#lx, %#lx, %#lx): errno %d, expected %d", c.number, c.a[0],
			 c.a[1], c.a[2], a.error, error);
	if (a.told != told || (told && (a.call.error != error || !a.call.pid || !a.call.comm[0])))
		fail_msg("call %ld: told of %u times, %s(%s)", c.number, a.told, a.call.call,
			 a.call.arguments);
}

/*
 * With arguments that the kernel itself refuses: a filter answers before it looks. Calls without
 * arguments to refuse, or with an effect on the host whatever they are, have no such control.
 */
static void every_refused_row_gives_its_errno(void **state)
{
	size_t count;
	const struct iso_seccomp_row *rows = iso_seccomp_rows(&count);

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct iso_manifest m = profile((enum iso_syscall_profile)k);

		for (size_t i = 0; i < count; i++) {
			static const int errors[] = {
				[ISO_SECCOMP_ALLOW] = 0,
				[ISO_SECCOMP_OPTIONAL] = EPERM,
				[ISO_SECCOMP_OPTIONAL_ENOSYS] = ENOSYS,
				[ISO_SECCOMP_EPERM] = EPERM,
				[ISO_SECCOMP_ENOSYS] = ENOSYS,
			};
			int error = errors[rows[i].action[k]];
			struct call c = {rows[i].number, {-1, -1, -1, -1, -1, -1}};

			if (error)
				expect(&m, c, error);
		}
	}
}

/* The same calls reach the kernel without the filter: it answers something else. */
static void controls_reach_the_kernel(void **state)
{
	(void)state;
	expect(NULL, (struct call){SYS_mount, {0, 1, 0, 0, 0}}, EFAULT);
	expect(NULL, (struct call){SYS_umount2, {1, 0}}, EFAULT);
	expect(NULL, (struct call){SYS_ptrace, {-1, 0}}, ESRCH);
	expect(NULL, (struct call){SYS_keyctl, {-1}}, EOPNOTSUPP);
	expect(NULL, (struct call){SYS_bpf, {-1, 0, 0}}, EINVAL);
	expect(NULL, (struct call){SYS_setns, {-1, 0}}, EBADF);
	expect(NULL, (struct call){SYS_pidfd_getfd, {-1, 0, 0}}, EBADF);
	expect(NULL, (struct call){SYS_clone3, {0, 0}}, EINVAL);
	expect(NULL, (struct call){SYS_move_mount, {-1, 1, -1, 1, 0}}, EFAULT);
}

static void allowed_calls_are_allowed(void **state)
{
	static char path[] = "/";

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct iso_manifest m = profile((enum iso_syscall_profile)k);

		expect(&m, (struct call){SYS_getpid, {0}}, 0);
		expect(&m, (struct call){SYS_openat, {-100, (long)path, 0}}, 0);
		expect(&m, (struct call){SYS_read, {-1, 0, 0}}, EBADF);
		expect(&m,
		       (struct call){SYS_mmap,
				     {0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1}},
		       0);
		expect(&m, (struct call){SYS_execve, {0, 0, 0}}, EFAULT);
	}
}

static void namespaces_cannot_be_made(void **state)
{
	static const long flags[] = {CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWPID,	  CLONE_NEWNET,
				     CLONE_NEWIPC, CLONE_NEWUTS,  CLONE_NEWCGROUP};
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);

	(void)state;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		expect(&m, (struct call){SYS_unshare, {flags[i]}}, EPERM);
		expect(&m, (struct call){SYS_unshare, {flags[i] | CLONE_FS}}, EPERM);
		expect(&m, (struct call){SYS_unshare, {flags[i] | HIGH}}, EPERM);
		expect(&m, (struct call){SYS_clone, {flags[i] | SIGCHLD}}, EPERM);
		expect(&m, (struct call){SYS_clone, {flags[i] | HIGH}}, EPERM);
		expect(NULL, (struct call){SYS_unshare, {flags[i]}}, 0);
	}
	expect(&m, (struct call){SYS_unshare, {0x80}}, EPERM);
	expect(&m, (struct call){SYS_unshare, {CLONE_FS | CLONE_FILES}}, 0);
}

static void families_outside_the_list_do_not_exist(void **state)
{
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);

	(void)state;
	for (long f = 0; f < 48; f++) {
		bool listed = f == AF_UNIX || f == AF_INET || f == AF_INET6;

		expect(&m, (struct call){SYS_socket, {f, SOCK_DGRAM, 0}},
		       listed ? 0 : EAFNOSUPPORT);
	}
	expect(&m, (struct call){SYS_socket, {AF_NETLINK | HIGH, SOCK_RAW, 0}}, EAFNOSUPPORT);
	expect(&m, (struct call){SYS_socket, {-1, SOCK_DGRAM, 0}}, EAFNOSUPPORT);
	expect(NULL, (struct call){SYS_socket, {AF_NETLINK, SOCK_RAW, 0}}, 0);
	expect(&m, (struct call){SYS_socketpair, {AF_INET, SOCK_STREAM, 0, 0}}, EAFNOSUPPORT);
	expect(&m, (struct call){SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, 0}}, EFAULT);
}

static void terminals_are_not_typed_into(void **state)
{
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);

	(void)state;
	expect(&m, (struct call){SYS_ioctl, {-1, TIOCSTI, 0}}, EPERM);
	expect(&m, (struct call){SYS_ioctl, {-1, TIOCSTI | HIGH, 0}}, EPERM);
	expect(&m, (struct call){SYS_ioctl, {-1, 0x541c, 0}}, EPERM);
	expect(&m, (struct call){SYS_ioctl, {-1, TIOCGWINSZ, 0}}, EBADF);
}

static void personality_can_only_be_asked(void **state)
{
	static const long refused[] = {1, 8, 0x40000, 0x400000, 0x7fffffff, 0xfffffffe, 0x80000000};
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);

	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		expect(&m, (struct call){SYS_personality, {refused[i]}}, EPERM);
		expect(&m, (struct call){SYS_personality, {refused[i] | HIGH}}, EPERM);
	}
	expect(&m, (struct call){SYS_personality, {0xffffffff}}, 0);
	expect(&m, (struct call){SYS_personality, {-1}}, 0);
	expect(&m, (struct call){SYS_personality, {0}}, 0);
	expect(NULL, (struct call){SYS_personality, {0x40000}}, 0);
}

static void core_limit_stays(void **state)
{
	static struct rlimit one = {1, 1};
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);

	(void)state;
	expect(&m, (struct call){SYS_setrlimit, {RLIMIT_CORE, (long)&one}}, EPERM);
	expect(&m, (struct call){SYS_setrlimit, {RLIMIT_CORE | HIGH, (long)&one}}, EPERM);
	expect(&m, (struct call){SYS_prlimit64, {0, RLIMIT_CORE, (long)&one, 0}}, EPERM);
	expect(&m, (struct call){SYS_prlimit64, {0, RLIMIT_CORE | HIGH, (long)&one, 0}}, EPERM);
	expect(&m, (struct call){SYS_prlimit64, {0, RLIMIT_CORE, 0, 0}}, 0);
	expect(NULL, (struct call){SYS_setrlimit, {RLIMIT_CORE, (long)&one}}, 0);
}

static void daemons_and_filters_follow_the_manifest(void **state)
{
	struct iso_manifest strict = profile(ISO_SYSCALLS_STRICT),
			    build = profile(ISO_SYSCALLS_BUILD);

	(void)state;
	expect(&strict, (struct call){SYS_setsid, {0}}, EPERM);
	expect(&strict, (struct call){SYS_prctl, {PR_SET_CHILD_SUBREAPER, 1}}, EPERM);
	expect(&strict, (struct call){SYS_prctl, {PR_SET_CHILD_SUBREAPER | HIGH, 1}}, EPERM);
	strict.process.daemons_contain = true;
	expect(&strict, (struct call){SYS_setsid, {0}}, 0);
	expect(&strict, (struct call){SYS_prctl, {PR_SET_CHILD_SUBREAPER, 1}}, 0);
	expect(&strict, (struct call){SYS_prctl, {PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0}}, EPERM);
	expect(&strict, (struct call){SYS_seccomp, {SECCOMP_GET_ACTION_AVAIL, 0, 0}}, EPERM);
	expect(&build, (struct call){SYS_prctl, {PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0}}, EFAULT);
	expect(&build, (struct call){SYS_seccomp, {SECCOMP_GET_ACTION_AVAIL, 0, 0}}, EFAULT);
}

static void lists_of_the_manifest_change_the_filter(void **state)
{
	char *allow[] = {(char *)(uintptr_t) "mbind"}, *deny[] = {(char *)(uintptr_t) "getppid"};
	struct iso_manifest m = profile(ISO_SYSCALLS_STRICT);

	(void)state;
	expect(&m, (struct call){SYS_mbind, {0, 0, -1, 0, 0, 0}}, EPERM);
	expect(&m, (struct call){SYS_getppid, {0}}, 0);
	m.process.syscalls_allow = (struct iso_strv){allow, 1};
	m.process.syscalls_deny = (struct iso_strv){deny, 1};
	expect(&m, (struct call){SYS_mbind, {0, 0, -1, 0, 0, 0}}, EINVAL);
	expect(&m, (struct call){SYS_getppid, {0}}, EPERM);
}

/* Other numbers: x32, and a call that no kernel has. */
static void other_entries_have_no_calls(void **state)
{
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);
	struct call x32 = {0x40000000 | SYS_getpid, {0}};
	struct answer a = ask(&m, &x32);

	(void)state;
	assert_int_equal(a.error, ENOSYS);
	assert_int_equal(a.told, 1);
	assert_string_equal(a.call.call, "x32:39");
	assert_string_equal(a.call.arguments, "");
	expect(&m, (struct call){100000, {0}}, ENOSYS);
}

static void child_32(const struct iso_seccomp_program *p, struct answer *shared, int ready)
{
	int r;

	signal(SIGSEGV, SIG_DFL); /* cmocka's would go on with the tests in here */
	shared->listener = install(p);
	if (write(ready, "", 1) != 1)
		_exit(97);
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
	shared->error = -r;
	_exit(0);
}

/* int 0x80: number 20 is getpid there. */
static void the_32_bit_entry_has_no_calls(void **state)
{
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);
	struct answer *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct iso_seccomp_program p;
	int status, pidfd, ready[2];
	char byte;
	long pid;

	(void)state;
	assert_true(shared != MAP_FAILED);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(iso_seccomp_task(&m, &p, NULL), 0);
	pid = syscall(SYS_clone, CLONE_FILES | CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0);
	if (pid == 0)
		child_32(&p, shared, ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	serve(pidfd, shared);
	assert_int_equal(waitpid((pid_t)pid, &status, 0), pid);
	/* a kernel without the entry answers the trap with SIGSEGV: refused as well */
	if (status == 0) {
		assert_int_equal(shared->error, ENOSYS);
		assert_int_equal(shared->told, 1);
		assert_string_equal(shared->call.call, "i386:20");
	} else {
		assert_true(WIFSIGNALED(status));
	}
	munmap(shared, sizeof *shared);
	iso_seccomp_free(&p);
	close(ready[0]);
	close(ready[1]);
	close(pidfd);
}

/* What the launch calls behind its filter never waits for a reader, whatever a manifest denies. */
static void what_the_launch_needs_is_not_notified(void **state)
{
	char *deny[] = {(char *)(uintptr_t) "execve", (char *)(uintptr_t) "sendmsg"};
	struct iso_manifest m = profile(ISO_SYSCALLS_STRICT);
	struct call call = {SYS_execve, {0, 0, 0}};
	struct answer a;

	(void)state;
	m.process.syscalls_deny = (struct iso_strv){deny, 2};
	a = ask(&m, &call);
	assert_int_equal(a.error, EPERM);
	assert_int_equal(a.told, 0);
	expect(&m, (struct call){SYS_sendmsg, {-1, 0, 0}}, EPERM);
}

static void arguments_are_decoded(void **state)
{
	static char source[] = "no\"ne\n", target[] = "/work", type[] = "tmpfs";
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);
	struct call call = {SYS_mount,
			    {(long)source, (long)target, (long)type, MS_RDONLY | MS_BIND, 0}};
	struct answer a = ask(&m, &call);

	(void)state;
	assert_string_equal(a.call.call, "mount");
	assert_string_equal(a.call.arguments,
			    "\"no\\\"ne\\u{a}\", \"/work\", \"tmpfs\", MS_RDONLY|MS_BIND, NULL");
	assert_int_equal(a.call.number, SYS_mount);
	assert_int_equal(a.call.uid, getuid());
	assert_int_equal(a.call.ppid, getpid());
	assert_int_equal(a.call.pid, a.call.tid);
}

/* A reader that is gone: refused by the kernel. */
static void without_a_reader_there_is_no_such_call(void **state)
{
	struct iso_manifest m = profile(ISO_SYSCALLS_BUILD);
	struct iso_seccomp_program p;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(iso_seccomp_task(&m, &p, NULL), 0);
	pid = fork();
	if (pid == 0) {
		close(install(&p));
		syscall(SYS_mount, 0, 0, 0, 0, 0);
		_exit(errno == ENOSYS ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	iso_seccomp_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_refused_row_gives_its_errno),
		cmocka_unit_test(controls_reach_the_kernel),
		cmocka_unit_test(allowed_calls_are_allowed),
		cmocka_unit_test(namespaces_cannot_be_made),
		cmocka_unit_test(families_outside_the_list_do_not_exist),
		cmocka_unit_test(terminals_are_not_typed_into),
		cmocka_unit_test(personality_can_only_be_asked),
		cmocka_unit_test(core_limit_stays),
		cmocka_unit_test(daemons_and_filters_follow_the_manifest),
		cmocka_unit_test(lists_of_the_manifest_change_the_filter),
		cmocka_unit_test(other_entries_have_no_calls),
		cmocka_unit_test(the_32_bit_entry_has_no_calls),
		cmocka_unit_test(what_the_launch_needs_is_not_notified),
		cmocka_unit_test(arguments_are_decoded),
		cmocka_unit_test(without_a_reader_there_is_no_such_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
