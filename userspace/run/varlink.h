/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Varlink framing (varlink.org/Method-Call): JSON objects, each ended by a NUL, on a stream socket,
 * with descriptors by SCM_RIGHTS that parameters refer to by index. One stream is one end of one
 * connection; it never blocks, and everything the peer can make it hold is bounded.
 *
 * A stream socket does not say which bytes a descriptor came with when messages are written back to
 * back. Rather than guess, a peer that sends descriptors must wait for the answer before it sends
 * the next message: anything else is -EPROTO.
 */
#ifndef ISO_RUN_VARLINK_H
#define ISO_RUN_VARLINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define ISO_VARLINK_MESSAGE_MAX (4u << 20) /* bytes of one message: a manifest, escaped, fits */
#define ISO_VARLINK_QUEUE_MAX	(8u << 20) /* bytes that wait for a slow reader */
#define ISO_VARLINK_FDS_MAX	253	   /* the kernel's SCM_MAX_FD */

struct iso_varlink_stream;

/* Descriptors that came with a message. */
struct iso_fds {
	int fds[ISO_VARLINK_FDS_MAX];
	size_t count;
};
void iso_fds_close(struct iso_fds *f);

/* Takes over the socket and makes it non-blocking; on failure the caller keeps it. */
int iso_varlink_stream_new(int fd, struct iso_varlink_stream **ret);
/* Closes the socket and every descriptor that was not handed on. */
void iso_varlink_stream_free(struct iso_varlink_stream *s);
int iso_varlink_stream_fd(const struct iso_varlink_stream *s);

/*
 * Reads what is there. 1: something; 0: the peer has ended the connection; -EAGAIN; -EMSGSIZE: a
 * message over the bound; -EPROTO: descriptors that cannot be told apart or too many.
 */
int iso_varlink_stream_read(struct iso_varlink_stream *s);

/* Takes the next whole message. 1 and *ret, *fds; 0: none yet; -EBADMSG: not a JSON object. */
int iso_varlink_stream_next(struct iso_varlink_stream *s, json_t **ret, struct iso_fds *fds);
/* Bytes of a message that has begun and not ended. */
size_t iso_varlink_stream_pending(const struct iso_varlink_stream *s);

/*
 * Queues a message; fds[0..n) are taken over, also on failure. -ENOBUFS: the reader is too slow.
 * A reference to message is not taken.
 */
int iso_varlink_stream_queue(struct iso_varlink_stream *s, json_t *message, const int *fds,
			     size_t n);
/* Writes what can be written. 0: all is written; 1: more waits for EPOLLOUT; negative errno. */
int iso_varlink_stream_flush(struct iso_varlink_stream *s);

#endif
