/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes from a peer of the agent: framing takes them, and every call that comes out of it is
 * either held to its method's parameters or refused.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "run/idl.h"
#include "run/interfaces.h"
#include "run/varlink.h"

static struct iso_idl *agent(void)
{
	static struct iso_idl *idl;

	if (!idl)
		FUZZ_CHECK(iso_idl_parse(iso_interface_agent, &idl, NULL) == 0);
	return idl;
}

static void judge(json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	const char *dot = method ? strrchr(method, '.') : NULL;
	const struct iso_idl_member *m =
		dot ? iso_idl_find(agent(), ISO_IDL_METHOD, dot + 1) : NULL;
	json_t *parameters = json_object_get(message, "parameters");
	char member[64] = "";

	if (m && parameters && iso_idl_check(agent(), m->in, parameters, member, sizeof member) < 0)
		FUZZ_CHECK(member[0] || json_object_get(parameters, ""));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[60000];
	struct iso_varlink_stream *s = NULL;
	struct iso_fds fds = {.count = 0};
	json_t *message;
	int pair[2], r;

	if (size > sizeof text) /* fits the socket: nobody reads while we write */
		return 0;
	/* Corpora are text: a newline stands for the NUL that ends a message. */
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == '\n' ? '\0' : (char)data[i];
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	FUZZ_CHECK(iso_varlink_stream_new(pair[0], &s) == 0);
	FUZZ_CHECK(send(pair[1], text, size, MSG_NOSIGNAL) == (ssize_t)size);
	while (iso_varlink_stream_read(s) == 1) {
		while ((r = iso_varlink_stream_next(s, &message, &fds)) == 1) {
			FUZZ_CHECK(fds.count == 0);
			judge(message);
			json_decref(message);
		}
		if (r < 0)
			break;
	}
	close(pair[1]);
	iso_varlink_stream_free(s);
	return 0;
}
