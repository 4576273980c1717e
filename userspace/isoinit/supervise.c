/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From GO to the end: reaps, ends what outlives its parent, keeps the wall limit, obeys isod, and
 * ends the sandbox by itself when isod is gone. The loop turns at least every 50 ms while `daemons:
 * deny` holds, so a reparented process lives at most 100 ms.
 */
#include "isoinit/isoinit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ISO_TICK_MS  50
#define ISO_TOLD_MAX 128
#define ISO_REAP_MAX 256 /* a turn: the clock and isod come in between */

enum phase {
	PHASE_RUN,
	PHASE_TERM, /* TERM was sent, KILL follows at kill_at */
	PHASE_KILL, /* everything is killed until nothing is left */
};

struct supervisor {
	struct iso_init *i;
	enum phase phase;
	uint64_t kill_at;
	bool unreaped; /* more had died than one turn reaps */
	bool outlived; /* the entry command ended by itself: what still lives is a survivor */
	pid_t told[ISO_TOLD_MAX]; /* survivors already reported, a ring */
	unsigned told_next;
};

uint64_t iso_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool was_told(const struct supervisor *s, pid_t pid)
{
	for (unsigned k = 0; k < ISO_TOLD_MAX; k++)
		if (s->told[k] == pid)
			return true;
	return false;
}

static void forget(struct supervisor *s, pid_t pid)
{
	for (unsigned k = 0; k < ISO_TOLD_MAX; k++)
		if (s->told[k] == pid)
			s->told[k] = 0;
}

static void tell_survivor(struct supervisor *s, pid_t pid)
{
	char comm[32];

	if (!(s->i->plan.header.flags & ISO_PLAN_DAEMONS_DENY) || was_told(s, pid))
		return;
	s->told[s->told_next++ % ISO_TOLD_MAX] = pid;
	iso_report_comm(s->i, pid, comm, sizeof comm);
	if (!iso_report(s->i, ISO_WIRE_SURVIVOR, 0, pid, comm, false))
		s->i->untold++;
}

/*
 * Our direct children are the entry command and whatever lost its parent. More of them than fit
 * the buffer are seen in the next turn.
 */
static void sweep_orphans(struct supervisor *s)
{
	char text[4096];
	ssize_t n = pread(s->i->children, text, sizeof text, 0);
	pid_t pid = 0;

	for (ssize_t k = 0; k < n; k++) {
		if (text[k] >= '0' && text[k] <= '9') {
			pid = pid * 10 + (text[k] - '0');
			continue;
		}
		/* A number that the buffer cut in two has no space behind it. */
		if (pid > 1 && pid != s->i->entry) {
			tell_survivor(s, pid);
			kill(pid, SIGKILL);
		}
		pid = 0;
	}
}

static void begin_term(struct supervisor *s)
{
	if (s->phase != PHASE_RUN)
		return;
	s->phase = PHASE_TERM;
	s->kill_at = iso_now_ms() + s->i->plan.header.grace_ms;
	kill(-1, SIGTERM);
	kill(-1, SIGCONT); /* a stopped process would not see it */
}

static void begin_kill(struct supervisor *s)
{
	s->phase = PHASE_KILL;
	if (s->outlived && s->i->plan.header.flags & ISO_PLAN_DAEMONS_DENY)
		sweep_orphans(s);
	kill(-1, SIGKILL);
}

/* False: no child is left. */
static bool reap(struct supervisor *s)
{
	struct iso_init *i = s->i;

	s->unreaped = false;
	for (unsigned k = 0; k < ISO_REAP_MAX; k++) {
		siginfo_t info = {0};
		int status;

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			return errno != ECHILD;
		}
		if (info.si_pid == 0)
			return true;
		/* What dies only because the end came is a survivor; its name is still there. */
		if (s->outlived && info.si_pid != i->entry)
			tell_survivor(s, info.si_pid);
		if (waitpid(info.si_pid, &status, 0) != info.si_pid)
			continue;
		forget(s, info.si_pid);
		if (info.si_pid == i->entry && !i->entry_ended) {
			i->entry_ended = true;
			i->entry_status = status;
			s->outlived = s->phase == PHASE_RUN;
			begin_kill(s);
		}
	}
	s->unreaped = true;
	return true;
}

static void read_exec_status(struct iso_init *i)
{
	struct iso_entry_status e = {0};
	ssize_t n = read(i->exec_status, &e, sizeof e);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	close(i->exec_status);
	i->exec_status = -1;
	e.stage[sizeof e.stage - 1] = '\0';
	if (n == (ssize_t)sizeof e)
		iso_report(i, ISO_WIRE_EXEC_FAILED, e.error, 0, e.stage, true);
	else
		iso_report(i, ISO_WIRE_STARTED, 0, 0, NULL, true);
}

static void hear(struct supervisor *s)
{
	struct iso_wire w;
	ssize_t n = recv(ISO_INIT_FD_CONTROL, &w, sizeof w, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		s->i->deaf = true;
		return;
	}
	if (n != (ssize_t)sizeof w || w.magic != ISO_WIRE_MAGIC)
		return;
	if (w.kind == ISO_WIRE_PONG)
		iso_listener_alive(s->i);
	else if (w.kind == ISO_WIRE_TERMINATE)
		begin_term(s);
	else if (w.kind == ISO_WIRE_SIGNAL && w.value > 0 && w.value <= SIGRTMAX &&
		 !s->i->entry_ended)
		kill(s->i->entry, w.value);
}

static void wall(struct supervisor *s)
{
	uint64_t count, ms = s->i->plan.header.wall_ms;

	if (read(s->i->timer, &count, sizeof count) != (ssize_t)sizeof count ||
	    s->phase != PHASE_RUN)
		return;
	iso_report(s->i, ISO_WIRE_WALL, ms > INT32_MAX ? INT32_MAX : (int32_t)ms, 0, NULL, true);
	begin_term(s);
}

static int wait_ms(const struct supervisor *s)
{
	uint64_t now = iso_now_ms();

	if (s->unreaped)
		return 0;
	if (s->phase == PHASE_KILL || s->i->pending_since ||
	    s->i->plan.header.flags & ISO_PLAN_DAEMONS_DENY)
		return ISO_TICK_MS;
	if (s->phase == PHASE_TERM)
		return s->kill_at <= now ? 0 : (int)(s->kill_at - now);
	return -1;
}

static void look_at_listener(struct supervisor *s)
{
	if (!iso_listener_stuck(s->i) || s->phase == PHASE_KILL)
		return;
	iso_report(s->i, ISO_WIRE_UNANSWERED, 0, 0, NULL, false);
	begin_kill(s);
}

static void finish(struct iso_init *i) __attribute__((noreturn));

static void finish(struct iso_init *i)
{
	/* The exec's answer first, should the command have been quicker than our turn. */
	if (i->exec_status >= 0)
		read_exec_status(i);
	iso_report(i, ISO_WIRE_ENDED, i->entry_status, (int32_t)i->untold, NULL, true);
	_exit(0);
}

void iso_supervise(struct iso_init *i)
{
	struct supervisor s = {.i = i, .phase = PHASE_RUN};

	for (;;) {
		struct pollfd p[] = {
			{.fd = i->signals, .events = POLLIN},
			{.fd = i->exec_status, .events = POLLIN},
			{.fd = i->timer, .events = POLLIN},
			{.fd = i->deaf ? -1 : ISO_INIT_FD_CONTROL, .events = POLLIN},
			{.fd = iso_listener_poll_fd(i), .events = POLLIN | POLLOUT},
		};
		struct signalfd_siginfo info;

		if (poll(p, 5, wait_ms(&s)) < 0)
			for (unsigned k = 0; k < 5; k++)
				p[k].revents = 0;
		if (p[1].revents)
			read_exec_status(i);
		if (p[0].revents)
			while (read(i->signals, &info, sizeof info) > 0)
				;
		if (!reap(&s) && i->entry_ended)
			finish(i);
		if (p[2].revents)
			wall(&s);
		if (p[3].revents)
			hear(&s);
		if (i->deaf) {
			/* isod is gone: the task gets its grace, still held by what we hold */
			iso_listener_close(i);
			begin_term(&s);
		}
		look_at_listener(&s);
		/* what was told to end is no survivor: it has its grace, then it is killed */
		if (i->plan.header.flags & ISO_PLAN_DAEMONS_DENY &&
		    (s.phase == PHASE_RUN || s.outlived))
			sweep_orphans(&s);
		if (s.phase == PHASE_TERM && iso_now_ms() >= s.kill_at)
			begin_kill(&s);
		else if (s.phase == PHASE_KILL)
			kill(-1, SIGKILL);
	}
}
