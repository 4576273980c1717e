/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"

int iso_write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

int iso_read_all(int fd, size_t limit, char **ret, size_t *ret_size)
{
	ISO_AUTO_FREE char *data = NULL;
	size_t used = 0, room = 0;

	for (;;) {
		ssize_t r;

		if (room - used < 4096) {
			char *more;

			room = room ? room * 2 : 16384;
			more = realloc(data, room + 1);
			if (!more)
				return -ENOMEM;
			data = more;
		}
		r = read(fd, data + used, room - used);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		used += (size_t)r;
		if (used > limit)
			return -EFBIG;
	}
	data[used] = '\0';
	*ret = ISO_TAKE_PTR(data);
	if (ret_size)
		*ret_size = used;
	return 0;
}

int iso_read_file(int dirfd, const char *path, size_t limit, char **ret, size_t *ret_size)
{
	ISO_AUTO_CLOSE int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return iso_read_all(fd, limit, ret, ret_size);
}

int iso_write_file(int dirfd, const char *path, const char *text)
{
	ISO_AUTO_CLOSE int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);
	ssize_t w;

	if (fd < 0)
		return -errno;
	do
		w = write(fd, text, n);
	while (w < 0 && errno == EINTR);
	if (w < 0)
		return -errno;
	return (size_t)w == n ? 0 : -EIO;
}
