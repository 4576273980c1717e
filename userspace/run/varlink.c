/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/varlink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"

#define READ_CHUNK (64u << 10)

struct outgoing {
	struct outgoing *next;
	char *data; /* a NUL ends it and is sent */
	size_t size, sent;
	struct iso_fds fds;
};

struct iso_varlink_stream {
	int fd;
	char *in;
	size_t used, room;
	size_t scanned; /* bytes of `in` known to hold no NUL */
	struct iso_fds fds;
	struct outgoing *first, **last;
	size_t queued;
};

void iso_fds_close(struct iso_fds *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->fds[i] >= 0)
			close(f->fds[i]);
	f->count = 0;
}

int iso_varlink_stream_new(int fd, struct iso_varlink_stream **ret)
{
	struct iso_varlink_stream *s;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->fd = fd;
	s->last = &s->first;
	*ret = s;
	return 0;
}

static void outgoing_free(struct outgoing *o)
{
	iso_fds_close(&o->fds);
	free(o->data);
	free(o);
}

void iso_varlink_stream_free(struct iso_varlink_stream *s)
{
	if (!s)
		return;
	while (s->first) {
		struct outgoing *o = s->first;

		s->first = o->next;
		outgoing_free(o);
	}
	iso_fds_close(&s->fds);
	free(s->in);
	close(s->fd);
	free(s);
}

int iso_varlink_stream_fd(const struct iso_varlink_stream *s)
{
	return s->fd;
}

size_t iso_varlink_stream_pending(const struct iso_varlink_stream *s)
{
	return s->used;
}

/* Keeps every descriptor of the control data, so that none is leaked even when it is refused. */
static int collect(struct iso_varlink_stream *s, struct msghdr *m)
{
	int r = m->msg_flags & MSG_CTRUNC ? -EPROTO : 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (s->fds.count < ISO_VARLINK_FDS_MAX) {
				s->fds.fds[s->fds.count++] = fd;
			} else {
				close(fd);
				r = -EPROTO;
			}
		}
	}
	return r;
}

static int make_room(struct iso_varlink_stream *s)
{
	size_t room = s->room ? s->room * 2 : READ_CHUNK;
	char *more;

	if (s->room - s->used >= READ_CHUNK / 4)
		return 0;
	more = realloc(s->in, room);
	if (!more)
		return -ENOMEM;
	s->in = more;
	s->room = room;
	return 0;
}

int iso_varlink_stream_read(struct iso_varlink_stream *s)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(ISO_VARLINK_FDS_MAX * sizeof(int))];
	} control;
	struct iovec v;
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof control.space};
	size_t before = s->fds.count;
	ssize_t n;
	int r = s->used > ISO_VARLINK_MESSAGE_MAX ? -EMSGSIZE : make_room(s);

	if (r < 0)
		return r;
	v = (struct iovec){s->in + s->used, s->room - s->used};
	do
		n = recvmsg(s->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	r = collect(s, &m);
	/* Descriptors after bytes of a whole message, or onto others: which is whose? */
	if (s->fds.count > before && (before || memchr(s->in, '\0', s->used)))
		r = -EPROTO;
	s->used += (size_t)n;
	if (r < 0)
		return r;
	if (n == 0)
		return 0;
	if (s->used > ISO_VARLINK_MESSAGE_MAX && !memchr(s->in, '\0', ISO_VARLINK_MESSAGE_MAX))
		return -EMSGSIZE;
	return 1;
}

int iso_varlink_stream_next(struct iso_varlink_stream *s, json_t **ret, struct iso_fds *fds)
{
	char *end = s->used > s->scanned ? memchr(s->in + s->scanned, '\0', s->used - s->scanned)
					 : NULL;
	json_t *message;
	size_t n;

	if (!end) {
		s->scanned = s->used;
		return 0;
	}
	n = (size_t)(end - s->in);
	if (s->fds.count && n + 1 != s->used)
		return -EPROTO;
	message = json_loadb(s->in, n, JSON_REJECT_DUPLICATES, NULL);
	memmove(s->in, end + 1, s->used - n - 1);
	s->used -= n + 1;
	s->scanned = 0;
	if (s->used == 0 && s->room > READ_CHUNK) {
		free(s->in); /* one large manifest does not stay with an idle connection */
		s->in = NULL;
		s->room = 0;
	}
	if (!json_is_object(message)) {
		json_decref(message);
		return -EBADMSG;
	}
	*ret = message;
	*fds = s->fds;
	s->fds.count = 0;
	return 1;
}

int iso_varlink_stream_queue(struct iso_varlink_stream *s, json_t *message, const int *fds,
			     size_t n)
{
	struct outgoing *o = calloc(1, sizeof *o);

	if (!o || n > ISO_VARLINK_FDS_MAX) {
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
		free(o);
		return o ? -EINVAL : -ENOMEM;
	}
	if (n)
		memcpy(o->fds.fds, fds, n * sizeof *fds);
	o->fds.count = n;
	o->data = json_dumps(message, JSON_COMPACT);
	o->size = o->data ? strlen(o->data) + 1 : 0;
	if (!o->data || o->size > ISO_VARLINK_MESSAGE_MAX ||
	    s->queued + o->size > ISO_VARLINK_QUEUE_MAX) {
		int r = o->data ? -ENOBUFS : -ENOMEM;

		outgoing_free(o);
		return r;
	}
	s->queued += o->size;
	*s->last = o;
	s->last = &o->next;
	return 0;
}

static ssize_t send_some(struct iso_varlink_stream *s, struct outgoing *o)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(ISO_VARLINK_FDS_MAX * sizeof(int))];
	} control = {0};
	struct iovec v = {o->data + o->sent, o->size - o->sent};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	size_t bytes = o->fds.count * sizeof(int);
	ssize_t n;

	if (o->fds.count) {
		struct cmsghdr *c = &control.align;

		m.msg_control = control.space;
		m.msg_controllen = CMSG_SPACE(bytes);
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(bytes)};
		memcpy(CMSG_DATA(c), o->fds.fds, bytes);
	}
	do
		n = sendmsg(s->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int iso_varlink_stream_flush(struct iso_varlink_stream *s)
{
	while (s->first) {
		struct outgoing *o = s->first;
		ssize_t n = send_some(s, o);

		if (n == -EAGAIN)
			return 1;
		if (n < 0)
			return (int)n;
		iso_fds_close(&o->fds); /* they went with the first byte */
		o->sent += (size_t)n;
		s->queued -= (size_t)n;
		if (o->sent < o->size)
			continue;
		s->first = o->next;
		if (!s->first)
			s->last = &s->first;
		outgoing_free(o);
	}
	return 0;
}
