/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's part, as isod does it: bind a cgroup, fork into it, let the launcher run, install the
 * rules, seal. No namespaces and no mounts: they cost nothing at the hooks.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "common/log.h"
#include "sandbox.h"

#define REQUESTS 3
#define ANSWERS	 4
#define CGROUPS	 "/sys/fs/cgroup"

/* A worker that is given the rest of the sequence on its requests: one byte each. */
static const unsigned char go = 0;

static char *const environment[] = {NULL};

/* In the child: the pipes' ends at fixed numbers, the same addresses in every run. */
static void settle(int requests, int answers)
{
	if (dup2(requests, 13) < 0 || dup2(answers, 14) < 0 || dup2(13, REQUESTS) < 0 ||
	    dup2(14, ANSWERS) < 0 || close_range(ANSWERS + 1, ~0u, 0) ||
	    personality(ADDR_NO_RANDOMIZE) < 0)
		_exit(1);
}

static void become_worker(void)
{
	char *const argv[] = {(char *)"iso-bench-hooks", (char *)"worker", NULL};

	execve(ISO_BENCH_SELF, argv, environment);
	_exit(1);
}

static int hear(struct iso_bench_worker *w, struct iso_bench_answer *answer)
{
	ssize_t n = read(w->answers, answer, sizeof *answer);

	if (n != (ssize_t)sizeof *answer)
		return n < 0 ? -errno : -EPIPE;
	return answer->error;
}

int iso_bench_ask(struct iso_bench_worker *w, enum iso_bench which, struct iso_bench_answer *answer)
{
	const unsigned char byte = (unsigned char)which;
	int r = iso_write_all(w->requests, &byte, 1);

	return r ? r : hear(w, answer);
}

static void cgroup_path(char *path, size_t size, uint64_t sandbox)
{
	snprintf(path, size, CGROUPS "/iso-bench-%llu", (unsigned long long)sandbox);
}

/* For every worker, sandbox or not: in the root cgroup the kernel accounts for no memory. */
static int make_cgroup(struct iso_bench_worker *w)
{
	char path[64];

	cgroup_path(path, sizeof path, w->sandbox);
	if (mkdir(path, 0755))
		return -errno;
	w->cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return w->cgroup < 0 ? -errno : 0;
}

static pid_t fork_into(int cgroup)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (__u64)cgroup};

	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* Pipes to a child: the worker's ends in mine[], ours in *w. */
static int pipes(struct iso_bench_worker *w, int mine[2])
{
	int requests[2], answers[2];

	if (pipe2(requests, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
		return -errno;
	mine[0] = requests[0];
	mine[1] = answers[1];
	w->requests = requests[1];
	w->answers = answers[0];
	return 0;
}

int iso_bench_start(struct iso_bench_worker *ret, bool landlock)
{
	struct iso_bench_worker w = {.cgroup = -1};
	struct iso_bench_answer answer;
	int mine[2], r = pipes(&w, mine);

	if (!r)
		r = make_cgroup(&w);
	if (r)
		return r;
	w.pid = fork_into(w.cgroup);
	if (!w.pid) {
		settle(mine[0], mine[1]);
		if (landlock && iso_bench_landlock())
			_exit(1);
		become_worker();
	}
	if (w.pid < 0)
		return -errno;
	close(mine[0]);
	close(mine[1]);
	*ret = w;
	return hear(ret, &answer);
}

/* A read-only descriptor of a copy of this program: a file open for writing cannot be executed. */
static int launcher(void)
{
	ISO_AUTO_CLOSE int fd = memfd_create("launcher", MFD_CLOEXEC);
	ISO_AUTO_FREE char *data = NULL;
	char path[32];
	size_t size;
	int r = iso_read_file(AT_FDCWD, "/proc/self/exe", 64u << 20, &data, &size);

	if (r)
		return r;
	if (fd < 0)
		return -errno;
	r = iso_write_all(fd, data, size);
	if (r)
		return r;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	r = open(path, O_RDONLY | O_CLOEXEC);
	return r < 0 ? -errno : r;
}

static int add_rule(struct iso_kernel *k, uint64_t sandbox, const char *path, uint32_t rights,
		    uint32_t number)
{
	ISO_AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : iso_kernel_add_rule(k, sandbox, fd, rights, number);
}

static int add_rules(struct iso_kernel *k, uint64_t sandbox, unsigned int rules)
{
	int r = 0;

	for (unsigned int i = 0; i < rules && !r; i++) {
		if (i == 0)
			r = add_rule(k, sandbox, iso_bench_places[i],
				     ISO_READ | ISO_WRITE | ISO_MAKE, i + 1);
		else if (i < ISO_BENCH_FEW)
			r = add_rule(k, sandbox, iso_bench_places[i], ISO_READ | ISO_EXEC, i + 1);
		else
			r = add_rule(k, sandbox, iso_bench_many_path(i - ISO_BENCH_FEW), ISO_READ,
				     i + 1);
	}
	return r;
}

/* The first process of the cgroup: waits to be told, then becomes the launcher. */
static void first_process(const int mine[2], int memfd)
{
	char *const argv[] = {(char *)"iso-bench-hooks", (char *)"init", NULL};
	int program = fcntl(memfd, F_DUPFD_CLOEXEC, 20);
	char byte;

	if (read(mine[0], &byte, 1) != 1 || dup2(mine[0], REQUESTS) < 0 ||
	    personality(ADDR_NO_RANDOMIZE) < 0)
		_exit(1);
	if (dup2(mine[1], ANSWERS) < 0)
		_exit(1);
	syscall(SYS_execveat, program, "", argv, environment, AT_EMPTY_PATH);
	_exit(1);
}

int iso_bench_init(int requests, int answers)
{
	const struct iso_bench_answer up = {0};
	pid_t child;
	int status;
	char byte;

	if (iso_write_all(answers, &up, sizeof up) || read(requests, &byte, 1) != 1)
		return 1;
	child = fork();
	if (!child)
		become_worker();
	return child < 0 || waitpid(child, &status, 0) != child || status ? 1 : 0;
}

static int build(struct iso_kernel *k, struct iso_bench_worker *w, const int mine[2], int memfd,
		 unsigned int rules)
{
	struct iso_bench_answer answer;
	int r;

	r = iso_kernel_launcher(k, w->sandbox, memfd);
	if (r)
		return r;
	w->pid = fork_into(w->cgroup);
	if (!w->pid)
		first_process(mine, memfd);
	if (w->pid < 0)
		return -errno;
	r = iso_kernel_confirm(k, w->sandbox);
	if (!r)
		r = add_rules(k, w->sandbox, rules);
	if (!r)
		r = iso_write_all(w->requests, &go, 1);
	if (!r)
		r = hear(w, &answer);
	if (!r)
		r = iso_kernel_seal(k, w->sandbox);
	if (!r)
		r = iso_write_all(w->requests, &go, 1);
	return r;
}

int iso_bench_seal(struct iso_kernel *k, struct iso_bench_worker *ret, uint64_t sandbox,
		   unsigned int rules, uint32_t rate)
{
	struct iso_bench_worker w = {.sandbox = sandbox, .cgroup = -1};
	ISO_AUTO_CLOSE int memfd = launcher();
	struct iso_bench_answer answer;
	int mine[2], r = memfd < 0 ? memfd : pipes(&w, mine);

	if (!r)
		r = make_cgroup(&w);
	if (r)
		return r;
	r = iso_kernel_begin(k, sandbox, w.cgroup, ISO_SB_LOOPBACK | ISO_SB_ANON_EXEC, rate);
	if (!r)
		r = build(k, &w, mine, memfd, rules);
	close(mine[0]);
	close(mine[1]);
	*ret = w;
	return r ? r : hear(ret, &answer);
}

int iso_bench_end(struct iso_kernel *k, struct iso_bench_worker *w)
{
	char path[64];
	int r = 0, status = 0;

	close(w->requests);
	if (waitpid(w->pid, &status, 0) != w->pid)
		r = -errno;
	else if (status)
		r = -EPROTO;
	close(w->answers);
	close(w->cgroup);
	if (w->sandbox && !r)
		r = iso_kernel_remove(k, w->sandbox);
	cgroup_path(path, sizeof path, w->sandbox);
	return r ? r : rmdir(path) ? -errno : 0;
}
