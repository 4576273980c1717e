/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way from isoinit to the entry command. The child gives up everything in an order in which
 * each step still may be done: limits, user, capabilities, directory, filter, exec.
 *
 * The child shares isoinit's table of descriptors, because that is how the filter's listener comes
 * to isoinit: behind its filter the child could not hand it over, as a manifest may deny any call
 * that would. So it closes nothing. Every descriptor above 2 is close-on-exec, and execve(2) gives
 * the child a table of its own before it closes those; isoinit, stopped until then (CLONE_VFORK),
 * opens none in between.
 */
#include "isoinit/isoinit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/seccomp.h>

static int status_fd;

static void fail(const char *stage, int error) __attribute__((noreturn));

static void fail(const char *stage, int error)
{
	struct iso_entry_status s = {.error = error};

	memcpy(s.stage, stage, strnlen(stage, sizeof s.stage - 1));
	while (write(status_fd, &s, sizeof s) < 0 && errno == EINTR)
		;
	_exit(error == ENOENT ? 127 : 126);
}

static void reset_signals(void)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int s = 1; s <= SIGRTMAX; s++)
		if (s != SIGKILL && s != SIGSTOP && (s < 32 || s >= SIGRTMIN))
			sigaction(s, &plain, NULL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		fail("signals", errno);
}

static void drop_user(const struct iso_plan_header *h)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	uid_t r, e, s;

	memset(caps, 0, sizeof caps);
	if (setgroups(0, NULL) < 0 || setresgid(h->gid, h->gid, h->gid) < 0 ||
	    setresuid(h->uid, h->uid, h->uid) < 0)
		fail("user", errno);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &head, caps) < 0)
		fail("capabilities", errno);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fail("no-new-privileges", errno);
	/* Believe nothing: the answers are cheap. */
	if (getresuid(&r, &e, &s) < 0 || r != h->uid || e != h->uid || s != h->uid ||
	    syscall(SYS_capget, &head, caps) < 0 || caps[0].effective || caps[0].permitted ||
	    caps[0].inheritable || caps[1].effective || caps[1].permitted || caps[1].inheritable ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		fail("user", EPERM);
}

static void set_limits(const struct iso_plan *p)
{
	for (uint32_t i = 0; i < p->header.rlimit_count; i++) {
		struct rlimit l = {p->rlimits[i].soft, p->rlimits[i].hard};

		if (setrlimit((int)p->rlimits[i].resource, &l) < 0)
			fail("limits", errno);
	}
}

/*
 * The listener appears in the table of descriptors that is isoinit's too, at the lowest number that
 * is free. Signals do not interrupt a call that is being answered: it would be told of twice.
 */
static void set_filter(const struct iso_plan *p)
{
	struct sock_fprog f = {
		.len = (unsigned short)p->header.filter_length,
		.filter = (struct sock_filter *)(uintptr_t)p->filter,
	};
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			  &f);

	if (fd < 0)
		fail(errno == EBUSY ? "seccomp: isod is listened to" : "seccomp", errno);
	if (fd != ISO_INIT_FD_LISTENER)
		fail("listener", EBADF);
}

/*
 * execvp(3) without its shell fallback: a file that the kernel cannot run is an error. EACCES of
 * one directory is remembered, as a later one may have the command.
 */
static void execute(const struct iso_plan *p)
{
	const char *name = p->argv[0];
	size_t n = strlen(name);
	int error = ENOENT;
	char path[4096];

	if (strchr(name, '/')) {
		execve(name, p->argv, p->envp);
		fail("exec", errno);
	}
	for (const char *at = p->path; *at; at += *at == ':') {
		size_t d = strcspn(at, ":");

		/* An empty or relative entry would mean the working directory: never. */
		if (d && at[0] == '/' && d + 1 + n < sizeof path) {
			memcpy(path, at, d);
			path[d] = '/';
			memcpy(path + d + 1, name, n + 1);
			execve(path, p->argv, p->envp);
			if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
				fail("exec", errno);
			if (errno == EACCES)
				error = EACCES;
		}
		at += d;
	}
	fail("exec", error);
}

static void child(struct iso_init *i) __attribute__((noreturn));

static void child(struct iso_init *i)
{
	const struct iso_plan *p = &i->plan;

	if (setsid() < 0)
		fail("session", errno);
	reset_signals();
	umask(p->header.umask);
	set_limits(p);
	drop_user(&p->header);
	if (chdir(p->cwd) < 0)
		fail("directory", errno);
	set_filter(p);
	execute(p);
	_exit(126);
}

int iso_entry_start(struct iso_init *i)
{
	int pipe_fds[2];
	long pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	status_fd = pipe_fds[1];
	close(ISO_INIT_FD_LISTENER); /* the plan's; the lowest free number now */
	pid = syscall(SYS_clone, CLONE_FILES | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		child(i);
	if (pid < 0) {
		int r = -errno;

		close(pipe_fds[0]);
		close(pipe_fds[1]);
		return r;
	}
	close(pipe_fds[1]);
	i->exec_status = pipe_fds[0];
	i->entry = (pid_t)pid;
	if (fcntl(ISO_INIT_FD_LISTENER, F_GETFD) >= 0)
		i->listener = ISO_INIT_FD_LISTENER;
	return 0;
}
