/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent takes from its socket, and what it makes of the rest (fake_host.h). */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fake_call.h"

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
	ISO_AUTO_CLOSE int fd = fake_call_connect(&fake_agent);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(fake_call_ask(fd, rows[i].call), rows[i].error);
}

static void launches_need_their_descriptors_exactly(void **state)
{
	static const char *const bad[] = {"[0]", "[0,0]", "[1]", "[-1]", "[0,1]"};
	struct iso_client *c = fake_agent_join(&fake_agent);
	ISO_AUTO_FREE char *run = fake_call_capture(c, "t", "true", "");
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
	fake_call_launch(c, run);
	fake_call_await(c, "settled", &reply);
	fake_call_result(json_object_get(reply.parameters, "result"), 0, NULL, NULL);
	iso_client_reply_clear(&reply);
	iso_client_free(c);
}

static void hostile_peers_are_dropped_and_others_served(void **state)
{
	static const char half[] = "{\"method\":\"io.isoctl";
	ISO_AUTO_FREE char *blob = malloc(1 << 20);
	int fds[ISO_CONNECTIONS_PER_USER + 8];
	int fd = fake_call_connect(&fake_agent), other;
	bool dropped = false;

	(void)state;
	memset(blob, 'x', 1 << 20);
	assert_string_equal(fake_call_ask(fd, "[]"), "closed");
	close(fd);
	fd = fake_call_connect(&fake_agent);
	/* the send that it is dropped in may still have sent a part */
	for (int i = 0; i < 16 && !dropped; i++)
		dropped = send(fd, blob, 1 << 20, MSG_NOSIGNAL) < 0;
	assert_true(dropped);
	close(fd);
	/* One that never finishes its message, one that never reads: others do not wait. */
	fd = fake_call_connect(&fake_agent);
	assert_int_equal(send(fd, half, sizeof half - 1, MSG_NOSIGNAL), sizeof half - 1);
	other = fake_call_connect(&fake_agent);
	fcntl(other, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 20000; i++)
		if (send(other, "{\"method\":\"org.varlink.service.GetInfo\"}", 41, MSG_NOSIGNAL) <
		    0)
			break;
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		fds[i] = fake_call_connect(&fake_agent);
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		close(fds[i]);
	close(other);
	{
		ISO_AUTO_CLOSE int good = fake_call_connect(&fake_agent);

		assert_string_equal(fake_call_ask(good, "{\"method\":\"io.isoctl.Agent.List\"}"),
				    "");
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(calls_are_held_to_the_interface),
		WITH_AGENT(launches_need_their_descriptors_exactly),
		WITH_AGENT(hostile_peers_are_dropped_and_others_served),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
