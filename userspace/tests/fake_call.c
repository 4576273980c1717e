/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"

struct fake_agent fake_agent;

int fake_call_begin(void **state)
{
	(void)state;
	fake_agent_start(&fake_agent, FAKE_MEMBERS);
	return 0;
}

int fake_call_finish(void **state)
{
	(void)state;
	return fake_agent_end(&fake_agent);
}

json_t *fake_call_parameters(const char *manifest, const char *command)
{
	return json_pack("{s:s, s:[s], s:{}}", "manifest", manifest, "command", command,
			 "environment");
}

char *fake_call_capture(struct iso_client *c, const char *task, const char *command,
			const char *more)
{
	ISO_AUTO_FREE char *manifest = fake_manifest(task, LIMITS, more);
	struct iso_failure f = {0};
	json_t *reply = NULL;
	char *run;

	if (iso_client_call(c, "Capture", fake_call_parameters(manifest, command), &reply, &f) < 0)
		fail_msg("%s: %s", f.error.step, f.error.message);
	run = strdup(json_string_value(json_object_get(reply, "run")));
	assert_int_equal(json_string_length(json_object_get(reply, "manifest_sha256")), 64);
	json_decref(reply);
	return run;
}

void fake_call_launch(struct iso_client *c, const char *run)
{
	struct iso_failure f = {0};

	assert_int_equal(
		iso_client_send(c, "Launch",
				json_pack("{s:s, s:[], s:[]}", "run", run, "host_fds", "input_fds"),
				ISO_CALL_MORE, NULL, 0, &f),
		0);
}

void fake_call_await(struct iso_client *c, const char *state, struct iso_client_reply *ret)
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

void fake_call_result(json_t *result, int status, const char *stop, const char *class)
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

int fake_call_connect(const struct fake_agent *a)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval patience = {.tv_sec = 10};

	strcpy(address.sun_path, a->socket);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

const char *fake_call_ask(int fd, const char *text)
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
