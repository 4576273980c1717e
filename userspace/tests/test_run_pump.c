/* SPDX-License-Identifier: BSD-2-Clause */
/* The pump: bounds, UTF-8 across borders of reads, readers that go away. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "run/pump.h"

#define UNBOUNDED UINT64_MAX

struct ends {
	struct iso_pump pump;
	int in[3];  /* what the run has: reads 0, writes 1 and 2 */
	int out[3]; /* what the caller has: writes 0, reads 1 and 2 */
	int to[2], from_in;
};

static void make(struct ends *e, uint64_t limit, bool raw)
{
	int from[2], p[2], in_to;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
		from[i] = p[0];
		e->in[i + 1] = p[1];
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
		e->to[i] = p[1];
		e->out[i + 1] = p[0];
		fcntl(p[0], F_SETFL, O_NONBLOCK);
	}
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	e->from_in = p[0];
	e->out[0] = p[1];
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	e->in[0] = p[0];
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	in_to = p[1];
	assert_int_equal(iso_pump_open(&e->pump, from, e->to, e->from_in, in_to, limit, raw), 0);
}

static void drop(struct ends *e)
{
	iso_pump_close(&e->pump);
	for (int i = 0; i < 3; i++) {
		iso_close_fd(&e->in[i]);
		iso_close_fd(&e->out[i]);
	}
	iso_close_fd(&e->to[0]);
	iso_close_fd(&e->to[1]);
	iso_close_fd(&e->from_in);
}

/* Turns until nothing can be done any more. */
static void settle(struct ends *e)
{
	for (int i = 0; i < 10000; i++) {
		struct pollfd polls[ISO_PUMP_POLLS];
		size_t n = iso_pump_poll(&e->pump, polls);

		assert_true(n <= ISO_PUMP_POLLS);
		if (poll(polls, n, 0) <= 0)
			return;
		iso_pump_turn(&e->pump, polls, n);
	}
	fail_msg("the pump spins");
}

static void expect(int fd, const char *text, size_t n)
{
	char got[256];
	ssize_t r = read(fd, got, sizeof got);

	assert_int_equal(r < 0 ? 0 : r, n);
	assert_memory_equal(got, text, n);
}

static void write_text(int fd, const char *text, size_t n)
{
	assert_int_equal(write(fd, text, n), n);
}

static void both_streams_and_the_input_pass(void **state)
{
	struct ends e;

	(void)state;
	make(&e, UNBOUNDED, false);
	write_text(e.in[1], "out", 3);
	write_text(e.in[2], "err", 3);
	write_text(e.out[0], "input", 5);
	settle(&e);
	expect(e.out[1], "out", 3);
	expect(e.out[2], "err", 3);
	expect(e.in[0], "input", 5);
	iso_close_fd(&e.out[0]);
	settle(&e);
	assert_int_equal(e.pump.in_to, -1); /* the end of the input was passed on */
	assert_false(iso_pump_done(&e.pump));
	iso_close_fd(&e.in[1]);
	iso_close_fd(&e.in[2]);
	settle(&e);
	assert_true(iso_pump_done(&e.pump));
	assert_int_equal(e.pump.trouble, ISO_PUMP_FINE);
	drop(&e);
}

static void the_limit_counts_both_streams_to_the_byte(void **state)
{
	struct ends e;

	(void)state;
	make(&e, 5, false);
	write_text(e.in[1], "abc", 3);
	settle(&e);
	write_text(e.in[2], "de", 2);
	settle(&e);
	assert_int_equal(e.pump.trouble, ISO_PUMP_FINE);
	expect(e.out[2], "de", 2);
	write_text(e.in[1], "f", 1);
	settle(&e);
	assert_int_equal(e.pump.trouble, ISO_PUMP_OVER_LIMIT);
	expect(e.out[1], "abc", 3);
	drop(&e);

	make(&e, 5, false);
	write_text(e.in[1], "1234567", 7);
	settle(&e);
	assert_int_equal(e.pump.trouble, ISO_PUMP_OVER_LIMIT);
	expect(e.out[1], "12345", 5);
	/* The rest is read, so that the task is not stuck, and thrown away. */
	write_text(e.in[1], "more", 4);
	iso_close_fd(&e.in[1]);
	iso_close_fd(&e.in[2]);
	settle(&e);
	expect(e.out[1], "", 0);
	assert_true(iso_pump_done(&e.pump));
	drop(&e);
}

static void characters_may_be_cut_anywhere(void **state)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
	struct ends e;
	char got[64];
	size_t used = 0;

	(void)state;
	make(&e, UNBOUNDED, false);
	for (size_t i = 0; i + 1 < sizeof text; i++) {
		ssize_t n;

		write_text(e.in[1], text + i, 1);
		settle(&e);
		n = read(e.out[1], got + used, sizeof got - used);
		used += n > 0 ? (size_t)n : 0;
		assert_true(iso_utf8_valid(got, used));
	}
	iso_close_fd(&e.in[1]);
	settle(&e);
	assert_int_equal(e.pump.trouble, ISO_PUMP_FINE);
	assert_int_equal(used, sizeof text - 1);
	assert_memory_equal(got, text, used);
	drop(&e);
}

static void what_is_no_utf8_is_not_passed_on(void **state)
{
	static const char *const bad[] = {
		"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80",
		"\x80", "\xe2\x82z"};
	struct ends e;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		make(&e, UNBOUNDED, false);
		write_text(e.in[1], "ok", 2);
		write_text(e.in[1], bad[i], strlen(bad[i]));
		settle(&e);
		assert_int_equal(e.pump.trouble, ISO_PUMP_NOT_UTF8);
		expect(e.out[1], "ok", 2);
		write_text(e.in[1], "later", 5);
		settle(&e);
		expect(e.out[1], "", 0);
		drop(&e);

		make(&e, UNBOUNDED, true);
		write_text(e.in[1], bad[i], strlen(bad[i]));
		settle(&e);
		assert_int_equal(e.pump.trouble, ISO_PUMP_FINE);
		expect(e.out[1], bad[i], strlen(bad[i]));
		drop(&e);
	}
}

static void a_character_that_never_ends_is_bad_at_the_end(void **state)
{
	struct ends e;

	(void)state;
	make(&e, UNBOUNDED, false);
	write_text(e.in[1], "x\xe2\x82", 3);
	settle(&e);
	assert_int_equal(e.pump.trouble, ISO_PUMP_FINE);
	iso_close_fd(&e.in[1]);
	settle(&e);
	assert_int_equal(e.pump.trouble, ISO_PUMP_NOT_UTF8);
	expect(e.out[1], "x", 1);
	drop(&e);
}

static void a_reader_that_goes_away_closes_the_run_s_end(void **state)
{
	struct ends e;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	make(&e, UNBOUNDED, false);
	iso_close_fd(&e.out[1]);
	write_text(e.in[1], "x", 1);
	settle(&e);
	assert_int_equal(write(e.in[1], "y", 1), -1);
	assert_int_equal(errno, EPIPE);
	assert_int_equal(e.pump.trouble, ISO_PUMP_FINE);
	drop(&e);
}

static void a_full_disk_is_trouble(void **state)
{
	int from[2], to[2] = {open("/dev/full", O_WRONLY), open("/dev/null", O_WRONLY)}, p[2][2];
	struct ends e = {.in = {-1, -1, -1}, .out = {-1, -1, -1}, .from_in = -1};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe2(p[i], O_CLOEXEC), 0);
		from[i] = p[i][0];
	}
	assert_int_equal(iso_pump_open(&e.pump, from, to, -1, -1, UNBOUNDED, false), 0);
	e.to[0] = to[0];
	e.to[1] = to[1];
	write_text(p[0][1], "x", 1);
	settle(&e);
	assert_int_equal(e.pump.trouble, ISO_PUMP_LOST);
	assert_int_equal(e.pump.error, ENOSPC);
	close(p[0][1]);
	close(p[1][1]);
	settle(&e);
	assert_true(iso_pump_done(&e.pump));
	drop(&e);
}

static void a_stalled_reader_stops_the_reading(void **state)
{
	char block[4096];
	struct ends e;
	size_t written = 0;

	(void)state;
	memset(block, 'x', sizeof block);
	make(&e, UNBOUNDED, false);
	fcntl(e.in[1], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 1000; i++) {
		ssize_t n = write(e.in[1], block, sizeof block);

		if (n < 0)
			break;
		written += (size_t)n;
		settle(&e);
	}
	assert_true(written < (1 << 20)); /* two pipes and a buffer */
	drop(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_streams_and_the_input_pass),
		cmocka_unit_test(the_limit_counts_both_streams_to_the_byte),
		cmocka_unit_test(characters_may_be_cut_anywhere),
		cmocka_unit_test(what_is_no_utf8_is_not_passed_on),
		cmocka_unit_test(a_character_that_never_ends_is_bad_at_the_end),
		cmocka_unit_test(a_reader_that_goes_away_closes_the_run_s_end),
		cmocka_unit_test(a_full_disk_is_trouble),
		cmocka_unit_test(a_stalled_reader_stops_the_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
