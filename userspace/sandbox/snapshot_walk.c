/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/seccomp.h>

#include "common/text.h"
#include "sandbox/raw.h"

struct dirent64_raw { /* getdents64(2) */
	uint64_t ino;
	int64_t off;
	uint16_t length;
	uint8_t type;
	char name[];
};

static void send_report(struct iso_copy_job *job)
{
	while (write(job->report, &job->work->report, sizeof job->work->report) < 0 &&
	       errno == EINTR)
		;
}

void iso_copy_fail(struct iso_copy_job *job, enum iso_copy_fault fault, int error)
{
	job->work->report.fault = fault;
	job->work->report.error = error;
	send_report(job);
	_exit(1);
}

void iso_copy_done(struct iso_copy_job *job)
{
	job->work->report.fault = ISO_COPY_DONE;
	send_report(job);
	_exit(0);
}

uint32_t iso_copy_path(struct iso_copy_job *job, uint32_t length, const char *name)
{
	char *path = job->work->report.path;
	size_t n = strlen(name);

	path[length] = '\0';
	if (length + 1 + n >= ISO_COPY_PATH_MAX)
		iso_copy_fail(job, ISO_COPY_LONG, 0);
	if (length)
		path[length++] = '/';
	memcpy(path + length, name, n + 1);
	if (!iso_utf8_valid(name, n))
		iso_copy_fail(job, ISO_COPY_NAME, 0);
	return length + (uint32_t)n;
}

const char *iso_copy_next(struct iso_copy_job *job, struct iso_copy_frame *f, int fd)
{
	for (;;) {
		struct dirent64_raw *d;

		if (f->at >= f->filled) {
			f->filled =
				(int32_t)syscall(SYS_getdents64, fd, f->entries, sizeof f->entries);
			f->at = 0;
			if (f->filled < 0)
				iso_copy_fail(job, ISO_COPY_READ, errno);
			if (f->filled == 0)
				return NULL;
		}
		d = (struct dirent64_raw *)(void *)(f->entries + f->at);
		f->at += d->length;
		if (strcmp(d->name, ".") && strcmp(d->name, ".."))
			return d->name;
	}
}

static void keep_caps(struct iso_copy_job *job, uint32_t caps)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof data);
	data[0].permitted = data[0].effective = caps;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &head, data) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		iso_copy_fail(job, ISO_COPY_PREPARE, errno);
}

void iso_copy_confine(struct iso_copy_job *job, uint32_t caps)
{
	struct sock_fprog f = {
		.len = (unsigned short)job->filter_length,
		.filter = (struct sock_filter *)(uintptr_t)job->filter,
	};

	keep_caps(job, caps);
	if (f.len && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &f) != 0)
		iso_copy_fail(job, ISO_COPY_PREPARE, errno);
}
