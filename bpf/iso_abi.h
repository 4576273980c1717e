/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The whole contract between the BPF object and userspace. Fixed widths, explicit padding, no
 * enum, bool, pointer or size_t field; sizes and offsets are asserted in iso_abi_check.h, which
 * both compilers read. A change here that an older isod could misread raises ISO_ABI_VERSION.
 *
 * Life of a sandbox (struct iso_sandbox.state), kept by the installer program alone:
 *
 *	ISO_OP_BEGIN -> BUILDING -ISO_OP_SEAL-> SEALED -first exec-> USED
 *	                   |                      |                    |
 *	                   +------ ISO_OP_REMOVE, once no task of it is left ------> gone
 *
 * The seal wants exactly one task alive (isoinit), so a count of 0 after it means that isoinit, and
 * with it the pid namespace, has ended.
 *
 * BUILDING: only trusted code runs. The first process of the cgroup is labelled ISO_ROLE_BUILD
 * when it is forked; it makes namespaces and mounts and may execute nothing but the registered
 * launcher (isoinit), which makes it ISO_ROLE_INIT. SEALED answers -EEXIST to every further
 * addition. From then on every label of the sandbox is held to the rules; one without rules may
 * do nothing.
 *
 * How a file rule matches. Rules hang on inodes (objects), not on names. The walk goes from the
 * opened object to the root of the sandbox, across mounts; the first object that carries a rule of
 * this sandbox decides, and its rights alone count:
 *
 *	/work         READ|WRITE|MAKE   (rule 3)
 *	/work/.git    READ              (rule 4)
 *	open("/work/a/b", O_RDWR)       -> rule 3 -> allowed
 *	open("/work/.git/config", O_WRONLY) -> rule 4 -> EACCES
 *	open("/srv", O_RDONLY)          -> no rule up to the root -> EACCES, rule ISO_RULE_NONE
 *
 * An object that carries a rule keeps its own entry: it cannot be renamed, removed or exchanged,
 *and the policy puts a rule on every ancestor of a protected path within the writable tree.
 *
 * A name rule {parent object, hash of one name} refuses to create, remove, rename or link that name
 * in that directory, whether it exists or not.
 */
#ifndef ISO_ABI_H
#define ISO_ABI_H

#ifdef __bpf__
/* iso_kernel.h has declared __u8 ... __s64 */
#else
#include <linux/types.h>
#endif

#define ISO_ABI_VERSION 3

/* Rights of a file rule. */
#define ISO_READ       (1u << 0) /* open for reading, list a directory */
#define ISO_WRITE      (1u << 1) /* open for writing, truncate, attributes, xattrs */
#define ISO_EXEC       (1u << 2) /* execute, map executable */
#define ISO_MAKE       (1u << 3) /* create, remove, rename, link entries below */
#define ISO_RIGHTS_ALL 0xfu

/* Rule numbers: the policy's own start at 1 (index + 1 into its rule table). */
#define ISO_RULE_NONE 0u /* denied because nothing grants it */

/* Sandbox states. */
#define ISO_STATE_BUILDING 1u
#define ISO_STATE_SEALED   2u
#define ISO_STATE_USED	   3u
#define ISO_STATE_REMOVING 4u /* its rules are being taken out: nothing is allowed, or added */

/* Roles in a task's label. */
#define ISO_ROLE_TASK	0u /* the task's own programs */
#define ISO_ROLE_BUILD	1u /* trusted, while BUILDING */
#define ISO_ROLE_INIT	2u /* isoinit */
#define ISO_ROLE_LAUNCH 3u /* forked by isoinit, before its exec */
#define ISO_ROLE_AGENT	4u /* isod; label.sandbox is 0 */

/* Sandbox flags: what the network and process domains allow. */
#define ISO_SB_LOOPBACK	 (1u << 0)  /* 127.0.0.0/8 and ::1 of its own namespace */
#define ISO_SB_ANON_EXEC (1u << 1)  /* profile build: anonymous executable memory */
#define ISO_SB_URING	 (1u << 2)  /* io_uring may be set up; its requests are judged like calls */
#define ISO_SB_TORN	 (1u << 31) /* a rule's object was freed: everything is denied */

/* Label of a task (task storage). Set by the kernel side only. */
struct iso_label {
	__u64 sandbox; /* 0: not in a sandbox */
	__u64 exec;    /* exec id: counts programs of this sandbox, 1 = isoinit */
	__u32 role;
	__u32 read_only; /* rule of the read-only mount that the open at hand ran into */
	__u32 refused;	 /* a hook refused during the system call at hand, and said so */
	__u32 ended;	 /* the task has been counted down */
	__u32 flags;	 /* its sandbox's, as of `epoch` */
	__u32 epoch;	 /* when the sandbox was last seen sealed and whole; 0 never */
	__u32 ring;	 /* request of io_uring that is being done: its opcode + 1; 0 none */
	__u32 pad;
};

struct iso_sandbox {
	__u64 cgroup;	    /* cgroup v2 id (kernfs node id) it is bound to */
	__u64 launcher;	    /* inode address of isoinit's memfd; 0 once used */
	__u64 tasks;	    /* live labelled tasks */
	__u64 next_exec;    /* last exec id given out */
	__u64 rules;	    /* file and name rules added */
	__u64 label_failed; /* tasks that could not be labelled: the cgroup must die */
	__u32 state;
	__u32 flags;
};

/*
 * What became of refusals. Each is counted as exactly one of emitted, collapsed, lost_rate and
 * lost_full, whose sum is therefore their number. All but the collapsed ones take a number of their
 * own, so that what is missing in the ring is lost_rate + lost_full.
 */
struct iso_account {
	__u64 sequence;	  /* last event sequence given out */
	__u64 emitted;	  /* events that reached the ring */
	__u64 collapsed;  /* repeats of an event: counted in the window */
	__u64 lost_rate;  /* over events_per_second */
	__u64 lost_full;  /* the ring was full */
	__u64 kinds_full; /* first ones, perhaps, of kinds that are no longer told apart */
	__u32 rate;	  /* events per second; 0: no bound */
	__u32 pad;
};

/*
 * The window, in which repeats are counted: a word is tag << 32 | refusals since the event that
 * took the place, itself included; 0: empty. An event names its place, its tag and what the place
 * held before it, so that the reader can settle what was counted for the one that has to go.
 */
#define ISO_WINDOW	128u
#define ISO_WINDOW_PART 16u /* words of one ISO_ASK_WINDOW */
#define ISO_KINDS	256u

/* Account and window of a sandbox as one question (userspace/kernel/kernel.h). */
struct iso_tally {
	struct iso_account account;
	__u64 window[ISO_WINDOW];
};

struct iso_rule_key {
	__u64 sandbox;
	__u64 object;
};

struct iso_rule {
	__u32 rights;
	__u32 rule;  /* number in the policy's table */
	__u64 inode; /* address of the object's inode, to give the object back at removal */
};

/* Objects: inode address -> number that is never used again. */
struct iso_object {
	__u64 id;
	__u64 users; /* rules and name rules that hang on it */
};

struct iso_name {
	__u32 rule;
	__u32 pad;
	__u64 inode;
};

struct iso_name_key {
	__u64 sandbox;
	__u64 object; /* the parent directory */
	__u64 hash;   /* iso_name_hash() of the name's bytes */
};

struct iso_absent_key {
	__u64 sandbox;
	__u64 hash; /* iso_name_hash() of the absolute path's bytes */
};

/* Operations of the installer (SEC("syscall") iso_installer). retval: 0 or a negative errno. */
#define ISO_OP_CLAIM	1u /* the caller becomes the agent; -EBUSY while another lives */
#define ISO_OP_BEGIN	2u /* sandbox, fd = its cgroup directory, arg = flags, value = rate */
#define ISO_OP_LAUNCHER 3u /* sandbox, fd = isoinit's memfd */
#define ISO_OP_RULE	4u /* sandbox, fd = object, arg = rights, rule */
#define ISO_OP_NAME	5u /* sandbox, fd = parent directory, value = name hash, rule */
#define ISO_OP_ABSENT	6u /* sandbox, value = path hash, rule */
#define ISO_OP_SEAL	7u /* sandbox; needs exactly one task */
#define ISO_OP_REMOVE	8u /* sandbox */
/* The guard (guard.bpf.h): open -CLOSE-> closing -LOCK-> locked, and RELEASE from either. */
#define ISO_OP_GUARD                                                                              \
	9u		 /* open; fd of a map, program or link, arg = ISO_OBJECT_*, rule = 1 when \
			    this descriptor stays, value = who else holds it: guards it */
#define ISO_OP_CLOSE 10u /* from now on nobody else comes by anything; begins the scan anew */
#define ISO_OP_LOCK                                                                 \
	11u /* closing, scanned; value = foreign programs that are listed. -EEXIST: \
	       there are others; -EBUSY: somebody holds the object arg, rule = id */
#define ISO_OP_RELEASE	12u /* -EBUSY when locked and while a sandbox lives */
/* Questions (SEC("syscall") iso_query): answers come back in the same structure. */
#define ISO_ASK_SANDBOX 32u /* sandbox -> ISO_QUERY: struct iso_sandbox */
#define ISO_ASK_RULE	33u /* sandbox, fd -> arg = rights, rule */
#define ISO_ASK_NAME	34u /* sandbox, fd, value -> rule */
#define ISO_ASK_ABSENT	35u /* sandbox, value -> rule */
#define ISO_ASK_COUNTER 36u /* arg = ISO_COUNT_* -> value */
#define ISO_ASK_AGENT	37u /* -> value = tgid of the living agent, 0 */
#define ISO_ASK_ACCOUNT 38u /* sandbox, or 0 -> account */
#define ISO_ASK_WINDOW	39u /* sandbox, arg = part -> window */
#define ISO_ASK_GUARD	40u /* arg = ISO_FIGURE_* -> value */

/* States of the guard, and what can be asked about it. */
#define ISO_GUARD_OPEN	    0u
#define ISO_GUARD_CLOSING   1u
#define ISO_GUARD_LOCKED    2u
#define ISO_FIGURE_STATE    0u
#define ISO_FIGURE_SINCE    1u /* ns, CLOCK_BOOTTIME, of the last change of the state */
#define ISO_FIGURE_REFUSED  2u /* attempts refused since the object was loaded */
#define ISO_FIGURE_FOREIGN  3u /* programs of others that decide as ours do, as of the scan */
#define ISO_FIGURE_INTRUDER 4u /* programs of others that use our maps or replace a program */

struct iso_command {
	__u32 op;
	__s32 fd; /* of the calling task */
	__u64 sandbox;
	__u64 value;
	__u32 arg;
	__u32 rule;
};

/* A question, and after it the answer. */
struct iso_inquiry {
	__u32 op;
	__s32 fd;
	__u64 sandbox;
	__u64 value;
	__u32 arg;
	__u32 rule;
	struct iso_sandbox answer; /* ISO_ASK_SANDBOX */
	struct iso_account account;
	__u64 window[ISO_WINDOW_PART];
};

/* A program of somebody else, as the scan (SEC("iter/bpf_prog") iso_scan) writes it. */
struct iso_found {
	__u32 id;
	__u32 type;   /* BPF_PROG_TYPE_* */
	__u32 attach; /* expected attach type */
	__u32 uid;    /* whose it is */
	__u32 intruder;
	__u8 tag[8]; /* the kernel's hash of its instructions */
	char name[16];
};

/* Hooks, by number; the rows are in iso_hooks.def. */
enum { /* names for both sides only: no field has this type */
#define ISO_HOOK(number, name, ...) ISO_HOOK_##name = number,
#include "iso_hooks.def"
#undef ISO_HOOK
};

/* Why something was refused; the rows are in iso_reasons.def. */
enum {
#define ISO_REASON(number, name, ...) ISO_REASON_##name = number,
#include "iso_reasons.def"
#undef ISO_REASON
};

/* Failed helpers and other things that "never happen", counted by place. */
#define ISO_COUNT_LABEL_FAILED 0u /* task storage could not be had */
#define ISO_COUNT_WALK_CAPPED  1u /* path deeper than the walk: refused */
#define ISO_COUNT_READ_FAILED  2u /* a kernel read failed: refused */
#define ISO_COUNT_NO_SANDBOX   3u /* label of a sandbox that is gone: refused */
#define ISO_COUNT_RING_FULL    4u
#define ISO_COUNT_MAP_FULL     5u
#define ISO_COUNT_MAX	       16u

/* Kinds of event record. */
#define ISO_EVENT_FILE	  1u /* a file operation was refused; path, path2 for rename and link */
#define ISO_EVENT_EXEC	  2u /* executing or mapping executable was refused */
#define ISO_EVENT_NET	  3u /* connect, send, bind, listen or socket was refused; address */
#define ISO_EVENT_ABSENT  4u /* an assert_absent path was asked for; path as asked */
#define ISO_EVENT_PROCESS 5u /* a program of the sandbox started: the entry command only */
#define ISO_EVENT_OTHER	  6u /* mount, ptrace, signal, namespace...: hook says which */

#define ISO_PATH_MAX  256 /* bytes kept of a path in an event; of longer ones the end is kept */
#define ISO_PATH_AREA 512 /* room to build one from its end; bytes past the path are garbage */
#define ISO_COMM_MAX  16u

/*
 * A path is area[offset .. offset + length), from the sandbox's root; when `truncated` is not 0 its
 * first components are missing (too long, too deep, or unreadable). Bytes of the task's choosing:
 * escape before showing. length 0: no path. The rest of the area is garbage.
 */
struct iso_event_path {
	__u16 offset;
	__u16 length;
	__u8 truncated;
	__u8 pad[3];
	char area[ISO_PATH_AREA];
};

/* One record of the ring buffer. */
struct iso_event {
	__u64 time; /* ns, CLOCK_BOOTTIME */
	__u64 sandbox;
	__u64 sequence; /* per sandbox, from 1: a hole is a lost record */
	__u64 exec;	/* exec id of the acting program */
	__u64 device;	/* s_dev of the object (kernel dev_t: major << 20 | minor), 0: none */
	__u64 inode;
	__u32 kind;
	__u32 hook;   /* ISO_HOOK_* */
	__u32 reason; /* ISO_REASON_* */
	__u32 rule;   /* deciding rule, or ISO_RULE_NONE */
	__s32 error;  /* positive errno that the task got */
	__u32 wanted; /* rights that were asked for */
	__u32 pid;    /* host pid (tgid) */
	__u32 tid;
	__u32 ns_pid; /* tgid as the sandbox sees it */
	__u32 ppid;
	__u32 uid;		 /* host uid */
	__u32 mode;		 /* st_mode of the object, 0 when there is none */
	__u16 family;		 /* ISO_EVENT_NET */
	__u16 port;		 /* host order */
	__u16 protocol;		 /* IPPROTO_* */
	__u16 type;		 /* SOCK_* */
	__u8 address[16];	 /* IPv4 in the first four */
	char comm[ISO_COMM_MAX]; /* of the acting program; for people, never for a decision */
	__u32 slot;		 /* its place in the window, from 1; 0: it has none */
	__u32 tag;
	__u64 before; /* the word that it found there */
	struct iso_event_path path;
	struct iso_event_path path2; /* of rename and link */
};

/* What an attempt was about; the rows are in iso_objects.def. */
enum {
#define ISO_OBJECT(number, name, ...) ISO_OBJECT_##name = number,
#include "iso_objects.def"
#undef ISO_OBJECT
};

#define ISO_EXE_MAX 64

/*
 * The other record of the ring, told by its size: somebody reached for the enforcement itself. By
 * whomever, on the host too; numbered and rated by an account of the guard's own.
 */
struct iso_tamper {
	__u64 time;	/* ns, CLOCK_BOOTTIME */
	__u64 sequence; /* from 1: one per attempt, so a hole is a lost record */
	__u64 sandbox;	/* of who tried; 0: on the host */
	__u64 exec;	/* exec id within it */
	__u32 hook;	/* ISO_HOOK_* */
	__u32 reason;	/* ISO_REASON_* */
	__s32 error;	/* positive errno */
	__u32 object;	/* ISO_OBJECT_* */
	__u32 id;	/* of the map, program or link; pid of the process; 0 */
	__u32 command;	/* bpf(2) command, signal, ptrace mode; 0 */
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 uid;
	char name[16];		 /* of the object */
	char comm[ISO_COMM_MAX]; /* of who tried; for people */
	char exe[ISO_EXE_MAX];	 /* last component of its program's path; for people */
};

/* FNV-1a, 64 bits, of n bytes; the same on both sides, and in the policy digest. */
#define ISO_HASH_SEED  0xcbf29ce484222325ull
#define ISO_HASH_PRIME 0x100000001b3ull

#include "iso_abi_check.h"

#endif
