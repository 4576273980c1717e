/* SPDX-License-Identifier: BSD-2-Clause */
/* How refused calls are shown: the decode table, without any task. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include <linux/audit.h>

#include "sandbox/notify.h"
#include "sandbox/seccomp.h"

static char memory[4096];

/* Addresses 1 to sizeof memory; what lies beyond cannot be read. */
static ssize_t read_memory(void *context, uint64_t address, void *out, size_t n)
{
	(void)context;
	if (address > sizeof memory)
		return -1;
	if (n > sizeof memory - (address - 1))
		n = sizeof memory - (address - 1);
	memcpy(out, memory + address - 1, n);
	return (ssize_t)n;
}

static const struct iso_refused_call *decode(struct seccomp_data d)
{
	static struct iso_refused_call call;

	if (!d.arch)
		d.arch = AUDIT_ARCH_X86_64;
	memset(&call, 0xff, sizeof call);
	iso_notify_decode(&d, read_memory, NULL, &call);
	return &call;
}

#define SHOWN(call_, arguments_, ...)                                                           \
	do {                                                                                    \
		const struct iso_refused_call *c_ = decode((struct seccomp_data){__VA_ARGS__}); \
		assert_string_equal(c_->call, call_);                                           \
		assert_string_equal(c_->arguments, arguments_);                                 \
	} while (0)

static void words_and_numbers(void **state)
{
	(void)state;
	SHOWN("unshare", "CLONE_NEWNS|CLONE_NEWUSER|0x80", .nr = SYS_unshare,
	      .args = {CLONE_NEWUSER | CLONE_NEWNS | 0x80});
	SHOWN("umount2", "NULL, 0", .nr = SYS_umount2);
	SHOWN("socket", "AF_NETLINK, SOCK_RAW|0x80000, -1", .nr = SYS_socket,
	      .args = {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, UINT64_MAX});
	SHOWN("socket", "0x2f, 9, 0", .nr = SYS_socket, .args = {47, 9});
	SHOWN("setrlimit", "RLIMIT_CORE|0x10000000000, ptr", .nr = SYS_setrlimit,
	      .args = {4 | 1ull << 40, 77});
	SHOWN("setsid", "", .nr = SYS_setsid, .args = {1, 2, 3});
	SHOWN("getppid", "...", .nr = SYS_getppid);
}

static void texts_of_the_task(void **state)
{
	char long_text[100];

	(void)state;
	memset(memory, 'x', sizeof memory);
	strcpy(memory, "a\"b\\c\n\xff");
	SHOWN("chroot", "\"a\\\"b\\\\c\\u{a}\\xff\"", .nr = SYS_chroot, .args = {1});
	SHOWN("chroot", "ptr", .nr = SYS_chroot, .args = {sizeof memory + 1});
	memset(long_text, 'x', 96);
	strcpy(long_text + 96, "");
	/* longer than is shown; and one that ends with what can be read */
	assert_non_null(
		strstr(decode((struct seccomp_data){.nr = SYS_chroot, .args = {100}})->arguments,
		       long_text));
	assert_non_null(
		strstr(decode((struct seccomp_data){.nr = SYS_chroot, .args = {100}})->arguments,
		       "x\"..."));
	SHOWN("chroot", "\"xx\"", .nr = SYS_chroot, .args = {sizeof memory - 1});
	/* worst case: three texts of which every byte is escaped fit or are cut, and end */
	memset(memory, '\x01', sizeof memory);
	assert_true(strlen(decode((struct seccomp_data){.nr = SYS_mount, .args = {1, 1, 1}})
				   ->arguments) < sizeof((struct iso_refused_call *)0)->arguments);
}

static void other_entries_show_their_number(void **state)
{
	(void)state;
	SHOWN("i386:20", "", .nr = 20, .arch = AUDIT_ARCH_I386);
	SHOWN("x32:39", "", .nr = 0x40000000 | 39);
	SHOWN("unknown:1", "", .nr = 1, .arch = AUDIT_ARCH_AARCH64);
	SHOWN("x86-64:5000", "...", .nr = 5000);
}

static void errnos_are_those_of_the_rows(void **state)
{
	(void)state;
	assert_int_equal(decode((struct seccomp_data){.nr = SYS_mount})->error, EPERM);
	assert_int_equal(decode((struct seccomp_data){.nr = SYS_socket, .args = {AF_VSOCK}})->error,
			 EAFNOSUPPORT);
	/* denied by a manifest, as a call and not for its family */
	assert_int_equal(decode((struct seccomp_data){.nr = SYS_socket, .args = {AF_INET}})->error,
			 EPERM);
	assert_int_equal(
		decode((struct seccomp_data){.nr = SYS_socketpair, .args = {AF_INET}})->error,
		EAFNOSUPPORT);
	assert_int_equal(decode((struct seccomp_data){.nr = 20, .arch = AUDIT_ARCH_I386})->error,
			 ENOSYS);
	assert_int_equal(decode((struct seccomp_data){.nr = 0x40000000 | 39})->error, ENOSYS);
}

static void what_every_runtime_tries_is_expected(void **state)
{
	(void)state;
	assert_true(decode((struct seccomp_data){.nr = SYS_socket, .args = {AF_NETLINK, 3, 0}})
			    ->expected);
	assert_false(decode((struct seccomp_data){.nr = SYS_socket, .args = {AF_NETLINK, 3, 12}})
			     ->expected);
	assert_false(decode((struct seccomp_data){.nr = SYS_mount})->expected);
}

/* Every call that a profile refuses has its arguments in the table, but the ones without a name. */
static void every_refused_call_is_in_the_table(void **state)
{
	static const char *const without[] = {"create_module", "get_kernel_syms", "query_module",
					      "nfsservctl"};
	size_t count;
	const struct iso_seccomp_row *rows = iso_seccomp_rows(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		enum iso_seccomp_action a = rows[i].action[ISO_SYSCALLS_STRICT];
		bool gone = false;

		for (size_t k = 0; k < sizeof without / sizeof *without; k++)
			gone = gone || !strcmp(rows[i].name, without[k]);
		if (gone || (a != ISO_SECCOMP_EPERM && a != ISO_SECCOMP_OPTIONAL))
			continue;
		if (!strcmp(decode((struct seccomp_data){.nr = rows[i].number})->arguments, "..."))
			fail_msg("%s has no row in call_arguments.def", rows[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_numbers),
		cmocka_unit_test(texts_of_the_task),
		cmocka_unit_test(other_entries_show_their_number),
		cmocka_unit_test(errnos_are_those_of_the_rows),
		cmocka_unit_test(what_every_runtime_tries_is_expected),
		cmocka_unit_test(every_refused_call_is_in_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
