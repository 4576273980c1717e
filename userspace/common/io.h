/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole reads and writes. All of them retry EINTR and return 0 or a negative errno. */
#ifndef ISO_COMMON_IO_H
#define ISO_COMMON_IO_H

#include <stddef.h>
#include <sys/types.h>

/* Writes all n bytes, also to a pipe or socket that takes them in pieces. */
int iso_write_all(int fd, const void *data, size_t n);

/*
 * Reads to the end of file, at most `limit` bytes (-EFBIG beyond). *ret is allocated, ends in a
 * NUL that *ret_size does not count, and belongs to the caller.
 */
int iso_read_all(int fd, size_t limit, char **ret, size_t *ret_size);

/* The same for a path below dirfd (AT_FDCWD allowed). */
int iso_read_file(int dirfd, const char *path, size_t limit, char **ret, size_t *ret_size);

/* Opens an existing file for writing, writes once, closes: for cgroup, proc and sysctl files. */
int iso_write_file(int dirfd, const char *path, const char *text);

#endif
