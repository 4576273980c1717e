/* SPDX-License-Identifier: BSD-2-Clause */
#include "isoinit/isoinit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ISO_REPORT_WAIT_MS 2000

static void copy_text(char *out, size_t size, const char *text)
{
	size_t n = text ? strnlen(text, size - 1) : 0;

	memcpy(out, text ? text : "", n);
	out[n] = '\0';
}

bool iso_report(struct iso_init *i, uint32_t kind, int32_t value, int32_t pid, const char *text,
		bool important)
{
	struct iso_wire w = {.magic = ISO_WIRE_MAGIC, .kind = kind, .value = value, .pid = pid};
	uint64_t until = iso_now_ms() + ISO_REPORT_WAIT_MS;

	copy_text(w.text, sizeof w.text, text);
	while (!i->deaf) {
		struct pollfd p = {.fd = ISO_INIT_FD_CONTROL, .events = POLLOUT};

		if (send(ISO_INIT_FD_CONTROL, &w, sizeof w, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		    (ssize_t)sizeof w)
			return true;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != ENOBUFS) {
			i->deaf = true;
			return false;
		}
		/* A reader that stands still must not keep the sandbox alive. */
		if (!important || iso_now_ms() >= until)
			return false;
		poll(&p, 1, 50);
	}
	return false;
}

void iso_report_fatal(struct iso_init *i, const char *text, int error)
{
	iso_report(i, ISO_WIRE_FAILED, error, 0, text, true);
	_exit(70);
}

/* "<pid>/comm"; no stdio here */
static void comm_path(pid_t pid, char out[32])
{
	char digits[12];
	size_t n = 0, at = 0;

	do
		digits[n++] = (char)('0' + pid % 10);
	while ((pid /= 10) > 0);
	while (n)
		out[at++] = digits[--n];
	memcpy(out + at, "/comm", 6);
}

void iso_report_comm(const struct iso_init *i, pid_t pid, char *out, size_t size)
{
	char path[32];
	ssize_t n = -1;
	int fd;

	comm_path(pid, path);
	fd = openat(i->proc, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		n = read(fd, out, size - 1);
		close(fd);
	}
	if (n <= 0) {
		copy_text(out, size, "?");
		return;
	}
	if (out[n - 1] == '\n')
		n--;
	out[n] = '\0';
}
