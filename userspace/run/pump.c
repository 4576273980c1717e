/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/text.h"

/* Could more bytes make one character of these? Every second byte that RFC 3629 allows is tried. */
static bool begins_character(const char *s, size_t n)
{
	char padded[4];
	uint32_t c;

	if (n > 3)
		return false;
	for (int filler = 0; filler < 2; filler++) {
		memset(padded, filler ? 0xbf : 0x80, sizeof padded);
		memcpy(padded, s, n);
		if (iso_utf8_decode(padded, sizeof padded, &c) > n)
			return true;
	}
	return false;
}

size_t iso_pump_utf8(const char *s, size_t n, bool *ret_bad)
{
	size_t at = 0, step;
	uint32_t c;

	*ret_bad = false;
	while (at < n) {
		step = iso_utf8_decode(s + at, n - at, &c);
		if (!step) {
			*ret_bad = !begins_character(s + at, n - at);
			break;
		}
		at += step;
	}
	return at;
}

static bool takes_any_amount(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int iso_pump_open(struct iso_pump *p, const int from[2], const int to[2], int in_from, int in_to,
		  uint64_t limit, bool raw)
{
	*p = (struct iso_pump){
		.in_from = in_to >= 0 ? in_from : -1, .in_to = in_to, .limit = limit, .raw = raw};
	for (int i = 0; i < 2; i++) {
		p->output[i] = (struct iso_pump_stream){.from = from[i],
							.to = to[i],
							.bulk = takes_any_amount(to[i]),
							.data = malloc(ISO_PUMP_BUFFER)};
		fcntl(from[i], F_SETFL, O_NONBLOCK);
	}
	p->input = malloc(ISO_PUMP_BUFFER);
	if (in_to >= 0)
		fcntl(in_to, F_SETFL, O_NONBLOCK | O_WRONLY);
	if (p->output[0].data && p->output[1].data && p->input)
		return 0;
	iso_pump_close(p);
	return -ENOMEM;
}

void iso_pump_close(struct iso_pump *p)
{
	for (int i = 0; i < 2; i++) {
		iso_close_fd(&p->output[i].from);
		free(p->output[i].data);
		p->output[i].data = NULL;
	}
	iso_close_fd(&p->in_to);
	free(p->input);
	p->input = NULL;
}

static bool has_ready(const struct iso_pump_stream *s)
{
	return s->sent < s->ready;
}

size_t iso_pump_poll(const struct iso_pump *p, struct pollfd *polls)
{
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		const struct iso_pump_stream *s = &p->output[i];

		if (has_ready(s))
			polls[n++] = (struct pollfd){.fd = s->to, .events = POLLOUT};
		else if (s->from >= 0)
			polls[n++] = (struct pollfd){.fd = s->from, .events = POLLIN};
	}
	if (p->in_to >= 0 && p->in_sent < p->in_used)
		polls[n++] = (struct pollfd){.fd = p->in_to, .events = POLLOUT};
	else if (p->in_to >= 0 && p->in_from >= 0)
		polls[n++] = (struct pollfd){.fd = p->in_from, .events = POLLIN};
	/* A run that has closed its input is noticed while nothing is there to be written. */
	if (p->in_to >= 0 && p->in_sent == p->in_used)
		polls[n++] = (struct pollfd){.fd = p->in_to, .events = 0};
	return n;
}

static void trouble(struct iso_pump *p, enum iso_pump_trouble what)
{
	if (p->trouble == ISO_PUMP_FINE)
		p->trouble = what;
}

static void discard(struct iso_pump_stream *s)
{
	s->discard = true;
	s->used = s->ready = s->sent = 0;
}

/* Decides what of the bytes held may be written: whole characters, within the limit. */
static void admit(struct iso_pump *p, struct iso_pump_stream *s, bool last)
{
	bool bad = false;
	size_t whole = p->raw ? s->used : iso_pump_utf8(s->data, s->used, &bad);

	if (p->total + whole > p->limit) {
		whole = (size_t)(p->limit - p->total);
		trouble(p, ISO_PUMP_OVER_LIMIT);
		s->discard = true;
	} else if (bad || (last && whole < s->used)) {
		trouble(p, ISO_PUMP_NOT_UTF8);
		s->discard = true;
	}
	p->total += whole;
	s->ready = whole;
	s->sent = 0;
	if (s->discard && !whole)
		discard(s);
}

static void take(struct iso_pump *p, struct iso_pump_stream *s)
{
	ssize_t n = read(s->from, s->data + s->used, ISO_PUMP_BUFFER - s->used);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		iso_close_fd(&s->from);
	if (s->discard) {
		s->used = 0;
		return;
	}
	if (n > 0)
		s->used += (size_t)n;
	if (s->used)
		admit(p, s, n <= 0);
}

static void give(struct iso_pump *p, struct iso_pump_stream *s)
{
	size_t left = s->ready - s->sent;
	/* POLLOUT promises room for this much in a pipe (pipe(7)): the write does not wait. */
	size_t most = s->bulk ? left : PIPE_BUF;
	ssize_t n = write(s->to, s->data + s->sent, left < most ? left : most);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 && errno == EPIPE) {
		/* Nobody reads any more: the task gets to know it as it would without us. */
		iso_close_fd(&s->from);
		discard(s);
		return;
	}
	if (n < 0) {
		p->error = errno;
		trouble(p, ISO_PUMP_LOST);
		discard(s);
		return;
	}
	s->sent += (size_t)n;
	s->bytes += (uint64_t)n;
	if (has_ready(s))
		return;
	if (s->discard) {
		discard(s);
		return;
	}
	memmove(s->data, s->data + s->ready, s->used - s->ready);
	s->used -= s->ready;
	s->ready = s->sent = 0;
}

static void take_input(struct iso_pump *p)
{
	ssize_t n = read(p->in_from, p->input, ISO_PUMP_BUFFER);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		p->in_from = -1;
		iso_close_fd(&p->in_to);
		return;
	}
	p->in_used = (size_t)n;
	p->in_sent = 0;
}

static void give_input(struct iso_pump *p)
{
	ssize_t n = write(p->in_to, p->input + p->in_sent, p->in_used - p->in_sent);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		iso_close_fd(&p->in_to);
		return;
	}
	p->in_sent += (size_t)n;
}

static short happened(const struct pollfd *polls, size_t n, int fd)
{
	short events = 0;

	for (size_t i = 0; fd >= 0 && i < n; i++)
		if (polls[i].fd == fd)
			events |= polls[i].revents;
	return events;
}

void iso_pump_turn(struct iso_pump *p, const struct pollfd *polls, size_t n)
{
	short events;

	for (int i = 0; i < 2; i++) {
		struct iso_pump_stream *s = &p->output[i];

		if (has_ready(s)) {
			if (happened(polls, n, s->to))
				give(p, s);
		} else if (happened(polls, n, s->from)) {
			take(p, s);
		}
	}
	events = happened(polls, n, p->in_to);
	if (events & (POLLERR | POLLHUP | POLLNVAL))
		iso_close_fd(&p->in_to);
	else if (p->in_to >= 0 && p->in_sent < p->in_used && events)
		give_input(p);
	else if (p->in_to >= 0 && p->in_sent == p->in_used && happened(polls, n, p->in_from))
		take_input(p);
}

bool iso_pump_done(const struct iso_pump *p)
{
	for (int i = 0; i < 2; i++)
		if (p->output[i].from >= 0 || has_ready(&p->output[i]))
			return false;
	return true;
}
