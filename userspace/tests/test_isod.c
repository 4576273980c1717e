/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent over a real socket, with stand-ins for the sandbox and the kernel (fake_host.h). */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fake_host.h"
#include "run/client.h"

#define LIMITS	"\"wall_time\": \"1m\", \"log_bytes\": \"1MiB\", \"stop_grace\": \"1s\""
#define MEMBERS 4242
#define NOBODY	65534
#define CAPTURE "io.isoctl.Agent.Capture"

static struct fake_agent agent;

static int begin(void **state)
{
	(void)state;
	fake_agent_start(&agent, MEMBERS);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	return fake_agent_end(&agent);
}

static json_t *capture_parameters(const char *manifest, const char *command)
{
	return json_pack("{s:s, s:[s], s:{}}", "manifest", manifest, "command", command,
			 "environment");
}

/* The run id, which the caller frees. */
static char *capture(struct iso_client *c, const char *task, const char *command, const char *more)
{
	ISO_AUTO_FREE char *manifest = fake_manifest(task, LIMITS, more);
	struct iso_failure f = {0};
	json_t *reply = NULL;
	char *run;

	if (iso_client_call(c, "Capture", capture_parameters(manifest, command), &reply, &f) < 0)
		fail_msg("%s: %s", f.error.step, f.error.message);
	run = strdup(json_string_value(json_object_get(reply, "run")));
	assert_int_equal(json_string_length(json_object_get(reply, "manifest_sha256")), 64);
	json_decref(reply);
	return run;
}

static void launch(struct iso_client *c, const char *run)
{
	struct iso_failure f = {0};

	assert_int_equal(
		iso_client_send(c, "Launch",
				json_pack("{s:s, s:[], s:[]}", "run", run, "host_fds", "input_fds"),
				ISO_CALL_MORE, NULL, 0, &f),
		0);
}

/* Takes replies until one has that state; *ret is that reply. */
static void await_state(struct iso_client *c, const char *state, struct iso_client_reply *ret)
{
	struct iso_failure f = {0};

	for (;;) {
		const char *now;

		if (iso_client_receive(c, true, ret, &f) < 0)
			fail_msg("%s: %s", f.error.step, f.error.message);
		now = json_string_value(json_object_get(ret->parameters, "state"));
		assert_non_null(now);
		if (strcmp(now, state) == 0)
			return;
		iso_client_reply_clear(ret);
	}
}

static void cancel(struct iso_client *c, const char *run, bool kill)
{
	struct iso_failure f = {0};

	assert_int_equal(iso_client_send(c, "Cancel",
					 json_pack("{s:s, s:s, s:b}", "run", run, "reason",
						   "cancelled", "kill", kill),
					 ISO_CALL_ONEWAY, NULL, 0, &f),
			 0);
}

static void check_result(json_t *result, int status, const char *stop, const char *class)
{
	json_t *end = json_object_get(result, "exit"), *error = json_object_get(result, "error");
	const char *got = json_string_value(json_object_get(result, "stop_reason"));
	const char *kind = json_string_value(json_object_get(error, "class"));

	if (json_integer_value(json_object_get(end, "status")) != status)
		json_dumpf(result, stderr, JSON_INDENT(1));
	assert_string_equal(json_string_value(json_object_get(result, "schema")),
			    "io.isoctl.result/1");
	assert_int_equal(json_integer_value(json_object_get(end, "status")), status);
	assert_string_equal(got ? got : "none", stop ? stop : "none");
	assert_string_equal(kind ? kind : "none", class ? class : "none");
}

static void run_to_its_end(const char *command, const char *more, int status, const char *stop,
			   const char *class)
{
	struct iso_client *c = fake_agent_join(&agent);
	ISO_AUTO_FREE char *run = capture(c, "t", command, more);
	struct iso_client_reply reply;

	launch(c, run);
	await_state(c, "settled", &reply);
	assert_false(reply.continues);
	check_result(json_object_get(reply.parameters, "result"), status, stop, class);
	iso_client_reply_clear(&reply);
	iso_client_free(c);
}

static void every_end_has_its_status_reason_and_class(void **state)
{
	(void)state;
	run_to_its_end("true", "", 0, NULL, NULL);
	run_to_its_end("false", "", 1, NULL, NULL);
	run_to_its_end("not-there", "", 127, NULL, "command-not-found");
	run_to_its_end("not-allowed", "", 126, NULL, "command-not-executable");
	run_to_its_end("fail-setup", "", 125, "setup-failure", "setup-failed");
	run_to_its_end("fail-snapshot", "", 125, "setup-failure", "source-unusable");
	run_to_its_end("wall", "", 124, "deadline", "stopped");
	run_to_its_end("oom", "", 137, "limit-memory", "stopped");
	run_to_its_end("lost", "", 137, "supervisor-lost", "stopped");
	run_to_its_end("survivor", "", 0, NULL, NULL);
	run_to_its_end("stays", "", 0, NULL, "cleanup-failed");
	run_to_its_end("violates", ", \"response\": {\"file\": \"stop\"}", 137, "violation",
		       "stopped");
}

static void output_and_input_are_the_caller_s_ends(void **state)
{
	struct iso_client *c = fake_agent_join(&agent);
	ISO_AUTO_FREE char *run = capture(c, "t", "cat", "");
	struct iso_client_reply reply;
	char got[16] = "";
	int in, out;

	(void)state;
	launch(c, run);
	await_state(c, "building", &reply);
	assert_int_equal(reply.fds.count, 3);
	in = reply.fds.fds[json_integer_value(json_object_get(reply.parameters, "stdin"))];
	out = reply.fds.fds[json_integer_value(json_object_get(reply.parameters, "stdout"))];
	assert_int_equal(write(in, "hello", 5), 5);
	assert_int_equal(read(out, got, sizeof got), 5);
	assert_string_equal(got, "hello");
	iso_client_reply_clear(&reply); /* the end of its input ends it */
	await_state(c, "settled", &reply);
	check_result(json_object_get(reply.parameters, "result"), 0, NULL, NULL);
	iso_client_reply_clear(&reply);
	iso_client_free(c);
}

static void a_cancel_goes_over_the_launching_connection(void **state)
{
	struct iso_client *c = fake_agent_join(&agent);
	ISO_AUTO_FREE char *run = capture(c, "t", "cat", "");
	ISO_AUTO_FREE char *slow = NULL;
	struct iso_client_reply output, reply;

	(void)state;
	launch(c, run);
	await_state(c, "building", &output);
	await_state(c, "running", &reply);
	iso_client_reply_clear(&reply);
	cancel(c, run, false);
	await_state(c, "settled", &reply);
	check_result(json_object_get(reply.parameters, "result"), 137, "cancelled", "stopped");
	iso_client_reply_clear(&reply);
	iso_client_reply_clear(&output);

	slow = capture(c, "t", "slow-setup", "");
	launch(c, slow);
	await_state(c, "building", &reply);
	iso_client_reply_clear(&reply);
	cancel(c, slow, false);
	await_state(c, "settled", &reply);
	check_result(json_object_get(reply.parameters, "result"), 125, "cancelled", "stopped");
	iso_client_reply_clear(&reply);
	iso_client_free(c);
}

static void the_end_of_the_connection_cancels(void **state)
{
	struct iso_client *c = fake_agent_join(&agent), *other = fake_agent_join(&agent);
	ISO_AUTO_FREE char *run = capture(c, "t", "cat", "");
	struct iso_client_reply output, reply;
	struct iso_failure f = {0};
	json_t *answer = NULL;

	(void)state;
	launch(c, run);
	await_state(c, "building", &output);
	await_state(c, "running", &reply);
	iso_client_reply_clear(&reply);
	iso_client_free(c);
	assert_int_equal(
		iso_client_call(other, "Wait", json_pack("{s:s}", "run", run), &answer, &f), 0);
	check_result(json_object_get(answer, "result"), 137, "cancelled", "stopped");
	json_decref(answer);
	iso_client_reply_clear(&output);
	iso_client_free(other);
}

static void a_stop_ends_every_run_then_the_agent(void **state)
{
	struct iso_client *c = fake_agent_join(&agent);
	ISO_AUTO_FREE char *run = capture(c, "t", "cat", "");
	struct iso_client_reply output, reply;
	struct iso_failure f = {0};

	(void)state;
	launch(c, run);
	await_state(c, "building", &output);
	await_state(c, "running", &reply);
	iso_client_reply_clear(&reply);
	assert_int_equal(kill(agent.pid, SIGTERM), 0);
	await_state(c, "settled", &reply);
	check_result(json_object_get(reply.parameters, "result"), 137, "cancelled", "stopped");
	iso_client_reply_clear(&reply);
	assert_int_equal(iso_client_receive(c, true, &reply, &f), -ECONNRESET);
	assert_int_equal(f.class, ISO_CLASS_AGENT);
	iso_client_reply_clear(&output);
	iso_client_free(c);
}

static void refuse_capture(struct iso_client *c, const char *manifest, const char *command,
			   enum iso_class class)
{
	struct iso_failure f = {0};
	json_t *reply = NULL;

	assert_int_equal(
		iso_client_call(c, "Capture", capture_parameters(manifest, command), &reply, &f),
		-EIO);
	assert_int_equal(f.class, class);
}

static void a_refused_capture_uses_no_attempt_up(void **state)
{
	ISO_AUTO_FREE char *two =
		fake_manifest("x\", \"attempt\": 2, \"purpose\": \"p", LIMITS, "");
	ISO_AUTO_FREE char *named = fake_manifest(
		"x\", \"attempt\": 3, \"command\": [\"true\"], \"purpose\": \"p", LIMITS, "");
	struct iso_client *c = fake_agent_join(&agent);
	struct iso_failure f = {0};
	json_t *reply = NULL;

	(void)state;
	refuse_capture(c, "{}", "true", ISO_CLASS_MANIFEST);
	refuse_capture(c, "", "true", ISO_CLASS_MANIFEST);
	refuse_capture(c, two, "", ISO_CLASS_COMMAND);
	refuse_capture(c, named, "false", ISO_CLASS_COMMAND);
	assert_int_equal(iso_client_call(c, "Capture", capture_parameters(two, "true"), &reply, &f),
			 0);
	assert_int_equal(json_integer_value(json_object_get(reply, "attempt")), 2);
	json_decref(reply);
	refuse_capture(c, two, "true", ISO_CLASS_ATTEMPT);
	iso_client_free(c);
}

/* ------------------------------------------------------------------------------ the protocol */

static int connect_raw(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval patience = {.tv_sec = 10};

	strcpy(address.sun_path, agent.socket);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

/* Sends one call as text; returns the answer's error, or "" , or "closed". */
static const char *ask(int fd, const char *text)
{
	static char answer[65536], error[128];
	size_t used = 0;
	json_t *message;

	if (send(fd, text, strlen(text) + 1, MSG_NOSIGNAL) < 0)
		return "closed";
	do {
		ssize_t n = recv(fd, answer + used, sizeof answer - used, 0);

		if (n <= 0)
			return "closed";
		used += (size_t)n;
	} while (answer[used - 1] != '\0');
	message = json_loads(answer, 0, NULL);
	assert_non_null(message);
	snprintf(error, sizeof error, "%s",
		 json_string_value(json_object_get(message, "error"))
			 ? json_string_value(json_object_get(message, "error"))
			 : "");
	json_decref(message);
	return error;
}

static void calls_are_held_to_the_interface(void **state)
{
	static const struct {
		const char *call, *error;
	} rows[] = {
		{"{\"method\":\"org.varlink.service.GetInfo\"}", ""},
		{"{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":"
		 "{\"interface\":\"io.isoctl.Agent\"}}",
		 ""},
		{"{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":"
		 "{\"interface\":\"io.isoctl.Other\"}}",
		 "org.varlink.service.InterfaceNotFound"},
		{"{\"method\":\"io.isoctl.Agent.List\",\"parameters\":{}}", ""},
		{"{\"method\":\"io.isoctl.Agent.Features\"}", ""},
		{"{\"method\":\"io.isoctl.Agent.Guard\"}", ""},
		{"{\"method\":\"io.isoctl.Agent.Guard\",\"parameters\":{\"all\":true}}",
		 "org.varlink.service.InvalidParameter"},
		{"{\"method\":\"io.isoctl.Agent.Nothing\"}", "org.varlink.service.MethodNotFound"},
		{"{\"method\":\"io.other.Agent.List\"}", "org.varlink.service.InterfaceNotFound"},
		{"{\"method\":\"List\"}", "org.varlink.service.InterfaceNotFound"},
		{"{\"method\":\"io.isoctl.Agent.List\",\"parameters\":{\"all\":true}}",
		 "org.varlink.service.InvalidParameter"},
		{"{\"method\":\"io.isoctl.Agent.List\",\"parameters\":[]}",
		 "org.varlink.service.InvalidParameter"},
		{"{\"method\":\"io.isoctl.Agent.List\",\"upgrade\":true}",
		 "org.varlink.service.InvalidParameter"},
		{"{\"method\":\"io.isoctl.Agent.List\",\"extra\":1}",
		 "org.varlink.service.InvalidParameter"},
		{"{\"parameters\":{}}", "org.varlink.service.InvalidParameter"},
		{"{\"method\":\"io.isoctl.Agent.Wait\",\"parameters\":{\"run\":\"none\"}}",
		 "io.isoctl.Agent.NoSuchRun"},
		{"{\"method\":\"io.isoctl.Agent.Wait\",\"parameters\":{\"run\":7}}",
		 "org.varlink.service.InvalidParameter"},
	};
	ISO_AUTO_CLOSE int fd = connect_raw();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(ask(fd, rows[i].call), rows[i].error);
}

static void launches_need_their_descriptors_exactly(void **state)
{
	static const char *const bad[] = {"[0]", "[0,0]", "[1]", "[-1]", "[0,1]"};
	struct iso_client *c = fake_agent_join(&agent);
	ISO_AUTO_FREE char *run = capture(c, "t", "true", "");
	struct iso_client_reply reply = {0};
	struct iso_failure f = {0};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		json_t *list = json_loads(bad[i], 0, NULL);
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

		assert_int_equal(iso_client_send(c, "Launch",
						 json_pack("{s:s, s:o, s:[]}", "run", run,
							   "host_fds", list, "input_fds"),
						 ISO_CALL_MORE, &null, 1, &f),
				 0);
		assert_int_equal(iso_client_receive(c, true, &reply, &f), -EIO);
	}
	/* One too many for a method that takes none; the run can still be launched. */
	{
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

		assert_int_equal(iso_client_send(c, "List", json_object(), 0, &null, 1, &f), 0);
		assert_int_equal(iso_client_receive(c, true, &reply, &f), -EIO);
	}
	assert_int_equal(
		iso_client_send(c, "Launch",
				json_pack("{s:s, s:[], s:[]}", "run", run, "host_fds", "input_fds"),
				0, NULL, 0, &f),
		0);
	assert_int_equal(iso_client_receive(c, true, &reply, &f), -EIO); /* ExpectedMore */
	launch(c, run);
	await_state(c, "settled", &reply);
	check_result(json_object_get(reply.parameters, "result"), 0, NULL, NULL);
	iso_client_reply_clear(&reply);
	iso_client_free(c);
}

static void hostile_peers_are_dropped_and_others_served(void **state)
{
	static const char half[] = "{\"method\":\"io.isoctl";
	ISO_AUTO_FREE char *blob = malloc(1 << 20);
	int fds[ISO_CONNECTIONS_PER_USER + 8];
	int fd = connect_raw(), other;
	bool dropped = false;

	(void)state;
	memset(blob, 'x', 1 << 20);
	assert_string_equal(ask(fd, "[]"), "closed");
	close(fd);
	fd = connect_raw();
	/* the send that it is dropped in may still have sent a part */
	for (int i = 0; i < 16 && !dropped; i++)
		dropped = send(fd, blob, 1 << 20, MSG_NOSIGNAL) < 0;
	assert_true(dropped);
	close(fd);
	/* One that never finishes its message, one that never reads: others do not wait. */
	fd = connect_raw();
	assert_int_equal(send(fd, half, sizeof half - 1, MSG_NOSIGNAL), sizeof half - 1);
	other = connect_raw();
	fcntl(other, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 20000; i++)
		if (send(other, "{\"method\":\"org.varlink.service.GetInfo\"}", 41, MSG_NOSIGNAL) <
		    0)
			break;
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		fds[i] = connect_raw();
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		close(fds[i]);
	close(other);
	{
		ISO_AUTO_CLOSE int good = connect_raw();

		assert_string_equal(ask(good, "{\"method\":\"io.isoctl.Agent.List\"}"), "");
	}
	close(fd);
}

/* ------------------------------------------------------------------------------ other users */

/* Runs fn as a user that is nobody here, with these groups; its return value comes back. */
static int as_user(int (*fn)(const char *), const char *argument, const gid_t *groups, size_t n)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (setgroups(n, groups) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(99);
		_exit(fn(argument));
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int outsider(const char *run)
{
	int fd = connect_raw();

	(void)run;
	if (*ask(fd, "{\"method\":\"org.varlink.service.GetInfo\"}"))
		return 1;
	if (strcmp(ask(fd, "{\"method\":\"io.isoctl.Agent.List\"}"),
		   "io.isoctl.Agent.NotPermitted") != 0)
		return 2;
	if (strcmp(ask(fd, "{\"method\":\"io.isoctl.Agent.Release\"}"),
		   "io.isoctl.Agent.NotPermitted") != 0)
		return 3;
	return strcmp(ask(fd, "{\"method\":\"io.isoctl.Agent.Features\"}"),
		      "io.isoctl.Agent.NotPermitted") != 0;
}

static int member(const char *run)
{
	ISO_AUTO_FREE char *manifest = fake_manifest("m", LIMITS, "");
	struct iso_client_options o = {.socket = agent.socket};
	struct iso_failure f = {0};
	struct iso_client *c = NULL;
	json_t *reply = NULL;

	if (iso_client_open(&o, &c, &f) < 0)
		return 1;
	/* Somebody else's run is not there for this one: not to see, not to end, not to launch. */
	if (iso_client_call(c, "List", json_object(), &reply, &f) < 0 ||
	    json_array_size(json_object_get(reply, "runs")) != 0)
		return 2;
	json_decref(reply);
	if (iso_client_call(c, "Inspect", json_pack("{s:s}", "run", run), &reply, &f) != -ENOENT)
		return 3;
	if (iso_client_call(c, "Cancel", json_pack("{s:s, s:s}", "run", run, "reason", "cancelled"),
			    &reply, &f) != -ENOENT)
		return 4;
	/* Without a ceiling only root may seal. */
	if (iso_client_call(c, "Capture", capture_parameters(manifest, "true"), &reply, &f) !=
		    -EIO ||
	    f.class != ISO_CLASS_CEILING)
		return 5;
	iso_client_free(c);
	return 0;
}

static int captures(const char *unused)
{
	ISO_AUTO_FREE char *manifest = fake_manifest("m", LIMITS, "");
	struct iso_client_options o = {.socket = agent.socket};
	struct iso_failure f = {0};
	struct iso_client *c = NULL;
	json_t *reply = NULL;

	(void)unused;
	if (iso_client_open(&o, &c, &f) < 0)
		return 1;
	if (iso_client_call(c, "Capture", capture_parameters(manifest, "true"), &reply, &f) < 0)
		return 2;
	json_decref(reply);
	/* The ceiling's bound of sandboxes is reached. */
	if (iso_client_call(c, "Capture", capture_parameters(manifest, "true"), &reply, &f) !=
		    -EIO ||
	    f.class != ISO_CLASS_QUOTA || !f.error.retryable)
		return 3;
	iso_client_free(c);
	return 0;
}

static void write_ceiling(const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/ceiling.json", agent.directory);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fchmod(fileno(f), 0644), 0);
	assert_int_equal(fclose(f), 0);
}

static void other_users_may_do_what_they_may(void **state)
{
	const gid_t none[] = {NOBODY}, members[] = {NOBODY, MEMBERS};
	struct iso_client *c;
	ISO_AUTO_FREE char *run = NULL;
	char folder[96];
	struct stat st;

	(void)state;
	/* They can reach the socket, and nothing else that the agent keeps. */
	snprintf(folder, sizeof folder, "%s/run", agent.directory);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	snprintf(folder, sizeof folder, "%s/state", agent.directory);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	if (geteuid() != 0)
		skip();
	c = fake_agent_join(&agent);
	run = capture(c, "t", "true", "");
	assert_int_equal(as_user(outsider, run, none, 1), 0);
	assert_int_equal(as_user(member, run, members, 2), 0);
	iso_client_free(c);
}

static void a_ceiling_lets_members_seal_within_it(void **state)
{
	const gid_t members[] = {MEMBERS};

	(void)state;
	if (geteuid() != 0)
		skip();
	write_ceiling("{\"ceiling_version\": 1, \"callers\": {\"groups\": [\"4242\"]},"
		      "\"shared_kernel\": true, \"max_sandboxes\": 1}");
	assert_int_equal(as_user(captures, NULL, members, 1), 0);
}

int main(void)
{
#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, begin, finish)
	const struct CMUnitTest tests[] = {
		WITH_AGENT(every_end_has_its_status_reason_and_class),
		WITH_AGENT(output_and_input_are_the_caller_s_ends),
		WITH_AGENT(a_cancel_goes_over_the_launching_connection),
		WITH_AGENT(the_end_of_the_connection_cancels),
		WITH_AGENT(a_stop_ends_every_run_then_the_agent),
		WITH_AGENT(a_refused_capture_uses_no_attempt_up),
		WITH_AGENT(calls_are_held_to_the_interface),
		WITH_AGENT(launches_need_their_descriptors_exactly),
		WITH_AGENT(hostile_peers_are_dropped_and_others_served),
		WITH_AGENT(other_users_may_do_what_they_may),
		WITH_AGENT(a_ceiling_lets_members_seal_within_it),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
