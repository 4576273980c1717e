/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything that has a bound, until it answers. */
#include "probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY  200000
#define CHUNK (1 << 20)

/* Bytes into w[0] until refused: ENOSPC by the storage, EFBIG by the limit of one file. */
static int fill(char **w)
{
	int fd = open(w[0], O_CREAT | O_WRONLY | O_CLOEXEC, 0600), e = 0;
	static char chunk[CHUNK];

	if (fd < 0)
		return CANNOT;
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; !e && i < 4096; i++)
		e = write(fd, chunk, sizeof chunk) < 0 ? errno : 0;
	close(fd);
	unlink(w[0]);
	return e;
}

/* Empty files in w[0] until refused; they are removed again. */
static int fill_inodes(char **w)
{
	int e = 0, n = 0;
	char path[256];

	for (; !e && n < MANY; n++) {
		int fd;

		snprintf(path, sizeof path, "%s/inode-%d", w[0], n);
		fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		e = probe_errno(fd);
		close(fd);
	}
	while (n--) {
		snprintf(path, sizeof path, "%s/inode-%d", w[0], n);
		unlink(path);
	}
	return e;
}

static int files(char **w)
{
	int e = 0;

	(void)w;
	for (int n = 0; !e && n < MANY; n++)
		e = probe_errno(open("/dev/null", O_RDONLY | O_CLOEXEC));
	return e;
}

/* Children until refused; all of them end. */
static int processes(char **w)
{
	int gate[2], e = 0;

	(void)w;
	if (pipe(gate))
		return CANNOT;
	for (int n = 0; !e && n < 4096; n++) {
		pid_t pid = fork();
		char c;

		if (!pid) {
			close(gate[1]);
			_exit((int)read(gate[0], &c, 1));
		}
		e = probe_errno(pid);
	}
	close(gate[0]);
	close(gate[1]);
	while (wait(NULL) > 0)
		;
	return e;
}

/* Processes that make processes, for ever. */
static int bomb(char **w)
{
	(void)w;
	for (;;)
		if (fork() < 0)
			sched_yield();
	return 0;
}

/* Memory that is touched, in a child, until the group is ended for it. */
static int memory(char **w)
{
	size_t size = (size_t)strtoul(w[0], NULL, 10) << 20;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return errno;
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)at)[i] = 1;
	return 0;
}

/* Bytes to standard output. */
static int talk(char **w)
{
	static char chunk[4096];

	memset(chunk, 'a', sizeof chunk);
	chunk[sizeof chunk - 1] = '\n';
	for (long n = strtol(w[0], NULL, 10); n > 0; n -= (long)sizeof chunk)
		if (write(STDOUT_FILENO, chunk, sizeof chunk) < 0)
			return errno;
	return 0;
}

/* Stays, whatever it is asked. */
static int stay(char **w)
{
	(void)w;
	for (int s = 1; s < 64; s++)
		signal(s, SIG_IGN);
	for (;;)
		pause();
	return 0;
}

/* Leaves a child behind that wants to stay; w[0] says how it hides. */
static int leave(char **w)
{
	pid_t pid = fork();

	if (!pid) {
		if (!strcmp(w[0], "double") && fork())
			_exit(0);
		if (!strcmp(w[0], "session"))
			setsid();
		if (!strcmp(w[0], "stopped"))
			raise(SIGSTOP);
		/* what would keep a caller waiting that reads to the end */
		if (!strcmp(w[0], "closed"))
			syscall(SYS_close_range, 0, ~0u, 0);
		stay(w);
	}
	/* in between is no survivor: it has a parent until its end */
	if (pid > 0 && !strcmp(w[0], "double"))
		waitpid(pid, NULL, 0);
	return pid < 0 ? errno : 0;
}

/* w[1] opened for writing w[0] times: the errno, or 0 when one of them worked or got another. */
static int flood(char **w)
{
	int e = 0;

	for (long n = strtol(w[0], NULL, 10); n > 0; n--) {
		int fd = open(w[1], O_WRONLY | O_CLOEXEC), now = probe_errno(fd);

		close(fd);
		if (!now || (e && now != e))
			return 0;
		e = now;
	}
	return e;
}

/* w[0] ports of w[1] connected to, one every 10 ms: as flood. */
static int drip(char **w)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	long n = strtol(w[0], NULL, 10);
	int e = 0;

	if (inet_pton(AF_INET, w[1], &to.sin_addr) != 1)
		return CANNOT;
	for (long i = 1; i <= n; i++) {
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), now;

		if (fd < 0)
			return CANNOT;
		to.sin_port = htons((uint16_t)i);
		now = probe_errno(connect(fd, (struct sockaddr *)&to, sizeof to));
		close(fd);
		if (!now || (e && now != e))
			return 0;
		e = now;
		poll(NULL, 0, 10);
	}
	return e;
}

const struct probe_verb probe_limits_verbs[] = {
	{"fill", fill},	       {"fill-inodes", fill_inodes},
	{"many-files", files}, {"many-processes", processes},
	{"bomb", bomb},	       {"memory", memory},
	{"talk", talk},	       {"stay", stay},
	{"leave", leave},      {"flood", flood},
	{"drip", drip},	       {NULL, NULL},
};
