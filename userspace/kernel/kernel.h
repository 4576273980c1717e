/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF object as the rest of the program sees it: loaded, frozen, attached, and reached through
 * its installer and query programs alone. One per process (isod). All calls may be made from any
 * thread of the process that opened it; every refusal of the kernel side comes back as its negative
 * errno.
 */
#ifndef ISO_KERNEL_KERNEL_H
#define ISO_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "iso_abi.h"

struct iso_kernel;

/*
 * Checks what the host must have (features.def), loads, freezes every map, attaches every program
 * and becomes the agent. A required hook or feature that is missing is named in *e (-EOPNOTSUPP);
 * nothing stays behind on failure.
 */
int iso_kernel_open(struct iso_kernel **ret, struct iso_error *e);

/* Detaches and frees. Sandboxes that still live keep the links that their isoinit holds. */
void iso_kernel_close(struct iso_kernel *k);

/*
 * BUILDING: binds a cgroup v2 directory without tasks or children. -EOPNOTSUPP: io_uring is allowed
 * in it, and this kernel does not show what its requests are.
 */
int iso_kernel_begin(struct iso_kernel *k, uint64_t sandbox, int cgroup_fd, uint32_t flags,
		     uint32_t events_per_second);
int iso_kernel_launcher(struct iso_kernel *k, uint64_t sandbox, int memfd);
/* fd: any descriptor (O_PATH will do) of the object. -EEXIST: it has a rule already. */
int iso_kernel_add_rule(struct iso_kernel *k, uint64_t sandbox, int fd, uint32_t rights,
			uint32_t rule);
int iso_kernel_add_name(struct iso_kernel *k, uint64_t sandbox, int parent_fd, const char *name,
			uint32_t rule);
int iso_kernel_add_absent(struct iso_kernel *k, uint64_t sandbox, const char *path, uint32_t rule);
int iso_kernel_seal(struct iso_kernel *k, uint64_t sandbox);
/* -EBUSY while a task of it lives. */
int iso_kernel_remove(struct iso_kernel *k, uint64_t sandbox);

/* Read back from the kernel what was installed; -ENOENT when nothing is there. */
int iso_kernel_ask_sandbox(struct iso_kernel *k, uint64_t sandbox, struct iso_sandbox *ret);
/* What became of its refusals; of those outside of every sandbox: 0. */
int iso_kernel_ask_account(struct iso_kernel *k, uint64_t sandbox, struct iso_account *ret);
/* The same with the window. Read the ring before it: words of unread events say nothing yet. */
int iso_kernel_ask_tally(struct iso_kernel *k, uint64_t sandbox, struct iso_tally *ret);
int iso_kernel_ask_rule(struct iso_kernel *k, uint64_t sandbox, int fd, uint32_t *ret_rights,
			uint32_t *ret_rule);
int iso_kernel_ask_name(struct iso_kernel *k, uint64_t sandbox, int parent_fd, const char *name,
			uint32_t *ret_rule);
int iso_kernel_ask_absent(struct iso_kernel *k, uint64_t sandbox, const char *path,
			  uint32_t *ret_rule);
/* Exec id of a process (its tgid) of this sandbox, which must not end meanwhile. -ESRCH: no process
 * of it. */
int iso_kernel_ask_exec(struct iso_kernel *k, uint64_t sandbox, int pid, uint64_t *ret);
int iso_kernel_ask_counter(struct iso_kernel *k, uint32_t counter, uint64_t *ret);

/*
 * 0 when exactly one labelled task of this sandbox lives: asked by the agent after the first
 * process was forked into the cgroup and before it is told to go on; -ESRCH when the label is
 * missing (kill it). The child cannot ask itself: BPF_PROG_RUN wants CAP_BPF of the initial user
 * namespace where kernel.unprivileged_bpf_disabled is set (Debian: 2).
 */
int iso_kernel_confirm(struct iso_kernel *k, uint64_t sandbox);

/* The links' descriptors, for every isoinit to hold. The array belongs to k. */
const int *iso_kernel_link_fds(const struct iso_kernel *k, size_t *ret_count);

/*
 * Events: poll the descriptor for EPOLLIN with a 50 ms timeout (wake-ups are adaptive), then
 * consume. The callback gets the raw record; returns the number consumed or a negative errno.
 */
typedef int (*iso_kernel_event_fn)(void *context, const void *data, size_t size);
int iso_kernel_ring_fd(const struct iso_kernel *k);
int iso_kernel_ring_consume(struct iso_kernel *k, iso_kernel_event_fn fn, void *context);

/* ------------------------------------------------------------------------------ the guard */

#define ISO_FOREIGN_PATH  "/etc/isoctl/foreign-programs"
#define ISO_GUARD_OBJECTS 512

/* A map, program or link of ours. */
struct iso_guard_object {
	uint32_t kind; /* ISO_OBJECT_* */
	uint32_t id;
	int fd;
	bool kept;	  /* this process keeps a descriptor of it while locked */
	uint64_t holders; /* references there may be at the lock */
	char name[17];	  /* of a link: of its program */
};

struct iso_guard_status {
	uint32_t state;	  /* ISO_GUARD_* */
	uint64_t since;	  /* ns, CLOCK_BOOTTIME */
	uint64_t refused; /* attempts */
	const struct iso_guard_object *objects;
	size_t object_count;
	const struct iso_found *found; /* programs of others that decide, all of them listed */
	size_t found_count;
};

/*
 * Locks the guard (bpf/guard.bpf.h). Afterwards this process has no descriptor of ours but those it
 * works with, and nobody comes by another. `listed`: the file of programs of others that may be
 * there, NULL: ISO_FOREIGN_PATH. -EEXIST: one that is not listed is; -EBUSY: somebody holds an
 * object of ours; *e names it. On failure the guard is open. Not while another thread reads the
 * ring.
 */
int iso_kernel_lock(struct iso_kernel *k, const char *listed, struct iso_error *e);
/* -EBUSY while a sandbox lives. */
int iso_kernel_release(struct iso_kernel *k);
int iso_kernel_guard(struct iso_kernel *k, struct iso_guard_status *ret);

/* One row of features.def, probed on this host. */
struct iso_feature {
	const char *name;     /* stable word */
	const char *sentence; /* what it is for */
	const char *remedy;   /* what to change when it is missing */
	bool required;
	bool present;
	int error; /* negative errno of the probe when not present */
};

/* All rows, probed once and cached; *ret_count rows. */
const struct iso_feature *iso_features(size_t *ret_count);

#endif
