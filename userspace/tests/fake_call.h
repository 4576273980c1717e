/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of the agent ask of it as callers do; each fails the test when it does not come. */
#ifndef ISO_TESTS_FAKE_CALL_H
#define ISO_TESTS_FAKE_CALL_H

#include <jansson.h>

#include "fake_host.h"
#include "run/client.h"

#define LIMITS "\"wall_time\": \"1m\", \"log_bytes\": \"1MiB\", \"stop_grace\": \"1s\""

/* A test with an agent of its own, into whose group whoever has FAKE_MEMBERS belongs. */
#define FAKE_MEMBERS	 4242
#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, fake_call_begin, fake_call_finish)

extern struct fake_agent fake_agent;

int fake_call_begin(void **state);
int fake_call_finish(void **state);

json_t *fake_call_parameters(const char *manifest, const char *command);
/* The run id, which the caller frees. */
char *fake_call_capture(struct iso_client *c, const char *task, const char *command,
			const char *more);
void fake_call_launch(struct iso_client *c, const char *run);
/* Takes replies until one has that state; *ret is that reply. */
void fake_call_await(struct iso_client *c, const char *state, struct iso_client_reply *ret);
/* stop, class: NULL for none. */
void fake_call_result(json_t *result, int status, const char *stop, const char *class);

/* A bare connection, the caller's to close. */
int fake_call_connect(const struct fake_agent *a);
/* Sends one call as text; returns the answer's error, or "", or "closed". */
const char *fake_call_ask(int fd, const char *text);

#endif
