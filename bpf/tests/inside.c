/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program as it runs in the rig's sandbox. As launcher it reads commands from descriptor 3 and
 * starts this program for each; that does the verb and writes the errno it got to descriptor 4.
 * Descriptor 5 gives the sign to those that wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define COMMANDS 3
#define ANSWERS	 4
#define SIGN	 5
#define WORDS	 16
#define STACK	 65536

static void answer(int32_t value)
{
	if (write(ANSWERS, &value, sizeof value) != sizeof value)
		_exit(124);
}

static int of(long result)
{
	return result < 0 ? errno : 0;
}

static int do_open(char **v)
{
	int flags = !strcmp(v[1], "w") ? O_WRONLY : !strcmp(v[1], "rw") ? O_RDWR : O_RDONLY;
	int fd = open(v[0], flags | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int do_create(char **v)
{
	int fd = open(v[0], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

	return fd < 0 ? errno : (close(fd), 0);
}

static int do_mkdir(char **v)
{
	return of(mkdir(v[0], 0755));
}

static int do_rmdir(char **v)
{
	return of(rmdir(v[0]));
}

static int do_unlink(char **v)
{
	return of(unlink(v[0]));
}

static int do_rename(char **v)
{
	return of(rename(v[0], v[1]));
}

static int do_exchange(char **v)
{
	return of(renameat2(AT_FDCWD, v[0], AT_FDCWD, v[1], RENAME_EXCHANGE));
}

static int do_link(char **v)
{
	return of(link(v[0], v[1]));
}

static int do_symlink(char **v)
{
	return of(symlink(v[0], v[1]));
}

static int do_exec(char **v)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		char *argv[] = {v[0], NULL}, *environment[] = {NULL};

		execve(v[0], argv, environment);
		_exit(errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return ECHILD;
	return WEXITSTATUS(status);
}

/* The program v[0] with all the words after it: what it exits with. */
static int do_probe(char **v)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		char *environment[] = {NULL};

		execve(v[0], v, environment);
		_exit(errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return ECHILD;
	return WEXITSTATUS(status);
}

static int do_kill(char **v)
{
	return of(kill((pid_t)strtol(v[0], NULL, 10), 0));
}

/* A mapping of a file that was not written, made executable. */
static int do_protect(char **v)
{
	int fd = open(v[0], O_RDONLY | O_CLOEXEC), e;
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	close(fd);
	if (at == MAP_FAILED)
		return EDOM;
	e = of(mprotect(at, 4096, PROT_READ | PROT_EXEC));
	munmap(at, 4096);
	return e;
}

/* N refusals of one kind: the last errno. */
static int do_flood(char **v)
{
	int e = 0;

	for (long n = strtol(v[1], NULL, 10); n > 0; n--) {
		int fd = open(v[0], O_RDONLY | O_CLOEXEC);

		e = fd < 0 ? errno : 0;
		close(fd);
	}
	return e;
}

/* N refusals of making 1,000 names in turn, which are no repeats of each other: the last errno. */
static int do_spray(char **v)
{
	char path[256];
	int e = 0;

	for (long n = strtol(v[1], NULL, 10), i = 0; i < n; i++) {
		int fd;

		snprintf(path, sizeof path, "%s/%ld", v[0], i % 1000);
		fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
		e = fd < 0 ? errno : 0;
		close(fd);
	}
	return e;
}

/* Repeats by two at a time. */
static int do_flood_twice(char **v)
{
	pid_t pid = fork();
	int e = do_flood(v), status;

	if (!pid)
		_exit(e);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return ECHILD;
	return WEXITSTATUS(status) == e ? e : EDOM;
}

/* N processes that come and go. */
static int do_forks(char **v)
{
	for (long n = strtol(v[0], NULL, 10); n > 0; n--) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return errno;
	}
	return 0;
}

struct verb {
	const char *name;
	int words; /* 0: any number */
	int (*run)(char **v);
};

static const struct verb verbs[] = {
	{"open", 2, do_open},
	{"create", 1, do_create},
	{"mkdir", 1, do_mkdir},
	{"rmdir", 1, do_rmdir},
	{"unlink", 1, do_unlink},
	{"rename", 2, do_rename},
	{"exchange", 2, do_exchange},
	{"link", 2, do_link},
	{"symlink", 2, do_symlink},
	{"exec", 1, do_exec},
	{"kill", 1, do_kill},
	{"flood", 2, do_flood},
	{"forks", 1, do_forks},
	{"protect", 1, do_protect},
	{"probe", 0, do_probe},
	{"spray", 2, do_spray},
	{"flood-twice", 2, do_flood_twice},
};

static int perform(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if ((argc == verbs[i].words + 1 || !verbs[i].words) && argv[0] &&
		    !strcmp(argv[0], verbs[i].name))
			return verbs[i].run(argv + 1);
	return EDOM; /* no such verb: no errno that a case expects */
}

/* ---------------------------------------------------------------------- ways to become another */

struct way {
	int argc;
	char **argv;
};

static void finish(struct way *w)
{
	answer(perform(w->argc, w->argv));
	_exit(0);
}

static void by_double_fork(struct way *w)
{
	if (fork())
		_exit(0);
	if (fork())
		_exit(0);
	finish(w);
}

static void by_setsid(struct way *w)
{
	if (fork())
		_exit(0);
	setsid();
	finish(w);
}

static void by_vfork(struct way *w)
{
	/* NOLINTNEXTLINE: what is tested is the label of a vfork child */
	pid_t pid = vfork();

	if (!pid)
		finish(w); /* NOLINT(clang-analyzer-unix.Vfork): it shares the memory and ends */
	waitpid(pid, NULL, 0);
	_exit(0);
}

static int clone_body(void *data)
{
	finish(data);
	return 0;
}

static void by_clone_parent(struct way *w)
{
	static char stack[STACK];

	clone(clone_body, stack + STACK, CLONE_PARENT | SIGCHLD, w);
	_exit(0);
}

static void *thread_body(void *data)
{
	finish(data);
	return NULL;
}

static void by_thread(struct way *w)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_body, w))
		_exit(124);
	pthread_join(thread, NULL);
	_exit(0);
}

static void by_exec(struct way *w)
{
	char program[] = "iso-kernel-test", verb[] = "verb", *argv[WORDS + 3] = {program, verb};
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	for (int i = 0; i < w->argc; i++)
		argv[2 + i] = w->argv[i];
	self[n < 0 ? 0 : n] = 0;
	execv(self, argv);
	_exit(124);
}

/* Tells its pid, and goes on at the sign. */
static void by_waiting(struct way *w)
{
	char c;

	answer(getpid());
	if (read(SIGN, &c, 1) != 1)
		_exit(124);
	finish(w);
}

static const struct {
	const char *name;
	void (*go)(struct way *w);
} ways[] = {
	{"double-fork", by_double_fork},
	{"setsid", by_setsid},
	{"vfork", by_vfork},
	{"clone-parent", by_clone_parent},
	{"thread", by_thread},
	{"re-exec", by_exec},
	{"wait", by_waiting},
};

int inside_verb(int argc, char **argv)
{
	struct way w = {argc - 1, argv + 1};

	if (argc < 1)
		return 124;
	signal(SIGCHLD, SIG_DFL); /* the launcher ignores it, and that is inherited */
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(argv[0], ways[i].name))
			ways[i].go(&w);
	answer(perform(argc, argv));
	return 0;
}

/* ---------------------------------------------------------------------- the launcher */

/* waits: the child tells its pid, and executes at the sign. */
static void start(char *text, const char *self, bool waits)
{
	char program[] = "iso-kernel-test", verb[] = "verb";
	char *argv[WORDS + 3] = {program, verb}, *environment[] = {NULL}, *save, sign;
	int argc = 2;

	for (char *word = strtok_r(text, " ", &save); word && argc < WORDS;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	if (fork())
		return;
	if (waits) {
		answer(getpid());
		if (read(SIGN, &sign, 1) != 1)
			_exit(124);
	}
	execve(self, argv, environment);
	answer(errno);
	_exit(124);
}

/* The program's own path comes as the first command: /proc/self/exe is the memfd here. */
static bool next(char *text, size_t size)
{
	size_t n = 0;

	while (n < size && read(COMMANDS, text + n, 1) == 1)
		if (!text[n++])
			return true;
	return false;
}

int inside_init(void)
{
	char text[1024], self[1024];

	signal(SIGCHLD, SIG_IGN);
	answer(0);
	if (!next(self, sizeof self))
		return 0;
	answer(0);
	while (next(text, sizeof text)) {
		/* for tests of what comes before the first program */
		if (!strncmp(text, "direct ", 7)) {
			char *argv[WORDS] = {}, *save;
			int argc = 0;

			for (char *word = strtok_r(text + 7, " ", &save); word && argc < WORDS;
			     word = strtok_r(NULL, " ", &save))
				argv[argc++] = word;
			signal(SIGCHLD, SIG_DFL);
			answer(perform(argc, argv));
			signal(SIGCHLD, SIG_IGN);
		} else if (!strncmp(text, "forked ", 7)) {
			start(text + 7, self, true);
		} else {
			start(text, self, false);
		}
	}
	return 0;
}
