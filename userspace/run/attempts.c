/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"

#define LINE_MAX_BYTES 256
#define TASK_MAX       64
#define STEP	       "attempt"
#define REMEDY	       "check " ISO_ATTEMPTS_DIRECTORY "/" ISO_ATTEMPTS_FILE " and its file system"

/* A number of digits alone, from 1. */
static bool parse_number(const char *s, uint32_t max, uint32_t *ret)
{
	char *end;
	unsigned long long n;

	if (!*s || s[strspn(s, "0123456789")])
		return false;
	errno = 0;
	n = strtoull(s, &end, 10);
	if (errno || n == 0 || n > max)
		return false;
	*ret = (uint32_t)n;
	return true;
}

/* One line without its newline. The last word tells a whole line from a prefix of one. */
static bool parse_line(const char *s, size_t n, char task[TASK_MAX], uint32_t *ret_attempt)
{
	enum { VERSION, TASK, ATTEMPT, TIME, SHA256, UID, END, WORDS };
	char line[LINE_MAX_BYTES], *words[WORDS], *rest = line;

	if (n >= sizeof line || memchr(s, '\0', n))
		return false;
	memcpy(line, s, n);
	line[n] = '\0';
	for (int i = 0; i < WORDS; i++) {
		words[i] = strsep(&rest, " ");
		if (!words[i])
			return false;
	}
	if (rest || strcmp(words[VERSION], "1") != 0 || strcmp(words[END], "end") != 0)
		return false;
	if (!*words[TASK] || strlen(words[TASK]) >= TASK_MAX || strlen(words[SHA256]) != 64)
		return false;
	memcpy(task, words[TASK], strlen(words[TASK]) + 1);
	return parse_number(words[ATTEMPT], UINT32_MAX, ret_attempt);
}

struct scan {
	const char *task;
	uint32_t wanted; /* 0: any */
	uint32_t last;	 /* highest of this task */
	bool found;
	off_t whole; /* bytes of the file that are whole lines */
};

/* -EUCLEAN: a line in the middle is no line. */
static int scan_text(const char *text, size_t size, struct scan *scan)
{
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		char task[TASK_MAX];
		uint32_t attempt;

		if (!end)
			return 0;
		if (!parse_line(text + at, (size_t)(end - text) - at, task, &attempt))
			/* A torn write may have left its newline behind pages of nothing. */
			return (size_t)(end - text) + 1 == size ? 0 : -EUCLEAN;
		if (strcmp(task, scan->task) == 0) {
			scan->found |= attempt == scan->wanted;
			if (attempt > scan->last)
				scan->last = attempt;
		}
		at = (size_t)(end - text) + 1;
		scan->whole = (off_t)at;
	}
	return 0;
}

static int append(int fd, const struct iso_attempt *a, uint32_t attempt, off_t whole)
{
	char line[LINE_MAX_BYTES];
	int n = snprintf(line, sizeof line, "1 %s %" PRIu32 " %" PRIu64 " %s %u end\n", a->task,
			 attempt, a->time_ms, a->manifest_sha256, (unsigned)a->uid);
	int r;

	if (n < 0 || (size_t)n >= sizeof line)
		return -EINVAL;
	if (ftruncate(fd, whole) < 0)
		return -errno;
	r = iso_write_all(fd, line, (size_t)n);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r < 0 && ftruncate(fd, whole) < 0)
		return r; /* the next writer cuts it off */
	return r;
}

static int open_locked(int dirfd, int *ret)
{
	ISO_AUTO_CLOSE int fd = openat(dirfd, ISO_ATTEMPTS_FILE,
				       O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return -EPERM;
	if (st.st_size == 0 && fsync(dirfd) < 0)
		return -errno;
	*ret = iso_take_fd(&fd);
	return 0;
}

int iso_attempts_capture(int dirfd, const struct iso_attempt *a, uint32_t *ret,
			 struct iso_failure *f)
{
	struct scan scan = {.task = a->task, .wanted = a->attempt};
	ISO_AUTO_FREE char *text = NULL;
	ISO_AUTO_CLOSE int fd = -1;
	uint32_t attempt = a->attempt;
	size_t size = 0;
	int r;

	r = open_locked(dirfd, &fd);
	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_SETUP, r, STEP, REMEDY,
				       "cannot open the file of attempts: %m");
	r = iso_read_all(fd, SIZE_MAX / 4, &text, &size);
	if (r == 0)
		r = scan_text(text, size, &scan);
	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_SETUP, r, STEP, REMEDY,
				       "the file of attempts cannot be read whole: %m");
	if (attempt && scan.found)
		return iso_failure_set(f, ISO_CLASS_ATTEMPT, -EEXIST, STEP,
				       "use another /task/attempt, or \"auto\"",
				       "attempt %" PRIu32 " of task %s was captured before",
				       attempt, a->task);
	if (!attempt && scan.last == UINT32_MAX)
		return iso_failure_set(f, ISO_CLASS_ATTEMPT, -EOVERFLOW, STEP,
				       "use another /task/id", "task %s has no attempt left",
				       a->task);
	if (!attempt)
		attempt = scan.last + 1;
	r = append(fd, a, attempt, scan.whole);
	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_SETUP, r, STEP, REMEDY,
				       "cannot record the attempt: %m");
	*ret = attempt;
	return 0;
}
