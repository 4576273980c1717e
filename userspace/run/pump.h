/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries a run's output to the caller's own, and the caller's input to the run, within the
 * manifest's bounds. Never waits for either side: a stalled terminal stops the reading, and so, by
 * its full pipe, the task; not the program.
 */
#ifndef ISO_RUN_PUMP_H
#define ISO_RUN_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISO_PUMP_BUFFER (64u << 10)
#define ISO_PUMP_POLLS	4 /* entries that iso_pump_poll() may use */

enum iso_pump_trouble {
	ISO_PUMP_FINE,
	ISO_PUMP_OVER_LIMIT, /* more than the limit: what is beyond is thrown away */
	ISO_PUMP_NOT_UTF8,   /* bytes that are no UTF-8: they and the rest are thrown away */
	ISO_PUMP_LOST,	     /* the caller's side cannot take it (full disk) */
};

struct iso_pump_stream {
	int from, to; /* -1: over */
	bool bulk;    /* a regular file: takes any amount without waiting */
	bool discard; /* read to the end, write nothing */
	char *data;
	size_t used;	/* bytes held */
	size_t ready;	/* of them, those that may be written */
	size_t sent;	/* of those, written */
	uint64_t bytes; /* written in all */
};

struct iso_pump {
	struct iso_pump_stream output[2]; /* stdout, stderr */
	int in_from, in_to;		  /* -1: no input (any more) */
	char *input;
	size_t in_used, in_sent;
	uint64_t limit, total;	       /* bytes of both outputs together */
	bool raw;		       /* not held to UTF-8 */
	enum iso_pump_trouble trouble; /* the first one */
	int error;		       /* errno of LOST */
};

/*
 * Takes over from[0..1] (the run's stdout and stderr) and in_to (-1: none); to[0..1] and in_from
 * stay the caller's. -ENOMEM.
 */
int iso_pump_open(struct iso_pump *p, const int from[2], const int to[2], int in_from, int in_to,
		  uint64_t limit, bool raw);
void iso_pump_close(struct iso_pump *p);

/* Fills at most ISO_PUMP_POLLS entries; returns how many. */
size_t iso_pump_poll(const struct iso_pump *p, struct pollfd *polls);
/* Does what the entries say is possible. */
void iso_pump_turn(struct iso_pump *p, const struct pollfd *polls, size_t n);
/* Nothing more will come out, and all that came was written. */
bool iso_pump_done(const struct iso_pump *p);

/*
 * How much of s[0..n) is whole, well-formed UTF-8. *ret_bad: what follows is wrong, and not only
 * the beginning of a character.
 */
size_t iso_pump_utf8(const char *s, size_t n, bool *ret_bad);

#endif
