/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/read.h"
#include "test_event_samples.h"

struct fixture {
	char directory[64];
	struct iso_reader *reader;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	snprintf(f->directory, sizeof f->directory, "/tmp/iso-test-read-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	iso_reader_close(f->reader);
	assert_int_equal(sample_remove(f->directory), 0);
	free(f);
	return 0;
}

static void append(const struct fixture *f, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", f->directory, name);
	file = fopen(path, "a");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void move(const struct fixture *f, const char *from, const char *to)
{
	char a[128], b[128];

	snprintf(a, sizeof a, "%s/%s", f->directory, from);
	snprintf(b, sizeof b, "%s/%s", f->directory, to);
	assert_int_equal(rename(a, b), 0);
}

static void open_reader(struct fixture *f, bool follow)
{
	struct iso_error e = {0};

	if (iso_reader_open(f->directory, NULL, follow, &f->reader, &e) < 0)
		fail_msg("%s", e.message);
}

static void expect(struct fixture *f, const char *text)
{
	const char *line;
	size_t n;

	assert_int_equal(iso_reader_next(f->reader, &line, &n), 1);
	assert_int_equal(n, strlen(text));
	assert_memory_equal(line, text, n);
}

static void expect_end(struct fixture *f)
{
	const char *line;
	size_t n;

	assert_int_equal(iso_reader_next(f->reader, &line, &n), 0);
}

static void the_oldest_file_comes_first(void **state)
{
	struct fixture *f = *state;

	append(f, "events.ndjson", "5\n6\n");
	append(f, "events.ndjson.1", "3\n4\n");
	append(f, "events.ndjson.2", "1\n2\n");
	open_reader(f, false);
	for (const char *n = "123456"; *n; n++)
		expect(f, (char[2]){*n, '\0'});
	expect_end(f);
}

static void following_goes_on_across_rotation(void **state)
{
	struct fixture *f = *state;

	open_reader(f, true);
	expect_end(f);
	append(f, "events.ndjson", "1\n");
	assert_int_equal(iso_reader_wait(f->reader, 1000), 0);
	expect(f, "1");
	append(f, "events.ndjson", "2\nhal");
	expect(f, "2");
	expect_end(f); /* half a line is not handed out */
	append(f, "events.ndjson", "f\n");
	expect(f, "half");
	append(f, "events.ndjson", "3\n"); /* written, and rotated twice before we look */
	move(f, "events.ndjson", "events.ndjson.1");
	append(f, "events.ndjson", "4\n");
	move(f, "events.ndjson.1", "events.ndjson.2");
	move(f, "events.ndjson", "events.ndjson.1");
	append(f, "events.ndjson", "5\n");
	expect(f, "3");
	expect(f, "4");
	expect(f, "5");
	expect_end(f);
}

static void a_line_without_end_is_handed_out_in_pieces(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(ISO_LINE_MAX * 2 + 3);
	const char *line;
	size_t n;

	memset(text, 'x', ISO_LINE_MAX * 2 + 2);
	text[ISO_LINE_MAX * 2] = '\n';
	text[ISO_LINE_MAX * 2 + 1] = '\0';
	append(f, "events.ndjson", text);
	append(f, "events.ndjson", "after\n");
	open_reader(f, false);
	assert_int_equal(iso_reader_next(f->reader, &line, &n), 1);
	assert_true(n >= ISO_LINE_MAX && n <= 2 * ISO_LINE_MAX);
	while (iso_reader_next(f->reader, &line, &n) == 1 && memcmp(line, "after", 5))
		;
	assert_int_equal(n, 5);
	free(text);
}

static void what_cannot_be_read_has_a_remedy(void **state)
{
	struct fixture *f = *state;
	struct iso_error e = {0};
	char path[128];

	assert_int_equal(iso_reader_open(f->directory, NULL, false, &f->reader, &e), -ENOENT);
	assert_true(e.message[0] && e.remedy[0]);
	snprintf(path, sizeof path, "%s/none", f->directory);
	assert_int_equal(iso_reader_open(path, NULL, true, &f->reader, &e), -ENOENT);
	assert_int_equal(iso_reader_open(NULL, path, false, &f->reader, &e), -ENOENT);
	assert_null(f->reader);
}

static void a_single_file_has_a_rest(void **state)
{
	struct fixture *f = *state;
	char path[128];
	const char *line;
	size_t n;

	append(f, "one", "1\ntorn");
	snprintf(path, sizeof path, "%s/one", f->directory);
	assert_int_equal(iso_reader_open(NULL, path, false, &f->reader, NULL), 0);
	expect(f, "1");
	expect_end(f);
	assert_int_equal(iso_reader_rest(f->reader, &line, &n), 1);
	assert_int_equal(n, 4);
	assert_int_equal(iso_reader_rest(f->reader, &line, &n), 0);
}

#define READ_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READ_TEST(the_oldest_file_comes_first),
		READ_TEST(following_goes_on_across_rotation),
		READ_TEST(a_line_without_end_is_handed_out_in_pieces),
		READ_TEST(what_cannot_be_read_has_a_remedy),
		READ_TEST(a_single_file_has_a_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
