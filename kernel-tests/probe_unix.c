/* SPDX-License-Identifier: BSD-2-Clause */
/* Unix sockets: within the sandbox, and towards those of the host. */
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* "@name" is an abstract one. */
static socklen_t name(struct sockaddr_un *a, const char *text)
{
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	snprintf(a->sun_path, sizeof a->sun_path, "%s", text);
	if (*text != '@')
		return sizeof *a;
	a->sun_path[0] = 0;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(text));
}

static int with(char **w, int type, int (*act)(int, const struct sockaddr *, socklen_t))
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0), e;
	struct sockaddr_un a;
	socklen_t n = name(&a, w[0]);

	if (fd < 0)
		return CANNOT;
	e = probe_errno(act(fd, (const struct sockaddr *)&a, n));
	close(fd);
	return e;
}

static int act_send(int fd, const struct sockaddr *a, socklen_t n)
{
	return (int)sendto(fd, "x", 1, 0, a, n);
}

static int unix_connect(char **w)
{
	return with(w, SOCK_STREAM, connect);
}

static int unix_send(char **w)
{
	return with(w, SOCK_DGRAM, act_send);
}

static int unix_bind(char **w)
{
	return with(w, SOCK_STREAM, bind);
}

static int pair(char **w)
{
	int fds[2];
	char c = 0;

	(void)w;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return errno;
	if (write(fds[0], "z", 1) != 1 || read(fds[1], &c, 1) != 1 || c != 'z')
		return EIO;
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* A stream from one end of the sandbox to the other, by a name. */
static int unix_loop(char **w)
{
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0),
	    peer;
	struct sockaddr_un a;
	socklen_t n = name(&a, w[0]);
	char c = 0;

	if (server < 0 || client < 0)
		return CANNOT;
	if (bind(server, (struct sockaddr *)&a, n) || listen(server, 1) ||
	    connect(client, (struct sockaddr *)&a, n))
		return errno;
	peer = accept(server, NULL, NULL);
	if (peer < 0 || write(client, "z", 1) != 1 || read(peer, &c, 1) != 1 || c != 'z')
		return EIO;
	return 0;
}

static int unix_datagrams(char **w)
{
	int server = socket(AF_UNIX, SOCK_DGRAM, 0), client = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct sockaddr_un a;
	socklen_t n = name(&a, w[0]);
	char c = 0;

	if (server < 0 || client < 0)
		return CANNOT;
	if (bind(server, (struct sockaddr *)&a, n) ||
	    sendto(client, "z", 1, 0, (struct sockaddr *)&a, n) != 1)
		return errno;
	return read(server, &c, 1) == 1 && c == 'z' ? 0 : EIO;
}

/* Bound to a name that everyone may use: the socket, or -1. */
static int listening(const char *text, int type)
{
	int fd = socket(AF_UNIX, type, 0);
	struct sockaddr_un a;
	socklen_t n = name(&a, text);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, n))
		return -1;
	if (*text != '@' && chmod(text, 0777))
		return -1;
	return type == SOCK_STREAM && listen(fd, 8) ? -1 : fd;
}

static int pair_send(char **w)
{
	int fds[2], e;

	(void)w;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds))
		return CANNOT;
	e = probe_errno(send(fds[0], "x", 1, 0));
	close(fds[0]);
	close(fds[1]);
	return e;
}

/* Says in NAME.pid who has which descriptor of the file. */
static int tell(const char *name, pid_t pid, int file)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s.pid", name);
	f = fopen(path, "we");
	if (!f)
		return errno;
	fprintf(f, "%d %d\n", (int)pid, file);
	return fclose(f) ? errno : 0;
}

/* Outside: who connects is sent a descriptor of the file w[1]. */
static int pass_file(char **w)
{
	int server = listening(w[0], SOCK_STREAM), file = open(w[1], O_RDWR), peer;
	pid_t pid;

	if (server < 0 || file < 0)
		return errno;
	pid = fork();
	if (pid)
		return pid < 0 ? errno : tell(w[0], pid, file);
	close(0);
	close(1);
	close(2);
	while ((peer = accept(server, NULL, NULL)) >= 0) {
		probe_send_descriptor(peer, file);
		close(peer);
	}
	_exit(1);
}

/* Connects to that, and does something with the file. */
static int with_passed(const char *server, int (*act)(int file))
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), got, e;
	struct sockaddr_un a;
	socklen_t n = name(&a, server);

	if (fd < 0)
		return CANNOT;
	if (connect(fd, (struct sockaddr *)&a, n))
		return errno;
	got = probe_receive_descriptor(fd);
	close(fd);
	if (got < 0)
		return EACCES;
	e = act(got);
	close(got);
	return e;
}

static int act_read(int file)
{
	char byte;

	return probe_errno(pread(file, &byte, 1, 0));
}

static int act_truncate(int file)
{
	return probe_errno(ftruncate(file, 1));
}

static int receive_from(char **w)
{
	return with_passed(w[0], act_read);
}

static int receive_ftruncate(char **w)
{
	return with_passed(w[0], act_truncate);
}

/* Outside: a stream socket, a datagram socket and an abstract one, held by a process that stays. */
static int serve(char **w)
{
	if (listening(w[0], SOCK_STREAM) < 0 || listening(w[1], SOCK_DGRAM) < 0 ||
	    listening(w[2], SOCK_STREAM) < 0)
		return errno;
	if (!fork()) {
		close(0);
		close(1);
		close(2);
		for (;;)
			pause();
	}
	return 0;
}

const struct probe_verb probe_unix_verbs[] = {
	{"unix-connect", unix_connect},
	{"unix-send", unix_send},
	{"unix-bind", unix_bind},
	{"socketpair", pair},
	{"unix-loop", unix_loop},
	{"unix-datagrams", unix_datagrams},
	{"serve", serve},
	{"unix-pair-send", pair_send},
	{"pass-file", pass_file},
	{"receive-from", receive_from},
	{"receive-ftruncate", receive_ftruncate},
	{NULL, NULL},
};
