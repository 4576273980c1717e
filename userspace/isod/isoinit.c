/* SPDX-License-Identifier: BSD-2-Clause */
/* isoinit as every sandbox gets it: read once, from where only root can change it, and sealed. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "isod/daemon.h"
#include "run/sibling.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3: says what older kernels take for granted */
#endif

static int seal_copy(int from, off_t size, int *ret)
{
	ISO_AUTO_CLOSE int fd = memfd_create("isoinit", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
	off_t at = 0;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("isoinit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	while (at < size) {
		ssize_t n = sendfile(fd, from, &at, (size_t)(size - at));

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -errno;
	*ret = iso_take_fd(&fd);
	return 0;
}

int iso_isoinit_open(int *ret, struct iso_error *e)
{
	ISO_AUTO_CLOSE int fd = -1;
	struct stat st;
	int r = iso_sibling_open("isoinit", &fd, NULL, e);

	if (r < 0)
		return r;
	r = fstat(fd, &st) < 0 ? -errno : seal_copy(fd, st.st_size, ret);
	if (r < 0)
		return iso_error_set(e, r, "isoinit", NULL, "cannot copy isoinit: %m");
	return 0;
}
