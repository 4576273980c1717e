/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs by the agent over a real socket, with stand-ins for the sandbox and the kernel
 * (fake_host.h). */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "fake_call.h"

static void cancel(struct iso_client *c, const char *run, bool kill)
{
	struct iso_failure f = {0};

	assert_int_equal(iso_client_send(c, "Cancel",
					 json_pack("{s:s, s:s, s:b}", "run", run, "reason",
						   "cancelled", "kill", kill),
					 ISO_CALL_ONEWAY, NULL, 0, &f),
			 0);
}
static void run_to_its_end(const char *command, const char *more, int status, const char *stop,
			   const char *class)
{
	struct iso_client *c = fake_agent_join(&fake_agent);
	ISO_AUTO_FREE char *run = fake_call_capture(c, "t", command, more);
	struct iso_client_reply reply;

	fake_call_launch(c, run);
	fake_call_await(c, "settled", &reply);
	assert_false(reply.continues);
	fake_call_result(json_object_get(reply.parameters, "result"), status, stop, class);
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

/* How often the event file says so. */
static unsigned told_of(const char *words)
{
	ISO_AUTO_FREE char *text = NULL;
	char path[128];
	unsigned n = 0;
	size_t size;

	snprintf(path, sizeof path, "%s/log/events.ndjson", fake_agent.directory);
	assert_true(iso_read_file(AT_FDCWD, path, 1 << 20, &text, &size) >= 0);
	for (const char *at = text; (at = strstr(at, words)); at++)
		n++;
	return n;
}

static void what_is_not_as_it_was_sealed_is_ended(void **state)
{
	(void)state;
	run_to_its_end("true", "", 0, NULL, NULL);
	assert_int_equal(told_of("\"class_uid\":2004"), 0);
	run_to_its_end("torn", "", 137, "tamper", "stopped");
	assert_int_equal(told_of("\"reason\":\"torn\""), 1);
	run_to_its_end("unlabelled", "", 137, "tamper", "stopped");
	assert_int_equal(told_of("\"reason\":\"no-label\""), 1);
	run_to_its_end("unanswered", "", 137, "tamper", "stopped");
	assert_int_equal(told_of("\"reason\":\"unreadable\""), 1);
	assert_int_equal(told_of("\"class_uid\":2004"), 3);
}

static void output_and_input_are_the_caller_s_ends(void **state)
{
	struct iso_client *c = fake_agent_join(&fake_agent);
	ISO_AUTO_FREE char *run = fake_call_capture(c, "t", "cat", "");
	struct iso_client_reply reply;
	char got[16] = "";
	int in, out;

	(void)state;
	fake_call_launch(c, run);
	fake_call_await(c, "building", &reply);
	assert_int_equal(reply.fds.count, 3);
	in = reply.fds.fds[json_integer_value(json_object_get(reply.parameters, "stdin"))];
	out = reply.fds.fds[json_integer_value(json_object_get(reply.parameters, "stdout"))];
	assert_int_equal(write(in, "hello", 5), 5);
	assert_int_equal(read(out, got, sizeof got), 5);
	assert_string_equal(got, "hello");
	iso_client_reply_clear(&reply); /* the end of its input ends it */
	fake_call_await(c, "settled", &reply);
	fake_call_result(json_object_get(reply.parameters, "result"), 0, NULL, NULL);
	iso_client_reply_clear(&reply);
	iso_client_free(c);
}

static void a_cancel_goes_over_the_launching_connection(void **state)
{
	struct iso_client *c = fake_agent_join(&fake_agent);
	ISO_AUTO_FREE char *run = fake_call_capture(c, "t", "cat", "");
	ISO_AUTO_FREE char *slow = NULL;
	struct iso_client_reply output, reply;

	(void)state;
	fake_call_launch(c, run);
	fake_call_await(c, "building", &output);
	fake_call_await(c, "running", &reply);
	iso_client_reply_clear(&reply);
	cancel(c, run, false);
	fake_call_await(c, "settled", &reply);
	fake_call_result(json_object_get(reply.parameters, "result"), 137, "cancelled", "stopped");
	iso_client_reply_clear(&reply);
	iso_client_reply_clear(&output);

	slow = fake_call_capture(c, "t", "slow-setup", "");
	fake_call_launch(c, slow);
	fake_call_await(c, "building", &reply);
	iso_client_reply_clear(&reply);
	cancel(c, slow, false);
	fake_call_await(c, "settled", &reply);
	fake_call_result(json_object_get(reply.parameters, "result"), 125, "cancelled", "stopped");
	iso_client_reply_clear(&reply);
	iso_client_free(c);
}

static void the_end_of_the_connection_cancels(void **state)
{
	struct iso_client *c = fake_agent_join(&fake_agent), *other = fake_agent_join(&fake_agent);
	ISO_AUTO_FREE char *run = fake_call_capture(c, "t", "cat", "");
	struct iso_client_reply output, reply;
	struct iso_failure f = {0};
	json_t *answer = NULL;

	(void)state;
	fake_call_launch(c, run);
	fake_call_await(c, "building", &output);
	fake_call_await(c, "running", &reply);
	iso_client_reply_clear(&reply);
	iso_client_free(c);
	assert_int_equal(
		iso_client_call(other, "Wait", json_pack("{s:s}", "run", run), &answer, &f), 0);
	fake_call_result(json_object_get(answer, "result"), 137, "cancelled", "stopped");
	json_decref(answer);
	iso_client_reply_clear(&output);
	iso_client_free(other);
}

static void a_stop_ends_every_run_then_the_agent(void **state)
{
	struct iso_client *c = fake_agent_join(&fake_agent);
	ISO_AUTO_FREE char *run = fake_call_capture(c, "t", "cat", "");
	struct iso_client_reply output, reply;
	struct iso_failure f = {0};

	(void)state;
	fake_call_launch(c, run);
	fake_call_await(c, "building", &output);
	fake_call_await(c, "running", &reply);
	iso_client_reply_clear(&reply);
	assert_int_equal(kill(fake_agent.pid, SIGTERM), 0);
	fake_call_await(c, "settled", &reply);
	fake_call_result(json_object_get(reply.parameters, "result"), 137, "cancelled", "stopped");
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
		iso_client_call(c, "Capture", fake_call_parameters(manifest, command), &reply, &f),
		-EIO);
	assert_int_equal(f.class, class);
}

static void a_refused_capture_uses_no_attempt_up(void **state)
{
	ISO_AUTO_FREE char *two =
		fake_manifest("x\", \"attempt\": 2, \"purpose\": \"p", LIMITS, "");
	ISO_AUTO_FREE char *named = fake_manifest(
		"x\", \"attempt\": 3, \"command\": [\"true\"], \"purpose\": \"p", LIMITS, "");
	struct iso_client *c = fake_agent_join(&fake_agent);
	struct iso_failure f = {0};
	json_t *reply = NULL;

	(void)state;
	refuse_capture(c, "{}", "true", ISO_CLASS_MANIFEST);
	refuse_capture(c, "", "true", ISO_CLASS_MANIFEST);
	refuse_capture(c, two, "", ISO_CLASS_COMMAND);
	refuse_capture(c, named, "false", ISO_CLASS_COMMAND);
	assert_int_equal(
		iso_client_call(c, "Capture", fake_call_parameters(two, "true"), &reply, &f), 0);
	assert_int_equal(json_integer_value(json_object_get(reply, "attempt")), 2);
	json_decref(reply);
	refuse_capture(c, two, "true", ISO_CLASS_ATTEMPT);
	iso_client_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(every_end_has_its_status_reason_and_class),
		WITH_AGENT(what_is_not_as_it_was_sealed_is_ended),
		WITH_AGENT(output_and_input_are_the_caller_s_ends),
		WITH_AGENT(a_cancel_goes_over_the_launching_connection),
		WITH_AGENT(the_end_of_the_connection_cancels),
		WITH_AGENT(a_stop_ends_every_run_then_the_agent),
		WITH_AGENT(a_refused_capture_uses_no_attempt_up),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
