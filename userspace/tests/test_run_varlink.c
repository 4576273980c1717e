/* SPDX-License-Identifier: BSD-2-Clause */
/* Framing and interface descriptions: what a hostile peer can send, and what it cannot reach. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "run/idl.h"
#include "run/interfaces.h"
#include "run/varlink.h"

static size_t open_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* One end as a stream, the other as a plain socket. */
static struct iso_varlink_stream *open_pair(int *ret_peer)
{
	struct iso_varlink_stream *s = NULL;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(iso_varlink_stream_new(pair[0], &s), 0);
	*ret_peer = pair[1];
	return s;
}

static void send_bytes(int fd, const void *data, size_t n)
{
	assert_int_equal(send(fd, data, n, MSG_NOSIGNAL), n);
}

static ssize_t send_fds(int fd, const void *data, size_t n, const int *fds, size_t count)
{
	char control[CMSG_SPACE(ISO_VARLINK_FDS_MAX * sizeof(int))] = {0};
	struct iovec v = {(void *)data, n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control};
	struct cmsghdr *c = (struct cmsghdr *)control;

	m.msg_controllen = CMSG_SPACE(count * sizeof(int));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

static void messages_come_in_any_pieces(void **state)
{
	static const char text[] = "{\"a\":1}\0{\"b\":[2]}";
	struct iso_fds fds = {.count = 0};
	size_t found = 0;
	json_t *message;
	int peer, r;
	struct iso_varlink_stream *s = open_pair(&peer);

	(void)state;
	for (size_t i = 0; i < sizeof text; i++) {
		send_bytes(peer, text + i, 1);
		assert_int_equal(iso_varlink_stream_read(s), 1);
		while ((r = iso_varlink_stream_next(s, &message, &fds)) == 1) {
			assert_true(json_object_get(message, found ? "b" : "a"));
			json_decref(message);
			found++;
		}
		assert_int_equal(r, 0);
	}
	assert_int_equal(found, 2);
	assert_int_equal(iso_varlink_stream_read(s), -EAGAIN);
	close(peer);
	assert_int_equal(iso_varlink_stream_read(s), 0);
	iso_varlink_stream_free(s);
}

static void descriptors_come_with_their_message(void **state)
{
	size_t before = open_descriptors();
	struct iso_fds fds = {.count = 0};
	json_t *message = json_pack("{s:i}", "fd", 0), *got;
	struct iso_varlink_stream *out = NULL;
	int peer, p[2];
	struct iso_varlink_stream *in = open_pair(&peer);

	(void)state;
	assert_int_equal(iso_varlink_stream_new(peer, &out), 0);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(iso_varlink_stream_queue(out, message, p, 2), 0);
	assert_int_equal(iso_varlink_stream_flush(out), 0);
	assert_int_equal(fcntl(p[0], F_GETFD), -1); /* they were handed on */
	assert_int_equal(iso_varlink_stream_read(in), 1);
	assert_int_equal(iso_varlink_stream_next(in, &got, &fds), 1);
	assert_int_equal(fds.count, 2);
	assert_int_equal(fcntl(fds.fds[0], F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fds.fds[1], "x", 1), 1);
	iso_fds_close(&fds);
	json_decref(got);
	json_decref(message);
	iso_varlink_stream_free(in);
	iso_varlink_stream_free(out);
	assert_int_equal(open_descriptors(), before);
}

/* Which message would they belong to? */
static void descriptors_amid_messages_are_refused(void **state)
{
	static const char two[] = "{}\0{}";
	size_t before = open_descriptors();
	struct iso_fds fds = {.count = 0};
	int peer, null = open("/dev/null", O_RDONLY);
	json_t *message;
	struct iso_varlink_stream *s = open_pair(&peer);

	(void)state;
	assert_int_equal(send_fds(peer, two, sizeof two, &null, 1), sizeof two);
	assert_int_equal(iso_varlink_stream_read(s), 1);
	assert_int_equal(iso_varlink_stream_next(s, &message, &fds), -EPROTO);
	iso_varlink_stream_free(s);
	close(peer);

	s = open_pair(&peer);
	send_bytes(peer, "{}", 3);
	assert_int_equal(iso_varlink_stream_read(s), 1);
	assert_int_equal(send_fds(peer, "{}", 3, &null, 1), 3);
	assert_int_equal(iso_varlink_stream_read(s), -EPROTO);
	iso_varlink_stream_free(s);
	close(peer);
	close(null);
	assert_int_equal(open_descriptors(), before);
}

static void too_many_descriptors_are_refused_and_closed(void **state)
{
	size_t before = open_descriptors();
	int fds[200], peer, null = open("/dev/null", O_RDONLY);
	struct iso_varlink_stream *s = open_pair(&peer);

	(void)state;
	for (size_t i = 0; i < 200; i++)
		fds[i] = null;
	assert_int_equal(send_fds(peer, "{", 1, fds, 200), 1);
	assert_int_equal(iso_varlink_stream_read(s), 1);
	assert_int_equal(send_fds(peer, "}", 1, fds, 200), 1);
	assert_int_equal(iso_varlink_stream_read(s), -EPROTO);
	iso_varlink_stream_free(s);
	close(peer);
	close(null);
	assert_int_equal(open_descriptors(), before);
}

static void oversized_messages_are_refused(void **state)
{
	ISO_AUTO_FREE char *chunk = malloc(64 << 10);
	int peer, r = 1;
	struct iso_varlink_stream *s = open_pair(&peer);
	size_t sent = 0;

	(void)state;
	memset(chunk, ' ', 64 << 10);
	fcntl(peer, F_SETFL, O_NONBLOCK);
	while (r == 1 && sent < 2 * ISO_VARLINK_MESSAGE_MAX) {
		ssize_t n = send(peer, chunk, 64 << 10, MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		r = iso_varlink_stream_read(s);
	}
	assert_int_equal(r, -EMSGSIZE);
	assert_true(sent <= ISO_VARLINK_MESSAGE_MAX + (256 << 10));
	close(peer);
	iso_varlink_stream_free(s);
}

static void a_slow_reader_holds_a_bounded_queue(void **state)
{
	ISO_AUTO_FREE char *text = calloc(1, (1 << 20) + 1);
	json_t *message;
	size_t queued = 0;
	int peer, r;
	struct iso_varlink_stream *s = open_pair(&peer);

	(void)state;
	memset(text, 'x', 1 << 20);
	message = json_pack("{s:s}", "t", text);
	while ((r = iso_varlink_stream_queue(s, message, NULL, 0)) == 0) {
		assert_in_range(iso_varlink_stream_flush(s), 0, 1);
		assert_true(++queued < 32);
	}
	assert_int_equal(r, -ENOBUFS);
	json_decref(message);
	close(peer);
	iso_varlink_stream_free(s);
}

static void what_is_no_object_is_refused(void **state)
{
	static const char *const bad[] = {
		"[]",	 "1", "", "{", "{}{}", "{\"a\":1,\"a\":2}", "null", "{\"a\":\"\xff\"}",
		"\"{}\""};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct iso_fds fds = {.count = 0};
		json_t *message;
		int peer;
		struct iso_varlink_stream *s = open_pair(&peer);

		send_bytes(peer, bad[i], strlen(bad[i]) + 1);
		assert_int_equal(iso_varlink_stream_read(s), 1);
		assert_int_equal(iso_varlink_stream_next(s, &message, &fds), -EBADMSG);
		close(peer);
		iso_varlink_stream_free(s);
	}
}

/* A fixed generator: the same bytes on every machine. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void mutate(char *data, size_t n, uint32_t *random)
{
	for (unsigned k = next_random(random) % 4; k; k--)
		data[next_random(random) % n] = (char)next_random(random);
}

static void mutated_calls_never_crash_and_never_leak(void **state)
{
	static const char seed[] =
		"{\"method\":\"io.isoctl.Agent.Launch\",\"more\":true,\"parameters\":"
		"{\"run\":\"a-1-abcdef\",\"host_fds\":[0,1],\"input_fds\":[2]}}";
	size_t before = open_descriptors();
	struct iso_idl *idl = NULL;
	const struct iso_idl_member *method;
	uint32_t random = 20261130;
	char member[64];

	(void)state;
	assert_int_equal(iso_idl_parse(iso_interface_agent, &idl, NULL), 0);
	method = iso_idl_find(idl, ISO_IDL_METHOD, "Launch");
	for (int i = 0; i < 20000; i++) {
		struct iso_fds fds = {.count = 0};
		char data[sizeof seed];
		json_t *message = NULL;
		int peer;
		struct iso_varlink_stream *s = open_pair(&peer);

		memcpy(data, seed, sizeof seed);
		mutate(data, sizeof data, &random);
		send_bytes(peer, data, sizeof data);
		if (iso_varlink_stream_read(s) == 1 &&
		    iso_varlink_stream_next(s, &message, &fds) == 1) {
			json_t *parameters = json_object_get(message, "parameters");

			if (parameters)
				iso_idl_check(idl, method->in, parameters, member, sizeof member);
			json_decref(message);
		}
		iso_fds_close(&fds);
		close(peer);
		iso_varlink_stream_free(s);
	}
	iso_idl_free(idl);
	assert_int_equal(open_descriptors(), before);
}

/* ------------------------------------------------------------------------------ descriptions */

static void check(const struct iso_idl *idl, const char *method, const char *parameters,
		  const char *offender)
{
	const struct iso_idl_member *m = iso_idl_find(idl, ISO_IDL_METHOD, method);
	json_t *value = json_loads(parameters, 0, NULL);
	char member[64] = "";
	int r;

	assert_non_null(m);
	assert_non_null(value);
	r = iso_idl_check(idl, m->in, value, member, sizeof member);
	json_decref(value);
	assert_int_equal(r, offender ? -EINVAL : 0);
	assert_string_equal(member, offender ? offender : "");
}

static void parameters_are_held_to_the_description(void **state)
{
	struct iso_idl *idl = NULL;

	(void)state;
	assert_int_equal(iso_idl_parse(iso_interface_agent, &idl, NULL), 0);
	assert_string_equal(iso_idl_name(idl), ISO_AGENT);
	check(idl, "Cancel", "{\"run\":\"r\",\"reason\":\"cancelled\"}", NULL);
	check(idl, "Cancel", "{\"run\":\"r\",\"reason\":\"cancelled\",\"kill\":true}", NULL);
	check(idl, "Cancel", "{\"run\":\"r\",\"reason\":\"deadline\"}", "reason");
	check(idl, "Cancel", "{\"run\":1,\"reason\":\"cancelled\"}", "run");
	check(idl, "Cancel", "{\"run\":\"r\"}", "reason");
	check(idl, "Cancel", "{\"run\":\"r\",\"reason\":\"cancelled\",\"Kill\":true}", "Kill");
	check(idl, "Launch", "{\"run\":\"r\",\"host_fds\":[0],\"input_fds\":[]}", NULL);
	check(idl, "Launch", "{\"run\":\"r\",\"host_fds\":[0.5],\"input_fds\":[]}", "host_fds");
	check(idl, "Launch", "{\"run\":\"r\",\"host_fds\":{},\"input_fds\":[]}", "host_fds");
	check(idl, "Capture", "{\"manifest\":\"\",\"command\":[],\"environment\":{\"A\":\"b\"}}",
	      NULL);
	check(idl, "Capture", "{\"manifest\":\"\",\"command\":[],\"environment\":{\"A\":1}}",
	      "environment");
	check(idl, "List", "{}", NULL);
	check(idl, "List", "{\"all\":true}", "all");
	iso_idl_free(idl);
}

static void malformed_descriptions_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} bad[] = {
		{"", 1},
		{"interface", 1},
		{"interface a.b\nmethod M(a int) -> ()", 2},
		{"interface a.b\n\nmethod M() -> ?()", 3},
		{"interface a.b\nmethod M(a: Missing) -> ()", 2},
		{"interface a.b\ntype T (a: int, b)", 2},
		{"interface a.b\nmethod M() -> () x", 2},
		{"interface a.b\nmethod M(a: []", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct iso_idl *idl = NULL;
		unsigned line = 0;

		assert_int_equal(iso_idl_parse(bad[i].text, &idl, &line), -EBADMSG);
		assert_int_equal(line, bad[i].line);
		assert_null(idl);
	}
}

static void every_description_is_well_formed(void **state)
{
	const char *const texts[] = {iso_interface_agent, iso_interface_service};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct iso_idl *idl = NULL;
		unsigned line = 0;
		size_t count;

		assert_int_equal(iso_idl_parse(texts[i], &idl, &line), 0);
		assert_non_null(iso_idl_members(idl, &count));
		assert_true(count > 5);
		iso_idl_free(idl);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_come_in_any_pieces),
		cmocka_unit_test(descriptors_come_with_their_message),
		cmocka_unit_test(descriptors_amid_messages_are_refused),
		cmocka_unit_test(too_many_descriptors_are_refused_and_closed),
		cmocka_unit_test(oversized_messages_are_refused),
		cmocka_unit_test(a_slow_reader_holds_a_bounded_queue),
		cmocka_unit_test(what_is_no_object_is_refused),
		cmocka_unit_test(mutated_calls_never_crash_and_never_leak),
		cmocka_unit_test(parameters_are_held_to_the_description),
		cmocka_unit_test(malformed_descriptions_are_refused_with_their_line),
		cmocka_unit_test(every_description_is_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
