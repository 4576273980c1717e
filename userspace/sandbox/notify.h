/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of a filter's notifications: each is answered with the errno of its row, never with
 * SECCOMP_USER_NOTIF_FLAG_CONTINUE, and told of with its arguments decoded. What is read from the
 * task's memory is for people alone: another of its threads may change it at any time, and nothing
 * is decided by it.
 *
 * One process may take from a listener: SECCOMP_IOCTL_NOTIF_RECV blocks when another was faster.
 */
#ifndef ISO_SANDBOX_NOTIFY_H
#define ISO_SANDBOX_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/seccomp.h>

struct iso_refused_call {
	char call[32];	     /* "mount"; "i386:20" and "x32:39": another entry, which has none */
	char arguments[512]; /* escaped, "" when they were not decoded */
	uint32_t number;
	int error;     /* positive errno that the task got */
	bool expected; /* ordinary software tries it, and goes on without */

	/* who: 0 and "" when it was gone, or not looked at */
	uint64_t exec; /* as look() answered */
	uint32_t pid, tid, ns_pid, ppid, uid;
	char comm[16];
};

/* Asked for the exec id of a process, which cannot end meanwhile; 0: not known. */
typedef uint64_t (*iso_look_fn)(void *context, uint32_t pid);

/*
 * Takes a notification and answers it: 1 and *ret. 0: there is none (now). Never waits. With `look`
 * the task is looked at before it gets its answer; without, who it was and its arguments stay
 * empty. -EPIPE: no task has the filter any more; another negative errno: the listener cannot be
 * read.
 */
int iso_notify_take(int listener, iso_look_fn look, void *context, struct iso_refused_call *ret);

/* Reads at most n bytes of the task's memory, as process_vm_readv(2): how many, or -1. */
typedef ssize_t (*iso_memory_fn)(void *context, uint64_t address, void *out, size_t n);

/* Name and arguments of a call. read: NULL leaves texts out as addresses. Fills in ret->call,
 * arguments, number, error, expected. */
void iso_notify_decode(const struct seccomp_data *d, iso_memory_fn read, void *context,
		       struct iso_refused_call *ret);

#endif
