/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What isod and the first process of a sandbox say to each other on the control descriptor
 * (SOCK_SEQPACKET, one struct iso_wire a message). The first process speaks twice: as the child
 * that builds mounts (FAILED or ROOT), then as isoinit (FAILED or READY, then what happens).
 */
#ifndef ISO_ISOINIT_PROTOCOL_H
#define ISO_ISOINIT_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#define ISO_WIRE_MAGIC 0x69736f31u

/* to isod */
#define ISO_WIRE_FAILED	     1u /* step = ISO_STEP_* or 0, value = errno, text = what it was about */
#define ISO_WIRE_ROOT	     2u /* comes with a descriptor: the sandbox's root directory */
#define ISO_WIRE_READY	     3u /* privileges are dropped, waiting for GO */
#define ISO_WIRE_STARTED     4u
#define ISO_WIRE_EXEC_FAILED 5u	 /* value = errno, text = stage */
#define ISO_WIRE_SURVIVOR    6u	 /* pid inside, text = comm */
#define ISO_WIRE_WALL	     7u	 /* value = ms */
#define ISO_WIRE_ENDED	     8u	 /* value = wait status; pid = survivors that could not be told */
#define ISO_WIRE_LISTENER    9u	 /* comes with a descriptor: the listener of the task's filter */
#define ISO_WIRE_PING	     10u /* a refused call waits for its answer: PONG is a sign of life */
#define ISO_WIRE_UNANSWERED  11u /* it waited too long: everything is killed */
/* to isoinit */
#define ISO_WIRE_GO	     32u /* run the entry command */
#define ISO_WIRE_SIGNAL	     33u /* value = signal, for the entry command */
#define ISO_WIRE_TERMINATE   34u /* TERM to all, KILL after the grace */
#define ISO_WIRE_PONG	     35u

struct iso_wire {
	uint32_t magic;
	uint32_t kind;
	int32_t value;
	int32_t pid;
	uint32_t step;
	char text[236]; /* ends in NUL */
};
_Static_assert(sizeof(struct iso_wire) == 256, "wire size");

/* Descriptors that isoinit is executed with, besides 0 to 2; the link descriptors follow. */
#define ISO_INIT_FD_CONTROL  3
#define ISO_INIT_FD_PLAN     4 /* then of the filter's listener */
#define ISO_INIT_FD_LISTENER ISO_INIT_FD_PLAN
#define ISO_INIT_FD_SLOT     5
#define ISO_INIT_FD_LINKS    6

/* wire.c. Sends a message that passes a descriptor; flags as send(2)'s. 0 or a negative errno. */
int iso_wire_send_fd(int control_fd, uint32_t kind, int passed, int flags);
/*
 * One message, without waiting: 1; 0 at the end; a negative errno, -EPROTO for what is no message.
 * *ret_fd is the descriptor that came with it, the caller's to close whatever was returned, or -1.
 */
int iso_wire_receive(int control_fd, struct iso_wire *w, int *ret_fd);

#endif
