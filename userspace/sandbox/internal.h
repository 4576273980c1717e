/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of this folder share. A sandbox under construction is a struct iso_build (goes
 * when creation returns) around a struct iso_sandbox_handle (lives as long as the sandbox). Each
 * step fills in what it made at once, so that iso_sandbox_destroy() undoes any prefix of the steps.
 */
#ifndef ISO_SANDBOX_INTERNAL_H
#define ISO_SANDBOX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "isoinit/protocol.h"
#include "sandbox/sandbox.h"

enum iso_step {
	ISO_STEP_NONE,
#define ISO_STEP(name, word, side) ISO_STEP_##name,
#include "sandbox/steps.def"
#undef ISO_STEP
	ISO_STEP_MAX,
};

/* The word of a step; "?" for a number that is none. */
const char *iso_step_word(uint32_t step);

/*
 * What only tests change: a host without cgroup controllers or BPF. Given to
 * iso_sandbox_create_seamed() alone, which no program calls.
 */
struct iso_sandbox_seams {
	const char *cgroup_root; /* existing cgroup v2 directory; NULL: found on this host */
	bool no_limits;		 /* the root's controllers are not there */
	bool no_kernel;		 /* request->kernel is NULL */
	const char *slots;	 /* NULL: ISO_SLOTS_PATH */
};

struct iso_sandbox_handle {
	struct iso_kernel *kernel;
	uint64_t sandbox;
	bool begun; /* the kernel side knows the sandbox */
	char name[128];
	int slot_fd;
	unsigned slot;
	uint32_t base; /* first id of the slot */
	int cgroup_parent;
	int cgroup_fd;
	uint64_t cgroup_id;
	int control;
	int listener; /* of the task's filter, once isoinit has sent it */
	int pidfd;
	pid_t pid; /* not reaped yet, or 0 */
	uint8_t digest[ISO_POLICY_DIGEST];
};

/* One tree of the policy on its way in. */
struct iso_place {
	int fd;		 /* detached mount; -1: nothing to mount */
	bool own;	 /* memory storage that was made for this sandbox */
	bool file;	 /* a regular file or device is mounted on a file */
	char *link;	 /* a host symbolic link: its target */
	uint64_t device; /* st_dev of own storage */
};

/* What the first process does with mounts, in order; texts and descriptors are prepared. */
enum iso_mount_kind {
	ISO_MOUNT_ATTACH,  /* fd at path */
	ISO_MOUNT_PROC,	   /* the proc that the first process made, at path */
	ISO_MOUNT_MASK,	   /* an empty file or directory over path, if that exists */
	ISO_MOUNT_RDONLY,  /* path onto itself, read-only */
	ISO_MOUNT_PIN,	   /* path onto itself; links are followed in host trees */
	ISO_MOUNT_PROTECT, /* path onto itself, read-only; a missing path is for a name rule */
};

struct iso_op {
	enum iso_mount_kind kind;
	int fd;
	const char *path; /* inside, absolute */
	bool follow;
	bool may_be_missing;
};

struct iso_build {
	const struct iso_sandbox_request *q;
	const struct iso_sandbox_seams *seams; /* never NULL */
	struct iso_sandbox_handle *h;
	struct iso_error *e;
	struct iso_place *places; /* one per policy tree */
	struct iso_place root;
	int mask_fd;	/* the file that covers files of /proc, O_PATH */
	int *extra_fds; /* device, pts and shm mounts */
	size_t extra_count;
	struct iso_op *ops;
	size_t op_count;
	int plan_fd;
	int child_control;
	int root_fd; /* the sandbox's root as its first process sees it, O_PATH */
};

int iso_sandbox_create_seamed(const struct iso_sandbox_request *request,
			      const struct iso_sandbox_seams *seams,
			      struct iso_sandbox_handle **ret, struct iso_error *e);

/* fault.c: in a library built for the tests, fails the step that ISO_FAULT names */
#ifdef ISO_FAULTS
int iso_fault(enum iso_step step);
uint32_t iso_fault_step(void);
#else
static inline int iso_fault(enum iso_step step)
{
	(void)step;
	return 0;
}
static inline uint32_t iso_fault_step(void)
{
	return ISO_STEP_NONE;
}
#endif

/* iso_error_set() with the step's word. */
#define iso_step_error(b, r, step, remedy, ...) \
	iso_error_set((b)->e, r, iso_step_word(ISO_STEP_##step), remedy, __VA_ARGS__)

#define ISO_FAULT_POINT(b, step)                                                            \
	do {                                                                                \
		int fault_ = iso_fault(ISO_STEP_##step);                                    \
		if (fault_ < 0)                                                             \
			return iso_step_error(b, fault_, step, NULL, "fault injected: %m"); \
	} while (0)

/* wait.c: waits for events on fd; 0, -ETIMEDOUT, -ECANCELED, or what poll(2) says */
int iso_build_wait(const struct iso_build *b, int fd, short events);
/* 0, -ETIMEDOUT or -ECANCELED, without waiting. */
int iso_build_alive(const struct iso_build *b);
uint64_t iso_now_ns(void);
/* Waits up to timeout_ms for the end of a child and reaps it; the status as in waitpid(2). */
int iso_reap(int pidfd, int timeout_ms, int *ret_status);

/* slot.c */
#define ISO_SLOTS_PATH "/run/isoctl/slots"
#define ISO_SLOT_BASE  0x70000000u
#define ISO_SLOT_SIZE  65536u
#define ISO_SLOTS      4096u
#define ISO_TASK_ID    1000u /* uid and gid of the entry command, inside */
int iso_slot_take(struct iso_build *b);
/* Does [start, start + 65536) touch a range of this subuid(5) text? Malformed lines count as yes
 * when a number can be read at all. */
bool iso_slot_overlaps(const char *subids, uint64_t start);

/* cgroup.c */
int iso_cgroup_make(struct iso_build *b);
int iso_cgroup_check_limits(struct iso_build *b);
/* cgroup_root.c: the directory that sandboxes' cgroups are made in, opened. */
int iso_cgroup_root(const struct iso_sandbox_seams *seams, int *ret_fd, struct iso_error *e);
/* Kills, waits for `populated 0`, up to timeout_ms. */
int iso_cgroup_end(int cgroup_fd, int timeout_ms);

/* storage.c */
struct iso_tmpfs {
	uint64_t size, inodes; /* bounds; the root's own inode comes on top */
	uint32_t uid, gid, mode;
	uint64_t attributes; /* MOUNT_ATTR_* on top of nosuid, nodev */
};
int iso_storage_tmpfs(const struct iso_tmpfs *t);
int iso_storage_make(struct iso_build *b);	   /* root, inputs, scratch, etc, dev */
int iso_storage_mount_points(struct iso_build *b); /* and what is mounted read-only */
/* Creates a file with this content below a directory, mode 0644. */
int iso_storage_file(int dirfd, const char *name, const char *text, uint32_t id);
/* Index of the deepest tree before `before` that holds path; SIZE_MAX: the root. */
size_t iso_storage_container(const struct iso_policy *p, size_t before, const char *path);
const char *iso_path_below(const char *tree, const char *path); /* "" for itself; NULL */

int iso_hosttree_open(struct iso_build *b, size_t tree, int fd); /* hosttree.c */
int iso_etc_make(struct iso_build *b, size_t tree);		 /* etc.c */
int iso_dev_make(struct iso_build *b, size_t tree);		 /* dev.c */
int iso_ops_make(struct iso_build *b);				 /* ops.c */
/* In the root until the first process has put them over parts of /proc. */
#define ISO_MASK_FILE ".none"
#define ISO_MASK_DIR  ".empty"

/* snapshot.c */
int iso_snapshot_copy(struct iso_build *b);
int iso_snapshot_own(struct iso_build *b);

/* init_plan.c */
int iso_init_plan_make(struct iso_build *b);

/* launch.c: from clone3 to READY */
int iso_launch(struct iso_build *b);
/* inside.c: the first process, until it is isoinit */
struct iso_inside {
	const struct iso_op *ops;
	size_t op_count;
	int root_mount;
	int control;
	int plan_fd;
	int slot_fd;
	int isoinit_fd;
	int *links; /* overwritten */
	size_t link_count;
	int stdio[3];
	const char *hostname;
	bool loopback;
	uint32_t fault;
};
void iso_inside_run(const struct iso_inside *in) __attribute__((noreturn));

/* rules.c */
int iso_rules_install(struct iso_build *b);

/* handle.c */
struct iso_sandbox_handle *iso_handle_new(const struct iso_sandbox_request *q);

#endif
