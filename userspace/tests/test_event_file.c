/* SPDX-License-Identifier: BSD-2-Clause */
/* The file sink when the disk, the directory or another writer is in the way. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "event/read.h"
#include "event/verify.h"
#include "test_event_samples.h"

struct fixture {
	char directory[64];
	struct iso_stream *stream;
	struct iso_run_summary summary;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	snprintf(f->directory, sizeof f->directory, "/tmp/iso-test-file-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	iso_stream_free(f->stream);
	iso_run_summary_free(&f->summary);
	assert_int_equal(sample_remove(f->directory), 0);
	free(f);
	return 0;
}

static void open_stream(struct fixture *f, struct iso_stream_options o)
{
	struct iso_error e = {0};

	o.directory = f->directory;
	if (iso_stream_new(&o, &f->stream, &e) < 0)
		fail_msg("%s", e.message);
	assert_int_equal(iso_stream_add_run(f->stream, &sample_run), 0);
}

/* Limits carry no object, always pass and never collapse: one line each. */
static void emit(struct fixture *f, size_t n)
{
	struct iso_record r = sample_record(ISO_RECORD_LIMIT);

	while (n--)
		assert_int_equal(iso_stream_emit(f->stream, &r), 0);
}

/* Distinct refusals: no reserve of the queue is theirs. */
static void emit_ordinary(struct fixture *f, size_t n)
{
	struct iso_record r = sample_record(ISO_RECORD_FILE);

	r.kernel_sequence = 0;
	for (size_t i = 0; i < n; i++) {
		snprintf(r.path, sizeof r.path, "/%zu", i);
		assert_int_equal(iso_stream_emit(f->stream, &r), 0);
	}
}

static void end(struct fixture *f)
{
	iso_run_summary_free(&f->summary);
	assert_int_equal(iso_stream_end_run(f->stream, SAMPLE_SANDBOX, NULL, &f->summary), 0);
}

/* Reads all files, checks that the chains are whole, returns how many records there are. */
static size_t read_back(struct fixture *f, bool whole)
{
	struct iso_verify *v = NULL;
	struct iso_reader *r = NULL;
	struct iso_error e = {0};
	const char *line;
	size_t n, count = 0;
	int more;

	assert_int_equal(iso_verify_new(&v), 0);
	assert_int_equal(iso_reader_open(f->directory, NULL, false, &r, &e), 0);
	while ((more = iso_reader_next(r, &line, &n)) > 0)
		assert_int_equal(iso_verify_line(v, "f", ++count, line, n), 0);
	assert_int_equal(more, 0);
	for (const struct iso_verified *run = iso_verify_finish(v); whole && run; run = run->next)
		assert_int_equal(run->fault, ISO_FAULT_NONE);
	iso_reader_close(r);
	iso_verify_free(v);
	return count;
}

static void the_file_is_for_root_and_its_group(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	char path[128];

	open_stream(f, (struct iso_stream_options){0});
	snprintf(path, sizeof path, "%s/events.ndjson", f->directory);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void rotation_keeps_every_line_whole_and_in_order(void **state)
{
	struct fixture *f = *state;
	struct iso_stream_counters c;

	open_stream(f, (struct iso_stream_options){.rotate_bytes = 8192, .rotate_keep = 200});
	for (int i = 0; i < 20; i++) {
		emit(f, 20);
		iso_stream_flush(f->stream);
	}
	end(f);
	assert_int_equal(read_back(f, true), 401);
	iso_stream_counters(f->stream, &c);
	assert_true(c.rotations > 20);
	assert_int_equal(c.written, 401);
}

static void only_so_many_rotated_files_stay(void **state)
{
	struct fixture *f = *state;
	char path[128];

	open_stream(f, (struct iso_stream_options){.rotate_bytes = 4096, .rotate_keep = 2});
	for (int i = 0; i < 30; i++) {
		emit(f, 3);
		iso_stream_flush(f->stream);
	}
	snprintf(path, sizeof path, "%s/events.ndjson.2", f->directory);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof path, "%s/events.ndjson.3", f->directory);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_torn_tail_is_cut_off(void **state)
{
	struct fixture *f = *state;
	char path[128];
	FILE *file;

	open_stream(f, (struct iso_stream_options){0});
	emit(f, 2);
	end(f);
	iso_stream_free(f->stream);
	snprintf(path, sizeof path, "%s/events.ndjson", f->directory);
	file = fopen(path, "a");
	fputs("{\"class_uid\":", file);
	fclose(file);
	open_stream(f, (struct iso_stream_options){0});
	assert_int_equal(read_back(f, true), 3);
}

static void limit_file_size(rlim_t n)
{
	struct rlimit limit = {n, RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A disk that takes half a line and then nothing: what is there stays whole, the rest waits. */
static void a_full_disk_leaves_whole_lines_and_is_made_up_for(void **state)
{
	struct fixture *f = *state;
	struct iso_stream_counters c;
	size_t before;

	open_stream(f, (struct iso_stream_options){0});
	emit(f, 3);
	iso_stream_flush(f->stream);
	limit_file_size(5000);
	emit(f, 10);
	iso_stream_flush(f->stream);
	iso_stream_flush(f->stream);
	iso_stream_counters(f->stream, &c);
	before = read_back(f, true);
	limit_file_size(RLIM_INFINITY);
	assert_true(c.write_failures >= 2);
	assert_true(c.last_error < 0);
	assert_in_range(before, 3, 12);
	iso_stream_tick(f->stream);
	assert_int_equal(read_back(f, true), 13);
	iso_stream_counters(f->stream, &c);
	assert_int_equal(c.last_error, 0);
	end(f);
	assert_int_equal(f->summary.lost, 0);
}

static void a_full_queue_loses_with_a_count(void **state)
{
	struct fixture *f = *state;

	open_stream(f, (struct iso_stream_options){.queue_bytes = 64 * 1024});
	limit_file_size(1);
	emit_ordinary(f, 150);
	limit_file_size(RLIM_INFINITY);
	iso_stream_flush(f->stream);
	end(f);
	assert_in_range(f->summary.lost, 20, 140);
	assert_true(f->summary.gaps >= 1);
	assert_int_equal(f->summary.happened[ISO_RECORD_FILE], 150);
	assert_int_equal(f->summary.lost + f->summary.records,
			 150 + 1 /* unsealed */ + f->summary.gaps);
	assert_int_equal(f->summary.unwritten, 0);
	assert_int_equal(read_back(f, true), f->summary.records);
}

static void what_was_not_written_is_said(void **state)
{
	struct fixture *f = *state;

	open_stream(f, (struct iso_stream_options){0});
	limit_file_size(1);
	emit(f, 5);
	end(f);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(f->summary.unwritten, 6);
}

static void a_directory_that_goes_is_made_again(void **state)
{
	struct fixture *f = *state;

	open_stream(f, (struct iso_stream_options){0});
	emit(f, 1);
	iso_stream_flush(f->stream);
	assert_int_equal(sample_remove(f->directory), 0);
	emit(f, 1);
	iso_stream_flush(f->stream);
	assert_int_equal(read_back(f, false), 1);
}

static void a_held_lock_only_delays(void **state)
{
	struct fixture *f = *state;
	struct iso_stream_counters c;
	char path[128];
	FILE *lock;

	open_stream(f, (struct iso_stream_options){0});
	snprintf(path, sizeof path, "%s/.lock", f->directory);
	lock = fopen(path, "r+");
	assert_int_equal(flock(fileno(lock), LOCK_EX), 0);
	emit(f, 1);
	iso_stream_flush(f->stream);
	assert_int_equal(read_back(f, true), 0);
	assert_in_range(iso_stream_tick(f->stream), 1, 100);
	fclose(lock);
	iso_stream_tick(f->stream);
	assert_int_equal(read_back(f, true), 1);
	iso_stream_counters(f->stream, &c);
	assert_int_equal(c.write_failures, 0);
}

/* Several daemons on one directory, each with a run of its own, rotating under each other. */
static void many_writers_share_a_directory(void **state)
{
	struct fixture *f = *state;
	pid_t pids[4];
	int status;

	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct iso_stream_options o = {.directory = f->directory,
						       .rotate_bytes = 16384,
						       .rotate_keep = 500};
			struct iso_run_context ctx = sample_run;
			struct iso_record r = sample_record(ISO_RECORD_LIMIT);
			struct iso_run_summary summary;
			struct iso_stream *s = NULL;
			char id[16];

			snprintf(id, sizeof id, "run-%d", i);
			ctx.run_id = id;
			if (iso_stream_new(&o, &s, NULL) < 0 || iso_stream_add_run(s, &ctx) < 0)
				_exit(1);
			for (int n = 0; n < 200; n++) {
				iso_stream_emit(s, &r);
				iso_stream_flush(s);
			}
			if (iso_stream_end_run(s, SAMPLE_SANDBOX, NULL, &summary) < 0)
				_exit(2);
			iso_run_summary_free(&summary);
			iso_stream_free(s);
			_exit(0);
		}
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(read_back(f, true), 4 * 201);
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
	struct iso_stream_options o = {.directory = "/proc/isoctl"};
	struct iso_stream *s = NULL;
	struct iso_error e = {0};

	(void)state;
	assert_true(iso_stream_new(&o, &s, &e) < 0);
	assert_null(s);
	assert_non_null(strstr(e.message, "/proc/isoctl/events.ndjson"));
	assert_true(e.remedy[0]);
}

static void a_link_in_place_of_the_file_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct iso_stream_options o = {.directory = f->directory};
	char path[128];

	snprintf(path, sizeof path, "%s/events.ndjson", f->directory);
	assert_int_equal(symlink("/tmp/elsewhere", path), 0);
	assert_int_equal(iso_stream_new(&o, &f->stream, NULL), -ELOOP);
}

#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(the_file_is_for_root_and_its_group),
		FILE_TEST(rotation_keeps_every_line_whole_and_in_order),
		FILE_TEST(only_so_many_rotated_files_stay),
		FILE_TEST(a_torn_tail_is_cut_off),
		FILE_TEST(a_full_disk_leaves_whole_lines_and_is_made_up_for),
		FILE_TEST(a_full_queue_loses_with_a_count),
		FILE_TEST(what_was_not_written_is_said),
		FILE_TEST(a_directory_that_goes_is_made_again),
		FILE_TEST(a_held_lock_only_delays),
		FILE_TEST(many_writers_share_a_directory),
		FILE_TEST(a_place_that_cannot_be_written_is_named),
		FILE_TEST(a_link_in_place_of_the_file_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
