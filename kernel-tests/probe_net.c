/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets of the internet families, and of those that must not exist. */
#include "probe.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t length;
};

/* "192.0.2.1" or "::1", and a port. */
static int parse(char **w, struct address *a)
{
	uint16_t port = (uint16_t)strtol(w[1] ? w[1] : "0", NULL, 10);

	memset(a, 0, sizeof *a);
	if (inet_pton(AF_INET, w[0], &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons(port);
		a->length = sizeof a->v4;
		return 0;
	}
	if (inet_pton(AF_INET6, w[0], &a->v6.sin6_addr) != 1)
		return CANNOT;
	a->v6.sin6_family = AF_INET6;
	a->v6.sin6_port = htons(port);
	a->length = sizeof a->v6;
	return 0;
}

static int with_socket(char **w, int type, int (*act)(int fd, struct address *a))
{
	struct address a;
	int fd, e;

	if (parse(w, &a))
		return CANNOT;
	fd = socket(a.any.sa_family, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return CANNOT;
	e = act(fd, &a);
	close(fd);
	return e;
}

static int act_connect(int fd, struct address *a)
{
	return probe_errno(connect(fd, &a->any, a->length));
}

static int act_send(int fd, struct address *a)
{
	return probe_errno(sendto(fd, "x", 1, 0, &a->any, a->length));
}

static int act_fastopen(int fd, struct address *a)
{
	return probe_errno(sendto(fd, "x", 1, MSG_FASTOPEN, &a->any, a->length));
}

static int act_fastopen_connect(int fd, struct address *a)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one))
		return CANNOT;
	return act_connect(fd, a);
}

/* Sent by a datagram socket as IPv4 whatever the family says. */
static int act_send_unspec(int fd, struct address *a)
{
	a->any.sa_family = AF_UNSPEC;
	return act_send(fd, a);
}

static int act_send_many(int fd, struct address *a)
{
	char byte = 'x';
	struct iovec part = {&byte, 1};
	struct mmsghdr m = {.msg_hdr = {.msg_name = &a->any,
					.msg_namelen = a->length,
					.msg_iov = &part,
					.msg_iovlen = 1}};

	return probe_errno(sendmmsg(fd, &m, 1, 0));
}

static int act_bind(int fd, struct address *a)
{
	return probe_errno(bind(fd, &a->any, a->length));
}

static int act_listen(int fd, struct address *a)
{
	(void)a;
	return probe_errno(listen(fd, 1));
}

static int act_disconnect(int fd, struct address *a)
{
	a->any.sa_family = AF_UNSPEC;
	return act_connect(fd, a);
}

static int tcp_connect(char **w)
{
	return with_socket(w, SOCK_STREAM, act_connect);
}

static int udp_connect(char **w)
{
	return with_socket(w, SOCK_DGRAM, act_connect);
}

static int udp_send(char **w)
{
	return with_socket(w, SOCK_DGRAM, act_send);
}

static int udp_send_many(char **w)
{
	return with_socket(w, SOCK_DGRAM, act_send_many);
}

static int udp_send_unspec(char **w)
{
	return with_socket(w, SOCK_DGRAM, act_send_unspec);
}

static int udp_disconnect(char **w)
{
	return with_socket(w, SOCK_DGRAM, act_disconnect);
}

static int tcp_fastopen(char **w)
{
	return with_socket(w, SOCK_STREAM, act_fastopen);
}

static int tcp_fastopen_connect(char **w)
{
	return with_socket(w, SOCK_STREAM, act_fastopen_connect);
}

static int tcp_bind(char **w)
{
	return with_socket(w, SOCK_STREAM, act_bind);
}

static int udp_bind(char **w)
{
	return with_socket(w, SOCK_DGRAM, act_bind);
}

static int tcp_listen(char **w)
{
	return with_socket(w, SOCK_STREAM, act_listen);
}

/* An IPv6 socket sends to an IPv4 address as such. */
static int udp6_send4(char **w)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), e;
	struct address a;

	if (fd < 0 || parse(w, &a))
		return CANNOT;
	e = act_send(fd, &a);
	close(fd);
	return e;
}

/* Both ends on loopback: a byte goes through. */
static int tcp_loop(char **w)
{
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), peer, e = 0;
	struct address a;
	char c = 0;

	if (server < 0 || client < 0 || parse(w, &a))
		return CANNOT;
	if (bind(server, &a.any, a.length) || listen(server, 1) ||
	    getsockname(server, &a.any, &a.length) || connect(client, &a.any, a.length))
		return errno;
	peer = accept(server, NULL, NULL);
	if (peer < 0 || write(client, "y", 1) != 1 || read(peer, &c, 1) != 1 || c != 'y')
		e = errno ? errno : EIO;
	close(server);
	close(client);
	close(peer);
	return e;
}

static int connected(int fds[2])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof a;

	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server < 0 || fds[0] < 0 || bind(server, (struct sockaddr *)&a, n) ||
	    listen(server, 1) || getsockname(server, (struct sockaddr *)&a, &n) ||
	    connect(fds[0], (struct sockaddr *)&a, n))
		return CANNOT;
	fds[1] = accept(server, NULL, NULL);
	close(server);
	return 0;
}

/* Two ends on loopback, and one thing that is done with them. */
static int tcp_pair(char **w)
{
	struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
	int fds[2], one = 1;

	if (connected(fds))
		return CANNOT;
	if (!strcmp(w[0], "accept"))
		return probe_errno(fds[1]);
	if (!strcmp(w[0], "send"))
		return probe_errno(send(fds[0], "x", 1, 0));
	if (!strcmp(w[0], "write"))
		return probe_errno(write(fds[0], "x", 1));
	if (!strcmp(w[0], "option"))
		return probe_errno(setsockopt(fds[0], SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one));
	if (!strcmp(w[0], "disconnect"))
		return probe_errno(connect(fds[0], &nowhere, sizeof nowhere));
	return CANNOT;
}

/* Gives the machine an address, on its loopback: outside it answers, inside it must not. */
static int add_address(char **w)
{
	struct ifreq r = {.ifr_name = "lo:1"};
	struct sockaddr_in *a = (struct sockaddr_in *)(void *)&r.ifr_addr;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK};

	a->sin_family = AF_INET;
	if (fd < 0 || inet_pton(AF_INET, w[0], &a->sin_addr) != 1)
		return CANNOT;
	if (ioctl(fd, SIOCSIFFLAGS, &up) || ioctl(fd, SIOCSIFADDR, &r))
		return errno;
	return 0;
}

/* Listens at ADDRESS PORT in a process that stays and never accepts. */
static int serve_tcp(char **w)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct address a;

	if (fd < 0 || parse(w, &a) || bind(fd, &a.any, a.length) || listen(fd, 64))
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

static int number(const char *text)
{
	return text ? (int)strtol(text, NULL, 10) : 0;
}

/* socket FAMILY TYPE PROTOCOL, as numbers. */
static int make(char **w)
{
	int fd = socket(number(w[0]), number(w[1]), number(w[2])), e = probe_errno(fd);

	close(fd);
	return e;
}

static int mptcp(char **w)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP), e = probe_errno(fd);

	(void)w;
	close(fd);
	return e;
}

const struct probe_verb probe_net_verbs[] = {
	{"tcp-connect", tcp_connect},
	{"udp-connect", udp_connect},
	{"udp-send", udp_send},
	{"udp-send-many", udp_send_many},
	{"udp-send-unspec", udp_send_unspec},
	{"udp-disconnect", udp_disconnect},
	{"udp6-send4", udp6_send4},
	{"tcp-fastopen", tcp_fastopen},
	{"tcp-fastopen-connect", tcp_fastopen_connect},
	{"tcp-bind", tcp_bind},
	{"udp-bind", udp_bind},
	{"tcp-listen", tcp_listen},
	{"tcp-loop", tcp_loop},
	{"tcp-pair", tcp_pair},
	{"add-address", add_address},
	{"serve-tcp", serve_tcp},
	{"socket", make},
	{"mptcp", mptcp},
	{NULL, NULL},
};
