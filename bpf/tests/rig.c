/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "rig.h"

#define ANSWER_MS 60000
#define WAIT_MS	  5000

struct iso_kernel *rig_kernel;
struct iso_event rig_events[RIG_EVENTS];

uint64_t rig_new_id(void)
{
	static uint64_t last = 100;

	return ++last;
}

int rig_new_cgroup(char path[64])
{
	static unsigned last;
	int fd;

	snprintf(path, 64, "/sys/fs/cgroup/rig%u", ++last);
	if (mkdir(path, 0755) && errno != EEXIST)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

pid_t rig_clone_into(int cgroup_fd)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)cgroup_fd};

	fflush(stdout);
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

int rig_wait(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

bool rig_emptied(const char *cgroup)
{
	char path[96], text[256];
	struct pollfd changed = {.events = POLLPRI};
	ssize_t n = -1;

	snprintf(path, sizeof path, "%s/cgroup.events", cgroup);
	changed.fd = open(path, O_RDONLY | O_CLOEXEC);
	do {
		n = pread(changed.fd, text, sizeof text - 1, 0);
		text[n < 0 ? 0 : n] = 0;
		if (strstr(text, "populated 0"))
			break;
	} while (n > 0 && poll(&changed, 1, WAIT_MS) == 1);
	close(changed.fd);
	return CHECK(n > 0 && strstr(text, "populated 0"), "%s is not emptied: %s", cgroup,
		     n > 0 ? text : strerror(errno));
}

/* This program in a memfd, read-only, as isod keeps isoinit. */
static int launcher(void)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("launcher", MFD_CLOEXEC), again;
	char buffer[65536], path[64];
	ssize_t n;

	while ((n = read(self, buffer, sizeof buffer)) > 0)
		if (write(fd, buffer, (size_t)n) != n)
			return -1;
	close(self);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	return again;
}

bool rig_begin(struct rig *r, uint32_t flags, uint32_t rate)
{
	memset(r, 0, sizeof *r);
	r->commands = r->answers = r->go = -1;
	r->id = rig_new_id();
	r->cgroup_fd = rig_new_cgroup(r->cgroup);
	if (!CHECK(r->cgroup_fd >= 0, "no cgroup %s: %s", r->cgroup, strerror(errno)))
		return false;
	return CHECK(!iso_kernel_begin(rig_kernel, r->id, r->cgroup_fd, flags, rate),
		     "cannot begin a sandbox");
}

/* The child's end: the launcher with its pipes as 3, 4 and 5. */
static void become_launcher(int memfd, int commands, int answers, int go)
{
	char program[] = "iso-kernel-test", init[] = "init", *argv[] = {program, init, NULL};
	char *environment[] = {NULL};
	int fds[] = {commands, answers, go};

	for (int i = 0; i < 3; i++)
		fds[i] = fcntl(fds[i], F_DUPFD, 100);
	for (int i = 0; i < 3; i++)
		dup2(fds[i], 3 + i);
	memfd = fcntl(memfd, F_DUPFD_CLOEXEC, 200);
	close_range(6, 199, 0);
	syscall(SYS_execveat, memfd, "", argv, environment, AT_EMPTY_PATH);
	_exit(125);
}

/* What the launcher is to start: it cannot know, being in a memfd. */
static bool tell_path(struct rig *r)
{
	char self[900];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n < 0 ? 0 : n] = 0;
	return CHECK(rig_ask(r, "%s", self) == 0, "the launcher does not answer");
}

bool rig_launch(struct rig *r)
{
	int memfd = launcher(), commands[2] = {-1, -1}, answers[2] = {-1, -1}, go[2] = {-1, -1};

	if (!CHECK(memfd >= 0 && !pipe2(commands, O_CLOEXEC) && !pipe2(answers, O_CLOEXEC) &&
			   !pipe2(go, O_CLOEXEC),
		   "no launcher: %s", strerror(errno)))
		return false;
	if (!CHECK(!iso_kernel_launcher(rig_kernel, r->id, memfd), "launcher refused"))
		return false;
	r->init = rig_clone_into(r->cgroup_fd);
	if (r->init == 0)
		become_launcher(memfd, commands[0], answers[1], go[0]);
	close(memfd);
	close(commands[0]);
	close(answers[1]);
	close(go[0]);
	r->commands = commands[1];
	r->answers = answers[0];
	r->go = go[1];
	return CHECK(r->init > 0, "cannot clone into the cgroup: %s", strerror(errno)) &&
	       CHECK(rig_answer(r) == 0, "the launcher did not start") && tell_path(r) &&
	       CHECK(!iso_kernel_confirm(rig_kernel, r->id), "the first process has no label");
}

bool rig_rule(struct rig *r, const char *path, uint32_t rights, uint32_t rule)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), answer;

	answer = iso_kernel_add_rule(rig_kernel, r->id, fd, rights, rule);
	close(fd);
	return CHECK(!answer, "rule %u on %s: %s", rule, path, strerror(-answer));
}

bool rig_name(struct rig *r, const char *parent, const char *name, uint32_t rule)
{
	int fd = open(parent, O_PATH | O_CLOEXEC), answer;

	answer = iso_kernel_add_name(rig_kernel, r->id, fd, name, rule);
	close(fd);
	return CHECK(!answer, "name %u %s/%s: %s", rule, parent, name, strerror(-answer));
}

bool rig_seal(struct rig *r)
{
	int answer = iso_kernel_seal(rig_kernel, r->id);

	return CHECK(!answer, "cannot seal: %s", strerror(-answer));
}

bool rig_prepare(struct rig *r, uint32_t flags, uint32_t rate)
{
	return rig_begin(r, flags, rate) && rig_launch(r) &&
	       rig_rule(r, "/", ISO_RIGHTS_ALL, RIG_BASE);
}

static bool write_file(const char *directory, const char *name, const char *text)
{
	char path[128];
	int fd;
	bool ok;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

void rig_end(struct rig *r)
{
	int answer;

	if (r->init > 0) {
		CHECK(write_file(r->cgroup, "cgroup.kill", "1"), "cannot kill %s", r->cgroup);
		rig_wait(r->init);
		CHECK(rig_tasks(r, 0), "tasks are counted after the end: %llu",
		      (unsigned long long)rig_counts(r).tasks);
	}
	rig_emptied(r->cgroup);
	answer = iso_kernel_remove(rig_kernel, r->id);
	CHECK(!answer, "cannot remove: %s", strerror(-answer));
	CHECK(!rmdir(r->cgroup), "cannot remove %s: %s", r->cgroup, strerror(errno));
	close(r->cgroup_fd);
	close(r->commands);
	close(r->answers);
	close(r->go);
}

int rig_answer(struct rig *r)
{
	struct pollfd ready = {.fd = r->answers, .events = POLLIN};
	int32_t answer;

	if (poll(&ready, 1, ANSWER_MS) != 1 ||
	    read(r->answers, &answer, sizeof answer) != sizeof answer)
		return RIG_UNKNOWN;
	return answer;
}

static bool tell(struct rig *r, const char *format, va_list args)
{
	char text[1024];
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it has been started */
	int n = vsnprintf(text, sizeof text, format, args);

	return n > 0 && n < (int)sizeof text && write(r->commands, text, (size_t)n + 1) == n + 1;
}

bool rig_tell(struct rig *r, const char *format, ...)
{
	va_list args;
	bool told;

	va_start(args, format);
	told = tell(r, format, args);
	va_end(args);
	return told;
}

int rig_ask(struct rig *r, const char *format, ...)
{
	va_list args;
	bool told;

	va_start(args, format);
	told = tell(r, format, args);
	va_end(args);
	return told ? rig_answer(r) : RIG_UNKNOWN;
}

void rig_go(struct rig *r)
{
	CHECK(write(r->go, "", 1) == 1, "cannot give the sign");
}

struct iso_sandbox rig_counts(struct rig *r)
{
	struct iso_sandbox sb = {};

	CHECK(!iso_kernel_ask_sandbox(rig_kernel, r->id, &sb), "the sandbox is not there");
	return sb;
}

struct iso_account rig_account(struct rig *r)
{
	struct iso_account account = {};

	CHECK(!iso_kernel_ask_account(rig_kernel, r->id, &account), "it has no account");
	return account;
}

uint64_t rig_denials(const struct iso_account *a)
{
	return a->emitted + a->collapsed + a->lost_rate + a->lost_full;
}

/* Tasks are freed an RCU grace period after they are reaped, which nothing announces. */
bool rig_tasks(struct rig *r, uint64_t want)
{
	struct iso_sandbox sb = {};

	for (int i = 0; i < WAIT_MS / 10; i++) {
		if (iso_kernel_ask_sandbox(rig_kernel, r->id, &sb))
			return false;
		if (sb.tasks == want)
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

static int keep_event(void *context, const void *data, size_t size)
{
	size_t *n = context;

	if (size == sizeof *rig_events && *n < RIG_EVENTS)
		memcpy(&rig_events[(*n)++], data, size);
	return 0;
}

size_t rig_read_events(void)
{
	size_t n = 0;

	iso_kernel_ring_consume(rig_kernel, keep_event, &n);
	return n;
}

const char *rig_path(const struct iso_event *e)
{
	static char text[ISO_PATH_AREA];

	if (e->path.offset + e->path.length >= ISO_PATH_AREA)
		return "?";
	memcpy(text, e->path.area + e->path.offset, e->path.length);
	text[e->path.length] = 0;
	return text;
}

bool rig_tree(void)
{
	umount2(RIG_TREE, MNT_DETACH);
	mkdir(RIG_TREE, 0755);
	return CHECK(!mount("rig", RIG_TREE, "tmpfs", 0, "mode=755"), "no tmpfs: %s",
		     strerror(errno));
}

bool rig_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	bool ok = fd >= 0 && write(fd, "x", 1) == 1;

	close(fd);
	return CHECK(ok, "cannot make %s: %s", path, strerror(errno));
}

bool rig_directory(const char *path)
{
	return CHECK(!mkdir(path, 0755), "cannot make %s: %s", path, strerror(errno));
}
