/* SPDX-License-Identifier: BSD-2-Clause */
/* The measured task: does an operation in batches and reports the cheapest. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "common/cleanup.h"
#include "common/io.h"

const struct iso_bench_row iso_bench_rows[ISO_BENCH_COUNT] = {
#define ISO_BENCH(name, batch, rounds, sentence) {#name, batch, rounds, sentence},
#include "operations.def"
#undef ISO_BENCH
};

/* What the operations need, made before the clock is read. */
static struct {
	char path[3][512]; /* of depth 2, 7, 32 */
	struct sockaddr_in peer;
	int file;
	int socket;
} at;

static int do_nothing(void)
{
	return 0;
}

static int do_read(void)
{
	char c;

	return pread(at.file, &c, 1, 0) == 1 ? 0 : -errno;
}

static int do_write(void)
{
	return pwrite(at.file, "x", 1, 0) == 1 ? 0 : -errno;
}

static int do_stat(void)
{
	struct stat st;

	return stat(at.path[0], &st) ? -errno : 0;
}

static int open_close(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 || close(fd) ? -errno : 0;
}

static int do_open2(void)
{
	return open_close(at.path[0], O_RDONLY);
}

static int do_open7(void)
{
	return open_close(at.path[1], O_RDONLY);
}

static int do_open32(void)
{
	return open_close(at.path[2], O_RDONLY);
}

/* Comes back from the first check after the hooks: nothing but them differs between scenes. */
static int do_connect(void)
{
	if (!connect(at.socket, (struct sockaddr *)&at.peer, sizeof at.peer))
		return -EPROTO;
	return errno == EISCONN ? 0 : -errno;
}

static int execute(const char *path)
{
	char *const argv[] = {(char *)path, NULL}, *const environment[] = {NULL};
	pid_t child = fork();
	int status;

	if (!child) {
		execve(path, argv, environment);
		_exit(errno);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPROTO;
}

static int do_exec(void)
{
	return execute("/usr/bin/true");
}

static int do_exec_static(void)
{
	return execute(ISO_BENCH_TRUE);
}

static int do_denied(void)
{
	int r = open_close(ISO_BENCH_BIN "/data", O_WRONLY);

	return r == -EACCES ? 0 : r ? r : -EPROTO;
}

static int do_allowed(void)
{
	return open_close(ISO_BENCH_BIN "/data", O_RDONLY);
}

static int (*const operations[ISO_BENCH_COUNT])(void) = {
#define ISO_BENCH(name, ...) do_##name,
#include "operations.def"
#undef ISO_BENCH
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void measure(enum iso_bench which, struct iso_bench_answer *answer)
{
	const struct iso_bench_row *row = &iso_bench_rows[which];
	int (*volatile operation)(void) = operations[which];
	uint64_t began, took;

	*answer = (struct iso_bench_answer){.best = UINT64_MAX};
	for (uint32_t round = 0; round <= row->rounds; round++) {
		int r = 0;

		began = now();
		for (uint32_t i = 0; i < row->batch; i++)
			r |= operation();
		took = now() - began;
		answer->operations += row->batch;
		if (r) {
			answer->error = operation();
			return;
		}
		/* The first round warms caches of the kernel: of dentries, of free pages. */
		if (round && took < answer->best)
			answer->best = took;
	}
}

static int connect_to_self(void)
{
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(ISO_BENCH_PORT)};
	ISO_AUTO_CLOSE int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int yes = 1;

	peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.peer = peer;
	at.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || at.socket < 0 ||
	    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
	    bind(listener, (struct sockaddr *)&peer, sizeof peer) || listen(listener, 1) ||
	    connect(at.socket, (struct sockaddr *)&peer, sizeof peer))
		return -errno;
	/* The other end stays open as well; the port is free for the next worker's listener. */
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC) < 0 ? -errno : 0;
}

static int prepare(void)
{
	static const int depths[] = {2, 7, ISO_BENCH_DEPTH_MAX};

	for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
		snprintf(at.path[i], sizeof at.path[i], "%s", iso_bench_path(depths[i]));
	at.file = open(at.path[0], O_RDWR | O_CLOEXEC);
	return at.file < 0 ? -errno : connect_to_self();
}

int iso_bench_work(int requests, int answers)
{
	struct iso_bench_answer answer = {.error = prepare()};
	unsigned char which;

	if (iso_write_all(answers, &answer, sizeof answer) || answer.error)
		return 1;
	while (read(requests, &which, 1) == 1) {
		if (which >= ISO_BENCH_COUNT)
			return 1;
		measure((enum iso_bench)which, &answer);
		if (iso_write_all(answers, &answer, sizeof answer))
			return 1;
	}
	return 0;
}
