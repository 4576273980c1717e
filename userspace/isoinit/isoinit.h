/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * isoinit: pid 1 of a sandbox. It outlives isod if it must, holds the links that enforce, and is
 * the only process inside that may change its user; so it allocates nothing, opens nothing after
 * READY but /proc/PID/comm, and every wait of it is bounded, but the one for the exec of the entry
 * command, before which no program of the task has run.
 */
#ifndef ISO_ISOINIT_ISOINIT_H
#define ISO_ISOINIT_ISOINIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "isoinit/plan.h"
#include "isoinit/protocol.h"

struct iso_init {
	struct iso_plan plan;
	int children;	 /* /proc/1/task/1/children, opened before the policy is sealed */
	int proc;	 /* /proc, O_PATH */
	int signals;	 /* signalfd for SIGCHLD */
	int timer;	 /* the wall limit */
	int exec_status; /* read end; closes when the entry command is executed; -1 then */
	bool deaf;	 /* isod is gone: nobody hears us */
	pid_t entry;
	int entry_status;
	bool entry_ended;
	uint32_t untold; /* survivors whose report did not go out */

	int listener;		/* of the task's filter; -1: none */
	uint64_t pending_since; /* ms: a refused call waits since, or since isod's last sign; 0 */
	bool asked;		/* isod, for a sign of life */
};

/* report.c */
/* Sends; important messages wait up to two seconds for room, others not at all. False: not sent. */
bool iso_report(struct iso_init *i, uint32_t kind, int32_t value, int32_t pid, const char *text,
		bool important);
/* Says which step of starting failed, with errno, and ends. */
void iso_report_fatal(struct iso_init *i, const char *text, int error) __attribute__((noreturn));
/* comm of a process inside, "?" when it cannot be read. */
void iso_report_comm(const struct iso_init *i, pid_t pid, char *out, size_t size);

/* entry.c */
struct iso_entry_status {
	int32_t error;
	char stage[28];
};
/*
 * Forks and executes the entry command, and returns when that is done or has failed. Negative errno
 * when there was nothing to fork. i->listener is the listener of its filter, when it got that far.
 */
int iso_entry_start(struct iso_init *i);

/* listener.c */
bool iso_listener_send(struct iso_init *i); /* to isod; false: it did not go out */
void iso_listener_close(struct iso_init *i);
int iso_listener_poll_fd(const struct iso_init *i); /* for POLLIN | POLLOUT; or -1 */
void iso_listener_alive(struct iso_init *i);	    /* isod gave a sign of life */
/* True: a refused call has been pending too long. To be asked every ISO_TICK_MS while one is. */
bool iso_listener_stuck(struct iso_init *i);

/* supervise.c */
void iso_supervise(struct iso_init *i) __attribute__((noreturn));
uint64_t iso_now_ms(void);

#endif
