/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two helpers of a snapshot, as isod and they themselves see them. Both are forks of isod's
 * thread inside the sandbox's cgroup: they allocate nothing and call nothing but system calls; what
 * they have to say goes through a pipe as one struct iso_copy_report.
 */
#ifndef ISO_SANDBOX_SNAPSHOT_H
#define ISO_SANDBOX_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <linux/filter.h>

#include "manifest/manifest.h"

#define ISO_COPY_PATH_MAX   3072 /* longest path below an input; a report fits into PIPE_BUF */
#define ISO_COPY_DEPTH_MAX  256
#define ISO_COPY_BLOCK_SIZE 65536

/* Why an entry was not copied: (name, retryable, sentence, remedy). %m is the errno. */
#define ISO_COPY_FAULTS(ROW)                                                                      \
	ROW(PREPARE, false, "the copying helper could not be set up: %m", NULL)                   \
	ROW(READ, false, "cannot be read with the caller's rights: %m", "see its owner and mode") \
	ROW(WRITE, false, "cannot be written to the copy: %m", NULL)                              \
	ROW(SIZE, false, "does not fit: the copy is full", "raise size of this input")            \
	ROW(INODES, false, "does not fit: no inode is left", "raise inodes of this input")        \
	ROW(CHANGED, true, "changed while it was copied",                                         \
	    "seal when nothing writes to the source")                                             \
	ROW(MISSING, false, "named in paths, is not there: %m", NULL)                             \
	ROW(DEVICE, false, "is a device", "remove it, or name what is needed in paths")           \
	ROW(FIFO, false, "is a named pipe", "remove it, or name what is needed in paths")         \
	ROW(SOCKET, false, "is a socket", "remove it, or name what is needed in paths")           \
	ROW(SETUID, false, "has a setuid or setgid bit", "remove it: chmod ug-s")                 \
	ROW(NAME, false, "has a name that is not UTF-8", "rename it")                             \
	ROW(LINK_ABSOLUTE, false, "is an absolute symbolic link", "make it relative")             \
	ROW(LINK_OUTSIDE, false, "is a symbolic link that leaves the input", "remove it")         \
	ROW(LINK_ON_WAY, false, "has a symbolic link on the way to it", "name the real path")     \
	ROW(DEPTH, false, "lies deeper than 256 directories", NULL)                               \
	ROW(LONG, false, "has a path longer than 3,071 bytes", NULL)                              \
	ROW(SECRET, false, "looks like a credential", "leave it out, or list it in not_secret")

enum iso_copy_fault {
	ISO_COPY_DONE,
#define ROW(name, ...) ISO_COPY_##name,
	ISO_COPY_FAULTS(ROW)
#undef ROW
		ISO_COPY_FAULT_MAX,
};

struct iso_copy_report {
	uint32_t fault;
	int32_t error; /* positive errno, 0 when there is none */
	uint64_t entries;
	char path[ISO_COPY_PATH_MAX];
};
_Static_assert(sizeof(struct iso_copy_report) <= 4096, "one write to a pipe is whole");

struct iso_copy_frame {
	int source, target;
	uint32_t path_length; /* of the directory's own path */
	int32_t at, filled;
	struct stat st;
	char entries[8192] __attribute__((aligned(8)));
};

/* Zeroed memory for one helper, mapped by the parent. */
struct iso_copy_work {
	struct iso_copy_frame frames[ISO_COPY_DEPTH_MAX];
	struct iso_copy_report report;
	char link[ISO_COPY_PATH_MAX + 1024];
	char block[ISO_COPY_BLOCK_SIZE];
};

struct iso_copy_job {
	const struct iso_input *input;
	int source; /* the caller's directory; not used when owning */
	int target; /* the copy's root */
	int report; /* write end of the pipe */
	uid_t uid;  /* copying: whose rights are used; owning: who gets it all */
	gid_t gid;
	const gid_t *groups;
	size_t group_count;
	const struct sock_filter *filter;
	size_t filter_length;
	struct iso_copy_work *work;
};

/* snapshot_copy.c, snapshot_own.c: the helpers' whole lives */
void iso_snapshot_copier(struct iso_copy_job *job) __attribute__((noreturn));
void iso_snapshot_owner(struct iso_copy_job *job) __attribute__((noreturn));

/* snapshot_walk.c: what both share */
void iso_copy_fail(struct iso_copy_job *job, enum iso_copy_fault fault, int error)
	__attribute__((noreturn));
void iso_copy_done(struct iso_copy_job *job) __attribute__((noreturn));
/* Puts a name behind a path of `length` bytes in report.path; the new length. */
uint32_t iso_copy_path(struct iso_copy_job *job, uint32_t length, const char *name);
/* The next entry's name of a frame's directory, NULL at the end; `.` and `..` are left out. */
const char *iso_copy_next(struct iso_copy_job *job, struct iso_copy_frame *f, int fd);
/* The last steps before untrusted data: descriptors, capabilities in `caps`, seccomp. */
void iso_copy_confine(struct iso_copy_job *job, uint32_t caps);

/* snapshot_link.c */
/* Does a link with this target, in a directory `depth` levels below the root, stay inside? */
enum iso_copy_fault iso_copy_link_fault(const char *target, unsigned depth);
/* Looks the path, relative to the input, like a credential's, and does not_secret say nothing? */
bool iso_copy_secret(const struct iso_input *input, const char *path);

#endif
