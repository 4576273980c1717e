/* SPDX-License-Identifier: BSD-2-Clause */
/* Attempts are captured once; a torn write loses nothing that was answered. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "run/attempts.h"
#include "run/ids.h"

#define SHA256 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct place {
	char path[64];
	int fd;
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof *p);

	strcpy(p->path, "/tmp/isoctl-attempts-XXXXXX");
	assert_non_null(mkdtemp(p->path));
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->fd >= 0);
	*state = p;
	return 0;
}

static int drop_place(void **state)
{
	struct place *p = *state;

	unlinkat(p->fd, ISO_ATTEMPTS_FILE, 0);
	unlinkat(p->fd, "next-id", 0);
	close(p->fd);
	rmdir(p->path);
	free(p);
	return 0;
}

static int take(struct place *p, const char *task, uint32_t attempt, uint32_t *ret,
		struct iso_failure *f)
{
	struct iso_attempt a = {.task = task,
				.attempt = attempt,
				.time_ms = 1764500000000,
				.manifest_sha256 = SHA256,
				.uid = 1000};

	return iso_attempts_capture(p->fd, &a, ret, f);
}

static void append(struct place *p, const char *text, size_t n)
{
	ISO_AUTO_CLOSE int fd = openat(p->fd, ISO_ATTEMPTS_FILE, O_WRONLY | O_APPEND);

	assert_true(fd >= 0);
	assert_int_equal(iso_write_all(fd, text, n), 0);
}

static void an_attempt_is_taken_once(void **state)
{
	struct place *p = *state;
	struct iso_failure f = {0};
	uint32_t n = 0;

	assert_int_equal(take(p, "a", 5, &n, &f), 0);
	assert_int_equal(n, 5);
	assert_int_equal(take(p, "a", 5, &n, &f), -EEXIST);
	assert_int_equal(f.class, ISO_CLASS_ATTEMPT);
	assert_false(f.error.retryable);
	assert_int_equal(take(p, "b", 5, &n, &f), 0);
	assert_int_equal(take(p, "a", 0, &n, &f), 0);
	assert_int_equal(n, 6);
	assert_int_equal(take(p, "c", 0, &n, &f), 0);
	assert_int_equal(n, 1);
	assert_int_equal(take(p, "a", 3, &n, &f), 0); /* a number left out is still free */
	assert_int_equal(take(p, "a", UINT32_MAX, &n, &f), 0);
	assert_int_equal(take(p, "a", 0, &n, &f), -EOVERFLOW);
}

/* Every prefix of a line can be what a writer that died has left. */
static void every_torn_line_is_cut_off(void **state)
{
	static const char line[] = "1 a 700 1764500000000 " SHA256 " 1000 end";
	struct place *p = *state;
	struct iso_failure f = {0};
	uint32_t n = 0;

	for (size_t i = 1; i <= strlen(line); i++) {
		assert_int_equal(take(p, "a", 0, &n, &f), 0);
		append(p, line, i);
	}
	/* None of the torn ones counts. */
	assert_int_equal(n, strlen(line));
	assert_int_equal(take(p, "a", 700, &n, &f), 0);
}

static void pages_of_nothing_are_cut_off_too(void **state)
{
	struct place *p = *state;
	struct iso_failure f = {0};
	char zeros[100] = {0};
	uint32_t n = 0;

	assert_int_equal(take(p, "a", 1, &n, &f), 0);
	append(p, zeros, sizeof zeros);
	assert_int_equal(take(p, "a", 2, &n, &f), 0);
	zeros[99] = '\n';
	append(p, zeros, sizeof zeros);
	assert_int_equal(take(p, "a", 3, &n, &f), 0);
	assert_int_equal(take(p, "a", 1, &n, &f), -EEXIST);
	assert_int_equal(take(p, "a", 2, &n, &f), -EEXIST);
}

static void damage_in_the_middle_refuses(void **state)
{
	static const char *const bad[] = {
		"garbage\n",
		"2 a 9 1764500000000 " SHA256 " 1000 end\n",
		"1 a 0 1764500000000 " SHA256 " 1000 end\n",
		"1 a -1 1764500000000 " SHA256 " 1000 end\n",
		"1 a 9 1764500000000 " SHA256 " 1000 end \n",
		"1 a 9 1764500000000 abc 1000 end\n",
		"1  9 1764500000000 " SHA256 " 1000 end\n",
		"1 a 99999999999 1764500000000 " SHA256 " 1000 end\n",
	};
	static const char good[] = "1 a 8 1764500000000 " SHA256 " 1000 end\n";
	struct place *p = *state;
	struct iso_failure f = {0};
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		unlinkat(p->fd, ISO_ATTEMPTS_FILE, 0);
		assert_int_equal(take(p, "a", 1, &n, &f), 0);
		append(p, bad[i], strlen(bad[i]));
		append(p, good, strlen(good));
		assert_int_equal(take(p, "a", 0, &n, &f), -EUCLEAN);
	}
}

static void a_file_of_somebody_else_is_refused(void **state)
{
	struct place *p = *state;
	struct iso_failure f = {0};
	uint32_t n = 0;

	assert_int_equal(take(p, "a", 1, &n, &f), 0);
	assert_int_equal(fchmodat(p->fd, ISO_ATTEMPTS_FILE, 0666, 0), 0);
	assert_int_equal(take(p, "a", 2, &n, &f), -EPERM);
	assert_int_equal(unlinkat(p->fd, ISO_ATTEMPTS_FILE, 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", p->fd, ISO_ATTEMPTS_FILE), 0);
	assert_int_equal(take(p, "a", 2, &n, &f), -ELOOP);
}

static void writers_at_the_same_time_get_different_numbers(void **state)
{
	struct place *p = *state;
	struct iso_failure f = {0};
	uint32_t n = 0;
	int status;

	for (int child = 0; child < 4; child++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		for (int i = 0; pid == 0 && i < 25; i++)
			if (take(p, "a", 0, &n, &f) < 0)
				_exit(1);
		if (pid == 0)
			_exit(0);
	}
	for (int child = 0; child < 4; child++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(take(p, "a", 0, &n, &f), 0);
	assert_int_equal(n, 101);
}

static void sandbox_ids_only_grow(void **state)
{
	struct place *p = *state;
	uint64_t last = 0, id = 0;

	for (int i = 0; i < 1000; i++) {
		assert_int_equal(iso_sandbox_id_next(p->fd, &id), 0);
		assert_true(id > last);
		last = id;
	}
}

static void run_ids_fit_every_task(void **state)
{
	char task[64], id[ISO_RUN_ID_MAX];

	(void)state;
	memset(task, 'a', 63);
	task[63] = '\0';
	assert_int_equal(iso_run_id_make(task, UINT32_MAX, id), 0);
	assert_true(strlen(id) < ISO_RUN_ID_MAX);
	assert_int_equal(iso_run_id_make("t", 1, id), 0);
	assert_int_equal(strncmp(id, "t-1-", 4), 0);
	assert_int_equal(strlen(id), 10);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, drop_place)
	const struct CMUnitTest tests[] = {
		IN_PLACE(an_attempt_is_taken_once),
		IN_PLACE(every_torn_line_is_cut_off),
		IN_PLACE(pages_of_nothing_are_cut_off_too),
		IN_PLACE(damage_in_the_middle_refuses),
		IN_PLACE(a_file_of_somebody_else_is_refused),
		IN_PLACE(writers_at_the_same_time_get_different_numbers),
		IN_PLACE(sandbox_ids_only_grow),
		cmocka_unit_test(run_ids_fit_every_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
