/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels: who gets one, that it sticks, and that none is left. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "rig.h"

#define OPEN_FILE   RIG_TREE "/open"
#define CLOSED_FILE RIG_TREE "/closed"
#define CLOSED_RULE 2u

/* A sealed sandbox that may read one file and not the other. */
static bool two_files(struct rig *r)
{
	return rig_tree() && rig_file(OPEN_FILE) && rig_file(CLOSED_FILE) &&
	       rig_prepare(r, 0, RIG_RATE) && rig_rule(r, CLOSED_FILE, 0, CLOSED_RULE) &&
	       rig_seal(r);
}

/* The newest event is the refusal of CLOSED_FILE to a task with an exec id. */
static void closed_was_said(const char *how, size_t want)
{
	size_t n = rig_read_events();
	const struct iso_event *e = &rig_events[n ? n - 1 : 0];

	if (!CHECK(n == want, "%s: %zu events, not %zu", how, n, want) || !n)
		return;
	CHECK(e->kind == ISO_EVENT_FILE && e->hook == ISO_HOOK_file_open &&
		      e->reason == ISO_REASON_RIGHTS && e->rule == CLOSED_RULE &&
		      e->error == EACCES && e->wanted == ISO_READ,
	      "%s: kind %u hook %u reason %u rule %u error %d", how, e->kind, e->hook, e->reason,
	      e->rule, e->error);
	CHECK(e->exec > 1, "%s: exec id %llu", how, (unsigned long long)e->exec);
	CHECK(!strcmp(rig_path(e), CLOSED_FILE), "%s: path %s", how, rig_path(e));
}

static void label_sticks(void)
{
	static const char *const ways[] = {"",	       "double-fork ",	"setsid ",
					   "vfork ",   "clone-parent ", "thread ",
					   "re-exec ", "re-exec vfork "};
	struct rig r;

	REQUIRE(two_files(&r), "no sandbox");
	rig_read_events();
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		int got;

		got = rig_ask(&r, "%sopen %s r", ways[i], OPEN_FILE);
		CHECK(!got, "%sopen of what is granted: %d", ways[i], got);
		closed_was_said(ways[i], 0);
		got = rig_ask(&r, "%sopen %s r", ways[i], CLOSED_FILE);
		CHECK(got == EACCES, "%sopen of what is closed: %d", ways[i], got);
		closed_was_said(ways[i], 1);
	}
	rig_end(&r);
}

static bool move(const char *cgroup, pid_t pid)
{
	char path[128], text[16];
	int fd, n;
	bool ok;

	snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
	n = snprintf(text, sizeof text, "%d", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, (size_t)n) == n;
	close(fd);
	return ok;
}

static void label_survives_a_move(void)
{
	struct rig r;
	pid_t pid;

	REQUIRE(two_files(&r), "no sandbox");
	pid = rig_ask(&r, "wait open " CLOSED_FILE " r");
	REQUIRE(pid > 0, "no process");
	CHECK(move("/sys/fs/cgroup", pid), "cannot move: %s", strerror(errno));
	rig_go(&r);
	CHECK_EQUAL(rig_answer(&r), EACCES);
	pid = rig_ask(&r, "wait exec /usr/bin/true");
	REQUIRE(pid > 0, "no process");
	CHECK(move("/sys/fs/cgroup", pid), "cannot move: %s", strerror(errno));
	rig_go(&r);
	CHECK_EQUAL(rig_answer(&r), 0);
	rig_end(&r);
}

/* Somebody that root moves in has no label, so it may execute nothing. */
static void moved_in_cannot_execute(void)
{
	int ready[2] = {-1, -1}, status;
	struct rig r;
	pid_t pid;
	char c;

	REQUIRE(two_files(&r) && !pipe2(ready, O_CLOEXEC), "no sandbox");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(ready[1]);
		if (read(ready[0], &c, 1) != 0)
			_exit(124);
		execl("/usr/bin/true", "true", NULL);
		_exit(errno);
	}
	CHECK(move(r.cgroup, pid), "cannot move: %s", strerror(errno));
	close(ready[0]);
	close(ready[1]);
	status = rig_wait(pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EPERM, "status %x", (unsigned)status);
	CHECK_EQUAL(rig_counts(&r).tasks, 1);
	rig_end(&r);
}

/* Forked into a cgroup below the bound one: labelled like one of the bound cgroup. */
static void nested_cgroup_is_bound_too(void)
{
	char below[128];
	int fd, status;
	struct rig r;
	pid_t pid;

	REQUIRE(two_files(&r), "no sandbox");
	snprintf(below, sizeof below, "%s/below", r.cgroup);
	REQUIRE(rig_directory(below), "no nested cgroup");
	fd = open(below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rig_read_events();
	pid = rig_clone_into(fd);
	if (!pid) {
		int e = open(CLOSED_FILE, O_RDONLY | O_CLOEXEC) < 0 ? errno : 0;

		_exit(open(OPEN_FILE, O_RDONLY | O_CLOEXEC) < 0 ? 124 : e);
	}
	REQUIRE(pid > 0, "cannot clone: %s", strerror(errno));
	status = rig_wait(pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EACCES, "status %x", (unsigned)status);
	CHECK_EQUAL(rig_read_events(), 1);
	close(fd);
	CHECK(rig_tasks(&r, 1), "it is still counted");
	CHECK_EQUAL(rmdir(below), 0);
	rig_end(&r);
}

static void nobody_else_is_held(void)
{
	struct rig r;
	int fd;

	REQUIRE(two_files(&r), "no sandbox");
	fd = open(CLOSED_FILE, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0, "the host cannot open its own file: %s", strerror(errno));
	close(fd);
	CHECK_EQUAL(rig_account(&r).sequence, 0);
	rig_end(&r);
}

/* While it is being built nothing but the launcher is executed in it, and files are free. */
static void only_the_launcher_before_the_seal(void)
{
	struct rig r;

	REQUIRE(rig_tree() && rig_file(CLOSED_FILE) && rig_prepare(&r, 0, RIG_RATE) &&
			rig_rule(&r, CLOSED_FILE, 0, CLOSED_RULE),
		"no sandbox");
	CHECK_EQUAL(rig_ask(&r, "direct open " CLOSED_FILE " r"), 0);
	CHECK_EQUAL(rig_ask(&r, "direct exec /usr/bin/true"), EACCES);
	CHECK(rig_tasks(&r, 1), "tasks: %llu", (unsigned long long)rig_counts(&r).tasks);
	REQUIRE(rig_seal(&r), "not sealed");
	CHECK_EQUAL(rig_ask(&r, "direct open " CLOSED_FILE " r"), EACCES);
	CHECK_EQUAL(rig_ask(&r, "exec /usr/bin/true"), 0);
	rig_end(&r);
}

/* A process in the cgroup that is not the launcher cannot become anything before the seal. */
static void builder_executes_nothing_else(void)
{
	struct rig r;
	int status;
	pid_t pid;

	REQUIRE(rig_begin(&r, 0, RIG_RATE) && rig_rule(&r, "/", ISO_RIGHTS_ALL, RIG_BASE),
		"no sandbox");
	rig_read_events();
	pid = rig_clone_into(r.cgroup_fd);
	if (!pid) {
		execl("/usr/bin/true", "true", NULL);
		_exit(errno);
	}
	status = rig_wait(pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EACCES, "status %x", (unsigned)status);
	CHECK_EQUAL(rig_read_events(), 1);
	CHECK(rig_events[0].hook == ISO_HOOK_bprm_check_security &&
		      rig_events[0].reason == ISO_REASON_NOT_SEALED,
	      "hook %u reason %u", rig_events[0].hook, rig_events[0].reason);
	CHECK(rig_tasks(&r, 0), "it is still counted");
	rig_end(&r);
}

static void every_task_is_counted_down(void)
{
	struct rig r;
	pid_t pid;

	REQUIRE(two_files(&r), "no sandbox");
	CHECK_EQUAL(rig_ask(&r, "forks 2000"), 0);
	CHECK_EQUAL(rig_ask(&r, "thread open " OPEN_FILE " r"), 0);
	CHECK_EQUAL(rig_ask(&r, "double-fork open " OPEN_FILE " r"), 0);
	CHECK_EQUAL(rig_ask(&r, "vfork open " OPEN_FILE " r"), 0);
	CHECK_EQUAL(rig_ask(&r, "clone-parent open " OPEN_FILE " r"), 0);
	CHECK(rig_tasks(&r, 1), "tasks: %llu", (unsigned long long)rig_counts(&r).tasks);
	pid = rig_ask(&r, "wait open " OPEN_FILE " r");
	CHECK(pid > 0, "no process");
	CHECK(rig_tasks(&r, 2), "tasks: %llu", (unsigned long long)rig_counts(&r).tasks);
	CHECK_EQUAL(rig_counts(&r).label_failed, 0);
	rig_end(&r); /* checks that it comes to 0 */
}

static void signals_stay_inside(void)
{
	struct rig r;
	pid_t pid;

	REQUIRE(two_files(&r), "no sandbox");
	pid = rig_ask(&r, "wait open " OPEN_FILE " r");
	CHECK_EQUAL(rig_ask(&r, "kill %d", pid), 0);
	rig_read_events();
	CHECK_EQUAL(rig_ask(&r, "kill %d", getpid()), EPERM);
	CHECK_EQUAL(rig_ask(&r, "kill %d", r.init), EPERM);
	CHECK_EQUAL(rig_read_events(), 2);
	CHECK_EQUAL(rig_events[0].hook, ISO_HOOK_task_kill);
	rig_go(&r);
	CHECK_EQUAL(rig_answer(&r), 0);
	rig_end(&r);
}

const struct iso_case rig_identity_cases[] = {
	{"label-sticks", label_sticks},
	{"label-survives-a-move", label_survives_a_move},
	{"moved-in-cannot-execute", moved_in_cannot_execute},
	{"nested-cgroup-is-bound-too", nested_cgroup_is_bound_too},
	{"nobody-else-is-held", nobody_else_is_held},
	{"only-the-launcher-before-the-seal", only_the_launcher_before_the_seal},
	{"builder-executes-nothing-else", builder_executes_nothing_else},
	{"every-task-is-counted-down", every_task_is_counted_down},
	{"signals-stay-inside", signals_stay_inside},
};
const size_t rig_identity_count = sizeof rig_identity_cases / sizeof *rig_identity_cases;
