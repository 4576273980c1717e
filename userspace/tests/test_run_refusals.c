/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * isod's reader over real filters and a real stream: a flood is counted exactly and takes nothing
 * from another sandbox; who dies while its call waits leaves no trace.
 */
#include "test_event_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/sched.h>
#include <linux/seccomp.h>

#include "run/supervise.h"
#include "sandbox/seccomp.h"

#define FLOOD 100000

/* ------------------------------------------------------------------------------ stand-ins */

struct iso_sandbox_handle {
	int listener;
};

struct iso_kernel {
	int unused;
};

static unsigned violations;

int iso_sandbox_listener(const struct iso_sandbox_handle *h)
{
	return h->listener;
}

int iso_kernel_ask_exec(struct iso_kernel *k, uint64_t sandbox, int pid, uint64_t *ret)
{
	(void)k;
	assert_true(sandbox && pid > 1);
	*ret = 40 + sandbox;
	return 0;
}

void iso_supervise_stop(struct iso_supervised *run, enum iso_stop reason, bool kill)
{
	(void)run;
	(void)reason;
	(void)kill;
	fail_msg("nothing here ends a run");
}

void iso_supervise_violation(struct iso_supervised *run, const struct iso_record *record)
{
	(void)run;
	assert_int_equal(record->hook, ISO_HOOK_seccomp);
	violations++;
}

/* ------------------------------------------------------------------------------ a task */

struct task {
	struct iso_sandbox_handle sandbox;
	struct iso_capture capture;
	struct iso_supervised run;
	pid_t pid;
	int pidfd, result; /* descriptor from which its last word comes */
};

static struct iso_loop loop;
static struct iso_kernel kernel;
static struct iso_supervise_host host = {.loop = &loop, .kernel = &kernel};

static void task_body(const struct iso_seccomp_program *p, int *listener, int ready, unsigned calls,
		      int error)
{
	struct sock_fprog f = {.len = (unsigned short)p->length, .filter = p->code};
	unsigned wrong = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(99);
	*listener = (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &f);
	if (*listener < 0 || write(ready, "", 1) != 1)
		_exit(98);
	for (unsigned i = 0; i < calls; i++) {
		errno = 0;
		syscall(SYS_unshare, CLONE_NEWUSER);
		wrong += errno != error;
	}
	syscall(SYS_exit_group, wrong ? 1 : 0);
}

/* A child behind a task's filter that makes so many refused calls; its run is watched. */
static void task_start(struct task *t, uint64_t sandbox, unsigned calls)
{
	struct iso_manifest m = {.process = {.syscalls = ISO_SYSCALLS_STRICT}};
	int *listener = mmap(NULL, sizeof *listener, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct iso_init_message here = {.kind = ISO_INIT_LISTENER};
	struct iso_seccomp_program p;
	int ready[2];
	char byte;

	assert_true(listener != MAP_FAILED);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(iso_seccomp_task(&m, &p, NULL), 0);
	memset(t, 0, sizeof *t);
	t->pid = (pid_t)syscall(SYS_clone, CLONE_FILES | CLONE_PIDFD | SIGCHLD, 0, &t->pidfd, 0, 0);
	assert_true(t->pid >= 0);
	if (t->pid == 0)
		task_body(&p, listener, ready[1], calls, EPERM);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	t->sandbox.listener = *listener;
	t->capture.sandbox = sandbox;
	t->run.host = &host;
	t->run.capture = &t->capture;
	t->run.sandbox = &t->sandbox;
	t->run.streamed = true;
	iso_refusals_message(&t->run, &here);
	assert_true(t->run.refusals_watched);
	munmap(listener, sizeof *listener);
	iso_seccomp_free(&p);
	close(ready[0]);
	close(ready[1]);
}

static bool task_ended(const struct task *t)
{
	siginfo_t info = {0};

	assert_int_equal(waitid(P_PID, (id_t)t->pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	return info.si_pid == t->pid;
}

static int task_end(struct task *t)
{
	int status;

	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	iso_refusals_unwatch(&t->run);
	close(t->sandbox.listener);
	close(t->pidfd);
	return status;
}

static void add_run(uint64_t sandbox, const char *id)
{
	struct iso_run_context context = sample_run;

	context.sandbox = sandbox;
	context.run_id = id;
	assert_int_equal(iso_stream_add_run(host.events, &context), 0);
}

/* ------------------------------------------------------------------------------ tests */

static char directory[64];

static int setup(void **state)
{
	struct iso_stream_options o = {.directory = directory};

	(void)state;
	snprintf(directory, sizeof directory, "/tmp/isoctl-refusals-XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(iso_stream_new(&o, &host.events, NULL), 0);
	assert_int_equal(iso_loop_open(&loop), 0);
	violations = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	iso_stream_free(host.events);
	iso_loop_close(&loop);
	return sample_remove(directory);
}

static void a_flood_is_counted_and_takes_nothing_from_others(void **state)
{
	struct iso_run_summary loud, quiet;
	struct task flood, one;
	unsigned rounds = 0;

	(void)state;
	add_run(1, "loud");
	add_run(2, "quiet");
	task_start(&flood, 1, FLOOD);
	/* it has begun, and is at it until long after the other one's call */
	while (!violations)
		assert_int_equal(iso_loop_once(&loop, 60000), 0);
	task_start(&one, 2, 1);
	while (!task_ended(&one)) {
		assert_int_equal(iso_loop_once(&loop, 60000), 0);
		rounds++;
	}
	assert_false(task_ended(&flood));
	assert_int_equal(task_end(&one), 0);
	while (!task_ended(&flood))
		assert_int_equal(iso_loop_once(&loop, 10), 0);
	assert_int_equal(task_end(&flood), 0); /* each of its calls got its errno */
	assert_true(rounds > 0);

	assert_int_equal(iso_stream_end_run(host.events, 1, NULL, &loud), 0);
	assert_int_equal(iso_stream_end_run(host.events, 2, NULL, &quiet), 0);
	assert_int_equal(violations, FLOOD + 1);
	assert_int_equal(loud.happened[ISO_RECORD_KERNEL], FLOOD);
	assert_true(loud.records < 100); /* of which each says how many it is for */
	assert_int_equal(quiet.happened[ISO_RECORD_KERNEL], 1);
	assert_int_equal(quiet.records, 2); /* and `unsealed` */
	assert_int_equal(quiet.lost, 0);
	assert_string_equal(quiet.refusals[0].object, "unshare(CLONE_NEWUSER)");
	assert_string_equal(quiet.refusals[0].errno_name, "EPERM");
	assert_string_equal(quiet.refusals[0].hook, "seccomp");
	iso_run_summary_free(&loud);
	iso_run_summary_free(&quiet);
}

static void who_dies_while_waiting_leaves_the_reader_alone(void **state)
{
	struct pollfd p = {.events = POLLIN};
	struct iso_run_summary s;
	struct task dying, next;

	(void)state;
	add_run(1, "dying");
	add_run(2, "next");
	task_start(&dying, 1, 1);
	p.fd = dying.sandbox.listener;
	assert_int_equal(poll(&p, 1, 60000), 1); /* pending */
	assert_int_equal(kill(dying.pid, SIGKILL), 0);
	p.fd = dying.pidfd;
	assert_int_equal(poll(&p, 1, 60000), 1); /* dead, not reaped */
	assert_int_equal(iso_loop_once(&loop, 0), 0);
	task_start(&next, 2, 3);
	while (!task_ended(&next))
		assert_int_equal(iso_loop_once(&loop, 60000), 0);
	assert_int_equal(task_end(&next), 0);
	assert_true(WIFSIGNALED(task_end(&dying)));
	assert_int_equal(iso_stream_end_run(host.events, 2, NULL, &s), 0);
	assert_int_equal(s.happened[ISO_RECORD_KERNEL], 3);
	iso_run_summary_free(&s);
	assert_int_equal(iso_stream_end_run(host.events, 1, NULL, &s), 0);
	iso_run_summary_free(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_flood_is_counted_and_takes_nothing_from_others),
		TEST(who_dies_while_waiting_leaves_the_reader_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
