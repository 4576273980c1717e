/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces of the kernel that no task has any business with. */
#include "probe.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int clone3(char **w)
{
	struct clone_args args = {.exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &args, sizeof args);

	(void)w;
	if (!pid)
		_exit(0);
	return probe_errno(pid);
}

static int flag(const char *name)
{
	static const struct {
		const char *name;
		int flag;
	} flags[] = {
		{"user", CLONE_NEWUSER},     {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID},
		{"net", CLONE_NEWNET},	     {"ipc", CLONE_NEWIPC},  {"uts", CLONE_NEWUTS},
		{"cgroup", CLONE_NEWCGROUP}, {"time", 0x80},	     {"files", CLONE_FILES},
	};

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (!strcmp(flags[i].name, name))
			return flags[i].flag;
	return 0;
}

static int do_unshare(char **w)
{
	return probe_errno(unshare(flag(w[0])));
}

static int do_clone(char **w)
{
	long pid = syscall(SYS_clone, (unsigned long)flag(w[0]) | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		_exit(0);
	return probe_errno(pid);
}

static int do_setns(char **w)
{
	int fd = open(w[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : probe_errno(setns(fd, 0));
}

static int do_mount(char **w)
{
	return probe_errno(mount("none", w[0], "tmpfs", 0, NULL));
}

static int do_bind(char **w)
{
	return probe_errno(mount(w[0], w[1], NULL, MS_BIND, NULL));
}

static int do_remount(char **w)
{
	return probe_errno(mount(NULL, w[0], NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int do_umount(char **w)
{
	return probe_errno(umount2(w[0], MNT_DETACH));
}

static int do_chroot(char **w)
{
	return probe_errno(chroot(w[0]));
}

static int do_pivot(char **w)
{
	return probe_errno(syscall(SYS_pivot_root, w[0], w[0]));
}

/* Calls whose arguments do not matter: they are refused before these are looked at. */
static int do_call(char **w)
{
	static const struct {
		const char *name;
		long number;
	} calls[] = {
		{"open_tree", SYS_open_tree},
		{"move_mount", SYS_move_mount},
		{"fsopen", SYS_fsopen},
		{"fsmount", SYS_fsmount},
		{"mount_setattr", SYS_mount_setattr},
		{"keyctl", SYS_keyctl},
		{"add_key", SYS_add_key},
		{"request_key", SYS_request_key},
		{"bpf", SYS_bpf},
		{"perf_event_open", SYS_perf_event_open},
		{"userfaultfd", SYS_userfaultfd},
		{"io_uring_setup", SYS_io_uring_setup},
		{"init_module", SYS_init_module},
		{"finit_module", SYS_finit_module},
		{"delete_module", SYS_delete_module},
		{"kexec_load", SYS_kexec_load},
		{"reboot", SYS_reboot},
		{"swapon", SYS_swapon},
		{"acct", SYS_acct},
		{"sethostname", SYS_sethostname},
		{"settimeofday", SYS_settimeofday},
		{"clock_settime", SYS_clock_settime},
		{"adjtimex", SYS_adjtimex},
		{"syslog", SYS_syslog},
		{"iopl", SYS_iopl},
		{"open_by_handle_at", SYS_open_by_handle_at},
		{"name_to_handle_at", SYS_name_to_handle_at},
		{"fanotify_init", SYS_fanotify_init},
		{"modify_ldt", SYS_modify_ldt},
		{"kcmp", SYS_kcmp},
		{"quotactl", SYS_quotactl},
		{"vhangup", SYS_vhangup},
		{"seccomp", SYS_seccomp},
		{"getpid", SYS_getpid},
		{"unknown", 1000},
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (!strcmp(calls[i].name, w[0]))
			return probe_errno(syscall(calls[i].number, 0, 0, 0, 0, 0));
	return CANNOT;
}

static int do_personality(char **w)
{
	return probe_errno(personality((unsigned long)strtoul(w[0], NULL, 16)));
}

/* Types a character into the terminal that the descriptor is: refused before it is looked at. */
static int type_into_terminal(char **w)
{
	char c = 'x';

	(void)w;
	return probe_errno(ioctl(0, TIOCSTI, &c));
}

static int type_wide(char **w)
{
	char c = 'x';

	(void)w;
	return probe_errno(syscall(SYS_ioctl, 0, TIOCSTI | 1ul << 40, &c));
}

/* getpid by the 32-bit entry: its numbers are others, so it must not be there at all. */
static int entry32_body(void *data)
{
	long result;

	(void)data;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
	return result > 0 ? 0 : (int)-result;
}

static int entry32(char **w)
{
	int status;
	pid_t pid = fork();

	(void)w;
	if (!pid)
		_exit(entry32_body(NULL));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return CANNOT;
	/* ended for it, as good as an errno: told apart from 0 */
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The x32 numbers of the 64-bit entry. */
static int entry_x32(char **w)
{
	(void)w;
	return probe_errno(syscall(0x40000000 + SYS_getpid));
}

static int filter_prctl(char **w)
{
	(void)w;
	return probe_errno(prctl(PR_SET_SECCOMP, 2, NULL, 0, 0));
}

const struct probe_verb probe_surface_verbs[] = {
	{"clone3", clone3},
	{"unshare", do_unshare},
	{"clone", do_clone},
	{"setns", do_setns},
	{"mount", do_mount},
	{"bind", do_bind},
	{"remount", do_remount},
	{"umount", do_umount},
	{"chroot", do_chroot},
	{"pivot", do_pivot},
	{"call", do_call},
	{"personality", do_personality},
	{"terminal", type_into_terminal},
	{"terminal-wide", type_wide},
	{"entry-32", entry32},
	{"entry-x32", entry_x32},
	{"filter-prctl", filter_prctl},
	{NULL, NULL},
};
