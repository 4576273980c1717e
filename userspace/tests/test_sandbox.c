/* SPDX-License-Identifier: BSD-2-Clause */
/* What a task sees, and how its life ends. */
#include "test_sandbox_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define RUN(f, o, script) assert_int_equal(fixture_shell(f, script, o), 0)

static void entry_command_runs_and_its_status_comes_back(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o, "echo hello; exit 7");
	assert_string_equal(o.out, "hello\n");
	assert_true(o.started);
	assert_true(WIFEXITED(o.status));
	assert_int_equal(WEXITSTATUS(o.status), 7);
	assert_int_equal(o.survivors, 0);
	assert_int_equal(fixture_leftovers(f), 0);
}

static void task_is_nobody_special(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o,
	    "id -u; id -g; id -G; hostname; umask; ulimit -n; grep ^0:: /proc/self/cgroup;"
	    "grep 'core file' /proc/self/limits | tr -s ' ';"
	    "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -s '\\t ' ' '");
	assert_string_equal(o.out, "1000\n1000\n1000\ntask\n0022\n256\n0::/\n"
				   "Max core file size 1 1 bytes \n"
				   "CapInh: 0000000000000000\nCapPrm: 0000000000000000\n"
				   "CapEff: 0000000000000000\nCapBnd: 0000000000000000\n"
				   "CapAmb: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n");
}

static void task_inherits_no_descriptor(void **state)
{
	struct fixture *f = *state;
	struct outcome o;
	int leak = dup2(1, 200);

	assert_int_equal(leak, 200);
	RUN(f, &o, "ls /proc/self/fd | tr '\\n' ' '");
	close(leak);
	assert_string_equal(o.out, "0 1 2 3 "); /* 3 is what ls reads */
}

static void stdin_is_empty_and_output_can_be_reopened(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o, "cat; echo one >/dev/stderr; echo two >/dev/stdout");
	assert_string_equal(o.out, "one\ntwo\n");
}

static void root_shows_what_the_policy_names(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o, "ls -A /; ls /dev; ls /etc; stat -c %F /bin");
	assert_string_equal(o.out,
			    "bin\ndev\netc\nlib\nlib64\nproc\ntmp\nusr\n"
			    "fd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\n"
			    "urandom\nzero\n"
			    "group\nhost.conf\nhostname\nhosts\nmachine-id\nnsswitch.conf\npasswd\n"
			    "profile\nprotocols\nresolv.conf\nservices\nshells\nsymbolic link\n");
}

static void nothing_but_scratch_is_writable(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o,
	    "for d in / /usr /etc /dev /proc /proc/sys/kernel /usr/bin; do"
	    " (: >$d/x) 2>/dev/null && echo wrote $d; done;"
	    "echo ok >/tmp/x && cat /tmp/x; echo 1 >/dev/shm/x && echo shm;"
	    "(echo 1 >/proc/sys/kernel/core_pattern) 2>/dev/null && echo sysctl;"
	    "cp /usr/bin/true /tmp/t; /tmp/t 2>/dev/null || echo noexec");
	assert_string_equal(o.out, "ok\nshm\nnoexec\n");
}

static void proc_hides_others_and_the_host(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o,
	    "ls -d /proc/1 2>/dev/null; cat /proc/1/environ 2>/dev/null;"
	    "for x in kcore keys kallsyms sysrq-trigger timer_list; do"
	    " [ -s /proc/$x ] && echo seen $x; done; ls /proc/acpi /proc/bus 2>/dev/null | wc -l;"
	    "cat /proc/meminfo | wc -l | grep -qv '^0' && echo meminfo");
	assert_non_null(strstr(o.out, "meminfo"));
	assert_null(strstr(o.out, "seen"));
	assert_null(strstr(o.out, "/proc/1"));
}

static void devices_work(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o,
	    "echo x >/dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c;"
	    "(echo x >/dev/full) 2>/dev/null || echo full; chmod 600 /dev/null 2>/dev/null || echo ro");
	assert_string_equal(o.out, "4\n4\nfull\nro\n");
}

static void scratch_is_bounded_in_bytes_and_inodes(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o,
	    "head -c 2000000 /dev/zero >/tmp/big 2>/dev/null || echo full; wc -c </tmp/big; rm /tmp/big;"
	    "i=0; while mkdir /tmp/d$i 2>/dev/null; do i=$((i+1)); done; echo $i");
	assert_string_equal(o.out, "full\n1048576\n32\n");
}

static void network_is_its_own(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o,
	    "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort -u; "
	    "grep -c . /proc/net/route");
	assert_non_null(strstr(o.out, "lo\n"));
	assert_null(strstr(o.out, "eth"));
}

static void missing_command_is_127_and_unrunnable_126(void **state)
{
	static char *const missing[] = {(char *)(uintptr_t) "no-such-command", NULL};
	static char *const text[] = {(char *)(uintptr_t) "/etc/passwd", NULL};
	struct fixture *f = *state;
	struct outcome o;

	assert_int_equal(fixture_run(f, missing, &o), 0);
	assert_int_equal(o.exec_error, ENOENT);
	assert_string_equal(o.stage, "exec");
	assert_int_equal(WEXITSTATUS(o.status), 127);
	assert_int_equal(fixture_run(f, text, &o), 0);
	assert_int_equal(o.exec_error, EACCES);
	assert_int_equal(WEXITSTATUS(o.status), 126);
	f->m.process.directory = (char *)(uintptr_t) "/nowhere";
	assert_int_equal(fixture_run(f, text, &o), 0);
	assert_string_equal(o.stage, "directory");
}

static void wall_limit_ends_everything(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	f->m.limits.wall_ms = 300;
	RUN(f, &o, "trap '' TERM; sleep 100 & while :; do sleep 1; done");
	assert_int_equal(o.wall, 300);
	assert_true(WIFSIGNALED(o.status));
	f->m.limits.wall_ms = 3000;
	f->m.limits.stop_grace_ms = 60000;
	RUN(f, &o, "trap 'exit 3' TERM; sleep 100 & wait");
	assert_int_equal(o.wall, 3000);
	assert_int_equal(WEXITSTATUS(o.status), 3);
}

static void orphans_are_killed_and_told(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	/* the task sees its orphan go: no process but the shell and what it asks with is left */
	RUN(f, &o,
	    "(sleep 100 & ); n=9; while [ $n -gt 1 ]; do set -- /proc/[0-9]*; n=$#; done; echo $n");
	assert_int_equal(o.survivors, 1);
	assert_true(o.survivor[0]); /* "sh" when it was killed before its exec */
	assert_string_equal(o.out, "1\n");
}

static void what_outlives_the_command_is_killed_and_told(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o, "sleep 100 & exit 0");
	assert_int_equal(o.survivors, 1);
	assert_int_equal(o.status, 0);
	f->m.process.daemons_contain = true;
	RUN(f, &o, "(sleep 100 & ); setsid sleep 100 & exit 0");
	assert_int_equal(o.survivors, 0);
	assert_int_equal(o.status, 0);
}

static void daemon_calls_are_refused(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o, "setsid true; sh -c 'setsid -f sleep 50' 2>&1 | grep -c 'not permitted'");
	assert_non_null(strstr(o.out, "not permitted"));
}

/* Runs a script that says so when it is ready; its sandbox. */
static struct iso_sandbox_handle *start(struct fixture *f, const char *script)
{
	char *const argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			      (char *)(uintptr_t)script, NULL};
	struct iso_sandbox_handle *h = NULL;
	char byte;
	int out[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	f->q.argv = argv;
	f->q.stdio[1] = out[1];
	assert_int_equal(fixture_create(f, &h), 0);
	f->q.argv = NULL;
	close(out[1]);
	assert_int_equal(iso_sandbox_start(h), 0);
	assert_int_equal(read(out[0], &byte, 1), 1);
	close(out[0]);
	return h;
}

static void signals_are_forwarded(void **state)
{
	struct fixture *f = *state;
	struct iso_sandbox_handle *h = start(f, "trap 'exit 9' USR1; echo; sleep 30 & wait");
	struct outcome o;

	assert_int_equal(iso_sandbox_signal(h, 0), -EINVAL);
	assert_int_equal(iso_sandbox_signal(h, SIGUSR1), 0);
	fixture_collect(h, -1, &o);
	assert_int_equal(WEXITSTATUS(o.status), 9);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
}

static void terminate_gives_the_grace(void **state)
{
	struct fixture *f = *state;
	struct iso_sandbox_handle *h;
	struct outcome o;

	f->m.limits.stop_grace_ms = 60000;
	h = start(f, "trap 'exit 4' TERM; echo; sleep 30 & wait");
	assert_int_equal(iso_sandbox_terminate(h), 0);
	fixture_collect(h, -1, &o);
	assert_int_equal(WEXITSTATUS(o.status), 4);
	assert_int_equal(o.survivors, 0);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
}

static void destroy_ends_what_runs(void **state)
{
	struct fixture *f = *state;
	struct iso_sandbox_handle *h = start(f, "echo; exec sleep 100");
	struct iso_sandbox_usage usage;

	assert_int_equal(iso_sandbox_usage(h, &usage), 0);
	assert_int_equal(fixture_leftovers(f), 1);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
	assert_int_equal(fixture_leftovers(f), 0);
}

/* A sandbox that nobody starts ends with the handle, and one whose isod is gone ends by itself. */
static void silence_is_the_end(void **state)
{
	struct iso_sandbox_handle *h;
	struct fixture *f = *state;

	assert_int_equal(fixture_create(f, &h), 0);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
	f->q.argv = NULL;
	h = start(f, "trap '' TERM; echo; sleep 100");
	close(h->control);
	h->control = -1;
	assert_int_equal(iso_reap(h->pidfd, 60000, NULL), 0);
	h->pid = 0;
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
}

static void refused_calls_are_told_of(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	RUN(f, &o, "unshare -U true 2>&1; :");
	assert_non_null(strstr(o.out, "not permitted"));
	assert_int_equal(o.refused, 1);
	assert_string_equal(o.call.call, "unshare");
	assert_string_equal(o.call.arguments, "CLONE_NEWUSER");
	assert_string_equal(o.call.comm, "unshare");
	assert_int_equal(o.call.error, EPERM);
	assert_true(o.call.ns_pid > 1 && o.call.ns_pid < 10);
	assert_false(o.unanswered);
}

/* Waits until a refused call waits for its answer. */
static int wait_pending(struct iso_sandbox_handle *h)
{
	struct iso_init_message m;
	struct pollfd p;

	while (iso_sandbox_listener(h) < 0) {
		p = (struct pollfd){.fd = iso_sandbox_control_fd(h), .events = POLLIN};
		assert_int_equal(poll(&p, 1, 60000), 1);
		assert_int_equal(iso_sandbox_receive(h, &m), 1);
	}
	p = (struct pollfd){.fd = iso_sandbox_listener(h), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 60000), 1);
	return p.fd;
}

/* isod stands still: nobody reads the listener, and nobody gives a sign of life. */
static void an_unanswered_call_ends_the_sandbox(void **state)
{
	struct fixture *f = *state;
	struct iso_sandbox_handle *h = start(f, "echo; exec unshare -U sleep 100");
	struct iso_init_message m;
	bool told = false;

	assert_int_equal(iso_reap(h->pidfd, 60000, NULL), 0);
	h->pid = 0;
	while (iso_sandbox_receive(h, &m) == 1)
		told = told || m.kind == ISO_INIT_UNANSWERED;
	assert_true(told);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
}

/* The same of a call that was taken, and never answered. */
static void a_taken_call_ends_the_sandbox(void **state)
{
	struct fixture *f = *state;
	struct iso_sandbox_handle *h = start(f, "echo; exec unshare -U sleep 100");
	struct seccomp_notif n = {0};

	assert_int_equal(ioctl(wait_pending(h), SECCOMP_IOCTL_NOTIF_RECV, &n), 0);
	assert_int_equal(iso_reap(h->pidfd, 60000, NULL), 0);
	h->pid = 0;
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
}

/* isod is dead: isoinit's copy of the listener was the last, and the kernel answers. */
static void without_isod_there_is_no_such_call(void **state)
{
	/* isoinit also tells it to end, which it does not hear */
	char *const argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			      (char *)(uintptr_t) "trap '' TERM; exec unshare -U true", NULL};
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;
	char text[256] = "";
	size_t used = 0;
	ssize_t n;
	int out[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	f->m.limits.stop_grace_ms = 600000;
	f->q.argv = argv;
	f->q.stdio[2] = out[1];
	assert_int_equal(fixture_create(f, &h), 0);
	f->q.argv = NULL;
	close(out[1]);
	assert_int_equal(iso_sandbox_start(h), 0);
	close(wait_pending(h));
	close(h->control);
	h->control = h->listener = -1;
	/* to its end: the message comes in pieces */
	while ((n = read(out[0], text + used, sizeof text - 1 - used)) > 0)
		used += (size_t)n;
	assert_int_equal(n, 0);
	assert_non_null(strstr(text, "not implemented"));
	close(out[0]);
	assert_int_equal(iso_reap(h->pidfd, 60000, NULL), 0);
	h->pid = 0;
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(entry_command_runs_and_its_status_comes_back),
		TEST(task_is_nobody_special),
		TEST(task_inherits_no_descriptor),
		TEST(stdin_is_empty_and_output_can_be_reopened),
		TEST(root_shows_what_the_policy_names),
		TEST(nothing_but_scratch_is_writable),
		TEST(proc_hides_others_and_the_host),
		TEST(devices_work),
		TEST(scratch_is_bounded_in_bytes_and_inodes),
		TEST(network_is_its_own),
		TEST(missing_command_is_127_and_unrunnable_126),
		TEST(wall_limit_ends_everything),
		TEST(orphans_are_killed_and_told),
		TEST(what_outlives_the_command_is_killed_and_told),
		TEST(daemon_calls_are_refused),
		TEST(signals_are_forwarded),
		TEST(terminate_gives_the_grace),
		TEST(destroy_ends_what_runs),
		TEST(silence_is_the_end),
		TEST(refused_calls_are_told_of),
		TEST(an_unanswered_call_ends_the_sandbox),
		TEST(a_taken_call_ends_the_sandbox),
		TEST(without_isod_there_is_no_such_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
