/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes: the agent (this program) and isoinit, reached for by a root process outside. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"
#include "kernel/internal.h"

static pid_t target;
static char word[8]; /* at the same place in each fork of the agent */

/* SIGURG is ignored by who does not want it. */
static void signal_it(void)
{
	siginfo_t info = {.si_code = SI_QUEUE};
	int fd = (int)syscall(SYS_pidfd_open, target, 0);

	guard_answer(kill(target, SIGURG));
	guard_answer(syscall(SYS_tgkill, target, target, SIGURG));
	guard_answer(syscall(SYS_rt_sigqueueinfo, target, SIGURG, &info));
	guard_answer(syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0));
}

static void signal_nothing(void)
{
	guard_answer(kill(target, 0));
}

static void open_memory(const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", target, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0 && errno == EACCES)
		errno = EPERM; /* procfs' own word for it (mm_access) */
	guard_answer(fd);
	close(fd);
}

static void look_into_it(void)
{
	struct iovec v = {word, sizeof word};
	int fd = (int)syscall(SYS_pidfd_open, target, 0);

	/* a target that does not map this address answers EFAULT: it was reached all the same */
	errno = 0;
	if (process_vm_readv(target, &v, 1, &v, 1, 0) < 0 && errno == EFAULT)
		errno = 0;
	guard_answer(errno ? -1 : 0);
	errno = 0;
	if (process_vm_writev(target, &v, 1, &v, 1, 0) < 0 && errno == EFAULT)
		errno = 0;
	guard_answer(errno ? -1 : 0);
	open_memory("mem", O_RDONLY);
	open_memory("mem", O_RDWR);
	guard_answer(syscall(SYS_pidfd_getfd, fd, 0, 0));
}

/* Ends with this process, and the target goes on. */
static void trace_it(void)
{
	guard_answer(ptrace(PTRACE_SEIZE, target, NULL, NULL));
}

static void ask_status(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/status", target);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	guard_answer(fd);
}

static void reached(const char *what, void (*body)(void), int n, uint32_t hook, bool locked)
{
	guard_read();
	CHECK(guard_outside(body) && guard_all(what, n, locked ? EPERM : 0), "%s: %s", what,
	      locked ? "locked" : "open");
	/* each is told of once */
	guard_told(what, locked ? (size_t)n : 0, hook, ISO_OBJECT_PROCESS);
	if (locked)
		CHECK(guard_tampers[0].id == (uint32_t)target, "%s: pid %u", what,
		      guard_tampers[0].id);
}

static void all_ways(bool locked)
{
	reached("signals", signal_it, 4, ISO_HOOK_task_kill, locked);
	reached("memory", look_into_it, 5, ISO_HOOK_ptrace_access_check, locked);
	reached("trace", trace_it, 1, ISO_HOOK_ptrace_access_check, locked);
	CHECK(guard_outside(signal_nothing) && guard_all("signal 0", 1, 0), "signal 0");
	CHECK(guard_outside(ask_status) && guard_all("status", 1, 0), "status");
}

static void the_agent(void)
{
	target = getpid();
	all_ways(false);
	REQUIRE(guard_lock(), "not locked");
	all_ways(true);
	CHECK(!kill(target, SIGURG), "the agent may not signal itself");
	guard_release();
}

static void isoinit(void)
{
	struct rig r = {};

	REQUIRE(rig_prepare(&r, 0, RIG_RATE) && rig_seal(&r), "no sandbox");
	target = r.init;
	all_ways(false);
	REQUIRE(guard_lock(), "not locked");
	all_ways(true);
	CHECK(!kill(target, SIGURG), "the agent may not signal isoinit: %s", strerror(errno));
	CHECK(!ptrace(PTRACE_SEIZE, target, NULL, NULL) &&
		      !ptrace(PTRACE_INTERRUPT, target, 0, 0) &&
		      waitpid(target, NULL, __WALL) == target &&
		      !ptrace(PTRACE_DETACH, target, NULL, NULL),
	      "the agent may not trace isoinit: %s", strerror(errno));
	CHECK_EQUAL(rig_ask(&r, "open /etc/passwd r"), 0);
	rig_end(&r); /* by cgroup.kill */
	guard_release();
}

/* What a fork of the agent does until `gate` closes; it holds no descriptor of ours. */
static void wait_for(int gate)
{
	char c;

	gate = dup2(gate, 3);
	close_range(4, ~0u, 0);
	_exit(read(gate, &c, 1) == 0 ? 0 : 1);
}

/*
 * The process between the fork into the cgroup and isoinit. A new one for each state: it is a fork
 * of the agent's, and what it inherits would be in the lock's way.
 */
static void before_isoinit(void)
{
	int gate[2] = {-1, -1};
	struct rig r = {};

	REQUIRE(rig_begin(&r, 0, RIG_RATE), "no sandbox");
	for (int locked = 0; locked < 2; locked++) {
		if (locked)
			REQUIRE(guard_lock(), "not locked");
		REQUIRE(!pipe2(gate, O_CLOEXEC), "no pipe");
		target = rig_clone_into(r.cgroup_fd);
		if (!target)
			wait_for(gate[0]);
		all_ways(locked);
		close(gate[0]);
		close(gate[1]);
		rig_wait(target);
	}
	rig_end(&r);
	guard_release();
}

/* Forked by isoinit, whose descriptors it shares, and not yet the task. */
static void before_the_command(void)
{
	struct rig r = {};

	REQUIRE(rig_prepare(&r, 0, RIG_RATE) && rig_seal(&r), "no sandbox");
	target = rig_ask(&r, "forked open /etc/passwd r");
	REQUIRE(target > 0, "no fork");
	for (int locked = 0; locked < 2; locked++) {
		if (locked)
			REQUIRE(guard_lock(), "not locked");
		reached("signals", signal_it, 4, ISO_HOOK_task_kill, false);
		reached("memory", look_into_it, 5, ISO_HOOK_ptrace_access_check, locked);
		reached("trace", trace_it, 1, ISO_HOOK_ptrace_access_check, locked);
	}
	rig_go(&r);
	CHECK_EQUAL(rig_answer(&r), 0);
	rig_end(&r);
	guard_release();
}

/* It may receive and signal what others may not: nobody acts through it. */
static void the_hosts_init(void)
{
	target = 1;
	for (int locked = 0; locked < 2; locked++) {
		if (locked)
			REQUIRE(guard_lock(), "not locked");
		reached("signals", signal_it, 4, ISO_HOOK_task_kill, false);
		reached("memory", look_into_it, 5, ISO_HOOK_ptrace_access_check, locked);
		reached("trace", trace_it, 1, ISO_HOOK_ptrace_access_check, locked);
	}
	guard_release();
}

/* Other people's processes, and a sandbox's own tasks, are as they were. */
static void others_are_left_alone(void)
{
	int gate[2] = {-1, -1};
	struct rig r = {};

	REQUIRE(rig_prepare(&r, 0, RIG_RATE) && rig_seal(&r) && !pipe2(gate, O_CLOEXEC),
		"no sandbox");
	REQUIRE(guard_lock(), "not locked");
	fflush(stdout);
	target = fork();
	if (!target)
		wait_for(gate[0]);
	all_ways(false);
	close(gate[0]);
	close(gate[1]);
	rig_wait(target);
	target = rig_ask(&r, "wait open /etc/passwd r");
	REQUIRE(target > 0, "no task");
	reached("a task's signals", signal_it, 4, ISO_HOOK_task_kill, false);
	rig_go(&r);
	CHECK_EQUAL(rig_answer(&r), 0);
	rig_end(&r);
	guard_release();
}

static pid_t holder;
static int held;

static void take_from_holder(void)
{
	guard_answer(syscall(SYS_pidfd_getfd, (int)syscall(SYS_pidfd_open, holder, 0), held, 0));
}

/* One that is not guarded and has inherited a descriptor of ours: it is what arrives that counts.
 */
static void descriptors_are_not_taken(void)
{
	int gate[2] = {-1, -1};
	char c;

	REQUIRE(!pipe2(gate, O_CLOEXEC), "no pipe");
	for (int locked = 0; locked < 2; locked++) {
		if (locked)
			REQUIRE(guard_lock(), "not locked");
		held = bpf_map__fd(rig_kernel->skeleton->maps.iso_ring);
		fflush(stdout);
		holder = fork();
		if (!holder) {
			close(gate[1]);
			_exit(read(gate[0], &c, 1) == 0 ? 0 : 1);
		}
		guard_read();
		CHECK(guard_outside(take_from_holder) && guard_all("ring", 1, locked ? EPERM : 0),
		      "ring: %s", locked ? "locked" : "open");
		guard_told("ring", (size_t)locked, ISO_HOOK_file_receive, ISO_OBJECT_MAP);
		kill(holder, SIGKILL);
		rig_wait(holder);
	}
	close(gate[0]);
	close(gate[1]);
	guard_release();
}

const struct iso_case rig_guard_process_cases[] = {
	{"guarded-agent", the_agent},
	{"guarded-isoinit", isoinit},
	{"guarded-before-isoinit", before_isoinit},
	{"guarded-before-the-command", before_the_command},
	{"guarded-host-init", the_hosts_init},
	{"others-are-left-alone", others_are_left_alone},
	{"descriptors-are-not-taken", descriptors_are_not_taken},
};
const size_t rig_guard_process_count =
	sizeof rig_guard_process_cases / sizeof *rig_guard_process_cases;
