/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The listener of the task's filter, of which isoinit keeps a copy to see whether somebody answers.
 *
 * isod is the only one who takes notifications: a second taker could be made to wait for ever, as
 * SECCOMP_IOCTL_NOTIF_RECV blocks when the other was faster. isoinit only looks (poll(2): POLLIN a
 * call waits, POLLOUT one was taken and not answered). While one does, isod is asked for a sign of
 * life; a loop that gives it has also served every listener by its next turn. No sign for
 * ISO_UNANSWERED_MS and a call still pending: isod stands still, and the sandbox ends. When isod is
 * gone altogether this copy is closed: it was the last, so the kernel answers ENOSYS, to those that
 * wait and to all that follow.
 */
#include "isoinit/isoinit.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ISO_UNANSWERED_MS 2000
#define ISO_ASK_MS	  250 /* of patience before isod is asked */

bool iso_listener_send(struct iso_init *i)
{
	/* nearly the first message on this socket: there is room */
	return iso_wire_send_fd(ISO_INIT_FD_CONTROL, ISO_WIRE_LISTENER, i->listener,
				MSG_DONTWAIT) == 0;
}

void iso_listener_close(struct iso_init *i)
{
	if (i->listener >= 0)
		close(i->listener);
	i->listener = -1;
	i->pending_since = 0;
}

int iso_listener_poll_fd(const struct iso_init *i)
{
	/* while a call is pending the descriptor would wake us all the time */
	return i->pending_since ? -1 : i->listener;
}

void iso_listener_alive(struct iso_init *i)
{
	i->asked = false;
	if (i->pending_since)
		i->pending_since = iso_now_ms();
}

bool iso_listener_stuck(struct iso_init *i)
{
	struct pollfd p = {.fd = i->listener, .events = POLLIN | POLLOUT};
	uint64_t now = iso_now_ms();

	if (i->listener < 0)
		return false;
	if (poll(&p, 1, 0) < 0)
		p.revents = POLLIN; /* not known: a call may be waiting */
	if (p.revents & (POLLHUP | POLLERR | POLLNVAL)) {
		iso_listener_close(i); /* no task has the filter any more */
		return false;
	}
	if (!(p.revents & (POLLIN | POLLOUT))) {
		i->pending_since = 0;
		i->asked = false;
		return false;
	}
	if (!i->pending_since)
		i->pending_since = now;
	if (!i->asked && now - i->pending_since >= ISO_ASK_MS)
		i->asked = iso_report(i, ISO_WIRE_PING, 0, 0, NULL, false);
	return now - i->pending_since >= ISO_UNANSWERED_MS;
}
