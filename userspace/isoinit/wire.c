/* SPDX-License-Identifier: BSD-2-Clause */
#include "isoinit/protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int iso_wire_send_fd(int control_fd, uint32_t kind, int passed, int flags)
{
	struct iso_wire w = {.magic = ISO_WIRE_MAGIC, .kind = kind};
	union control control = {0};
	struct iovec v = {&w, sizeof w};
	struct msghdr m = {
		.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes,
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	ssize_t n;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof passed);
	memcpy(CMSG_DATA(c), &passed, sizeof passed);
	n = sendmsg(control_fd, &m, MSG_NOSIGNAL | flags);
	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof w ? 0 : -EIO;
}

/* The descriptors of a message: the first is kept, more are nobody's and closed. */
static bool take_fd(struct msghdr *m, int *ret)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t bytes;

	*ret = -1;
	if (!c)
		return true;
	if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return false;
	bytes = c->cmsg_len - CMSG_LEN(0);
	for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
		if (at == 0)
			*ret = fd;
		else
			close(fd);
	}
	return bytes == sizeof(int) && !(m->msg_flags & MSG_CTRUNC);
}

int iso_wire_receive(int control_fd, struct iso_wire *w, int *ret_fd)
{
	union control control = {0};
	struct iovec v = {w, sizeof *w};
	struct msghdr m = {
		.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes,
	};
	ssize_t n = recvmsg(control_fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	bool plain;

	*ret_fd = -1;
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	plain = take_fd(&m, ret_fd);
	if (n == 0)
		return 0;
	w->text[sizeof w->text - 1] = '\0';
	return plain && n == (ssize_t)sizeof *w && w->magic == ISO_WIRE_MAGIC ? 1 : -EPROTO;
}
