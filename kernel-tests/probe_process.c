/* SPDX-License-Identifier: BSD-2-Clause */
/* Other processes: signals, tracing, memory, limits. */
#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pid_of(char **w)
{
	return (pid_t)strtol(w[0], NULL, 10);
}

static int do_kill(char **w)
{
	return probe_errno(kill(pid_of(w), SIGCONT));
}

/* A child of its own may be signalled. */
static int kill_child(char **w)
{
	pid_t pid = fork();
	int e;

	(void)w;
	if (!pid) {
		pause();
		_exit(0);
	}
	if (pid < 0)
		return CANNOT;
	e = probe_errno(kill(pid, SIGKILL));
	waitpid(pid, NULL, 0);
	return e;
}

static int pidfd_signal(char **w)
{
	int fd = (int)syscall(SYS_pidfd_open, pid_of(w), 0), e;

	if (fd < 0)
		return errno;
	e = probe_errno(syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0));
	close(fd);
	return e;
}

static int queue_signal(char **w)
{
	return probe_errno(sigqueue(pid_of(w), SIGCONT, (union sigval){.sival_int = 0}));
}

static int trace(char **w)
{
	return probe_errno(ptrace(PTRACE_SEIZE, pid_of(w), NULL, NULL));
}

static int trace_me(char **w)
{
	(void)w;
	return probe_errno(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int read_memory(char **w)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {&byte, 1};

	return probe_errno(process_vm_readv(pid_of(w), &here, 1, &there, 1, 0));
}

static int write_memory(char **w)
{
	char byte = 0;
	struct iovec here = {&byte, 1}, there = {&byte, 1};

	return probe_errno(process_vm_writev(pid_of(w), &here, 1, &there, 1, 0));
}

static int take_descriptor(char **w)
{
	int fd = (int)syscall(SYS_pidfd_open, pid_of(w), 0);

	if (fd < 0)
		return CANNOT;
	return probe_errno(syscall(SYS_pidfd_getfd, fd, 0, 0));
}

/* Of the process and the number that the file w[0] names. */
static int take_named(char **w)
{
	FILE *f = fopen(w[0], "re");
	int pid, number, fd;

	if (!f || fscanf(f, "%d %d", &pid, &number) != 2)
		return CANNOT;
	fclose(f);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return fd < 0 ? CANNOT : probe_errno(syscall(SYS_pidfd_getfd, fd, number, 0));
}

static int core_limit(char **w)
{
	struct rlimit limit = {0, 0};

	(void)w;
	return probe_errno(syscall(SYS_setrlimit, RLIMIT_CORE, &limit));
}

static int core_prlimit(char **w)
{
	struct rlimit limit = {0, 0};

	(void)w;
	return probe_errno(prlimit(0, RLIMIT_CORE, &limit, NULL));
}

/* The upper half of the register that seccomp compares and the kernel does not look at. */
static int core_wide(char **w)
{
	struct rlimit limit = {0, 0};

	(void)w;
	return probe_errno(syscall(SYS_setrlimit, RLIMIT_CORE | 1ul << 40, &limit));
}

static int lower_files(char **w)
{
	struct rlimit limit;

	(void)w;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return CANNOT;
	limit.rlim_cur = 20;
	return probe_errno(setrlimit(RLIMIT_NOFILE, &limit));
}

static int affinity(char **w)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set))
		return CANNOT;
	return probe_errno(sched_setaffinity(pid_of(w), sizeof set, &set));
}

static int new_session(char **w)
{
	(void)w;
	return probe_errno(syscall(SYS_setsid));
}

static int session_body(void *data)
{
	(void)data;
	return probe_errno(setsid());
}

static int child_session(char **w)
{
	(void)w;
	return probe_in_child(session_body, NULL);
}

static int subreaper(char **w)
{
	(void)w;
	return probe_errno(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
}

static int more_uid(char **w)
{
	(void)w;
	return probe_errno(setuid(0));
}

/* A child that waits, and what `act` does to it. */
static int with_child(int (*act)(pid_t child))
{
	pid_t pid = fork();
	int e;

	if (!pid) {
		pause();
		_exit(0);
	}
	if (pid < 0)
		return CANNOT;
	e = act(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return e;
}

static int act_trace(pid_t child)
{
	return probe_errno(ptrace(PTRACE_SEIZE, child, NULL, NULL));
}

/* Its memory is a copy of this one's: the same address is there. */
static int act_read(pid_t child)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {&byte, 1};

	return probe_errno(process_vm_readv(child, &here, 1, &there, 1, 0));
}

static int act_take(pid_t child)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0), e;

	if (fd < 0)
		return CANNOT;
	e = probe_errno(syscall(SYS_pidfd_getfd, fd, 0, 0));
	close(fd);
	return e;
}

static int act_open_memory(pid_t child)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/mem", (int)child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return probe_errno(fd);
}

static int trace_child(char **w)
{
	(void)w;
	return with_child(act_trace);
}

static int read_child(char **w)
{
	(void)w;
	return with_child(act_read);
}

static int take_from_child(char **w)
{
	(void)w;
	return with_child(act_take);
}

static int open_child_memory(char **w)
{
	(void)w;
	return with_child(act_open_memory);
}

/* A pipe whose owner is another process, which is told that there is something to read. */
static int signal_by_file(char **w)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[0], F_SETOWN, pid_of(w)) ||
	    fcntl(ends[0], F_SETSIG, SIGURG) || fcntl(ends[0], F_SETFL, O_ASYNC))
		return CANNOT;
	return probe_errno(write(ends[1], "x", 1));
}

static int set_priority(char **w)
{
	return probe_errno(setpriority(PRIO_PROCESS, (id_t)pid_of(w), 1));
}

static int set_group(char **w)
{
	(void)w;
	return probe_errno(setpgid(0, 0));
}

static void *thread_body(void *data)
{
	*(int *)data = 1;
	return NULL;
}

static int thread(char **w)
{
	pthread_t t;
	int ran = 0, e = pthread_create(&t, NULL, thread_body, &ran);

	(void)w;
	if (e)
		return e;
	pthread_join(t, NULL);
	return ran ? 0 : EIO;
}

const struct probe_verb probe_process_verbs[] = {
	{"trace-child", trace_child},
	{"read-child", read_child},
	{"take-from-child", take_from_child},
	{"open-child-memory", open_child_memory},
	{"signal-by-file", signal_by_file},
	{"set-priority", set_priority},
	{"setpgid", set_group},
	{"thread", thread},
	{"kill", do_kill},
	{"kill-child", kill_child},
	{"pidfd-signal", pidfd_signal},
	{"queue-signal", queue_signal},
	{"trace", trace},
	{"trace-me", trace_me},
	{"read-memory", read_memory},
	{"write-memory", write_memory},
	{"take-descriptor", take_descriptor},
	{"take-named", take_named},
	{"core-limit", core_limit},
	{"core-prlimit", core_prlimit},
	{"core-wide", core_wide},
	{"lower-files", lower_files},
	{"affinity", affinity},
	{"setsid", new_session},
	{"child-setsid", child_session},
	{"subreaper", subreaper},
	{"setuid-root", more_uid},
	{NULL, NULL},
};
