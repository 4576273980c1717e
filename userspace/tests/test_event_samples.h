/* SPDX-License-Identifier: BSD-2-Clause */
/* A run, and events and records of every kind, for the tests of event/. */
#ifndef ISO_TEST_EVENT_SAMPLES_H
#define ISO_TEST_EVENT_SAMPLES_H

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "event/event.h"
#include "iso_abi.h"

#define SAMPLE_SHA     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SAMPLE_SANDBOX 7

static struct iso_pair sample_label_items[] = {{(char *)"pipeline", (char *)"ci"}};
static const struct iso_pairs sample_labels = {sample_label_items, 1};

static struct iso_policy_rule sample_rules[] = {
	{.path = "/work", .pointer = "/filesystem/inputs/0"},
	{.path = "/work/.git/hooks", .pointer = "/filesystem/inputs/0/protect"},
};
static const struct iso_policy sample_policy = {.rules = sample_rules, .rule_count = 2};

static const struct iso_run_context sample_run = {
	.sandbox = SAMPLE_SANDBOX,
	.run_id = "run-1",
	.task_id = "build-4711",
	.attempt = 1,
	.manifest_sha256 = SAMPLE_SHA,
	.policy = &sample_policy,
	.labels = &sample_labels,
	.cgroup_id = 4242,
	.hostname = "host.example",
	.machine_id = "machine-1",
	.kernel_release = "6.12.0",
};

static inline void sample_path(struct iso_event *e, const char *path)
{
	/* as the kernel side builds it: from the end of the area */
	e->path.length = (__u16)strlen(path);
	e->path.offset = (__u16)(ISO_PATH_AREA - strlen(path));
	memcpy(e->path.area + e->path.offset, path, strlen(path));
}

static inline int sample_remove_one(const char *path, const struct stat *st, int type,
				    struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* A directory of a test, with all that is in it. 0: it is gone. */
static inline int sample_remove(const char *directory)
{
	return nftw(directory, sample_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writing to a protected hook, refused. */
static inline struct iso_event sample_event(uint64_t sequence)
{
	struct iso_event e = {
		.time = 1000000000,
		.sandbox = SAMPLE_SANDBOX,
		.sequence = sequence,
		.exec = 5,
		.device = 8u << 20 | 1,
		.inode = 99,
		.kind = ISO_EVENT_FILE,
		.hook = ISO_HOOK_file_open,
		.reason = ISO_REASON_RIGHTS,
		.rule = 2,
		.error = EACCES,
		.wanted = ISO_WRITE,
		.pid = 3000,
		.tid = 3001,
		.ns_pid = 12,
		.ppid = 2999,
		.uid = 165536,
		.mode = 0100644,
		.comm = "sh",
	};

	sample_path(&e, "/work/.git/hooks/pre-commit");
	return e;
}

static inline struct iso_record sample_record(enum iso_record_kind kind)
{
	struct iso_event e = sample_event(1);
	struct iso_record r;

	iso_record_from_event(&e, 1700000000000000000, &r);
	r.kind = kind;
	switch (kind) {
	case ISO_RECORD_NET:
		r.hook = ISO_HOOK_socket_connect;
		r.reason = ISO_REASON_ADDRESS;
		r.rule = ISO_RULE_NONE;
		r.family = AF_INET;
		r.protocol = 6;
		r.type = SOCK_STREAM;
		r.port = 443;
		memcpy(r.address, "\xc0\x00\x02\x01", 4);
		r.path[0] = '\0';
		break;
	case ISO_RECORD_ABSENT:
		r.hook = ISO_HOOK_absent;
		r.reason = ISO_REASON_ABSENT;
		r.error = ENOENT;
		break;
	case ISO_RECORD_EXEC:
		r.hook = ISO_HOOK_bprm_check_security;
		r.wanted = ISO_EXEC;
		break;
	case ISO_RECORD_KERNEL:
		r.hook = ISO_HOOK_sb_mount;
		r.reason = ISO_REASON_SURFACE;
		r.error = EPERM;
		r.path[0] = '\0';
		break;
	case ISO_RECORD_TAMPER:
		r.hook = ISO_HOOK_bpf;
		r.map_id = 17;
		break;
	case ISO_RECORD_STARTED:
	case ISO_RECORD_ENDED:
	case ISO_RECORD_SURVIVOR:
		r.hook = r.reason = r.rule = r.wanted = 0;
		r.error = 0;
		r.signal = kind == ISO_RECORD_ENDED ? 9 : 0;
		break;
	case ISO_RECORD_LIMIT:
	case ISO_RECORD_STATE:
	case ISO_RECORD_GAP:
		r = (struct iso_record){.kind = kind, .sandbox = SAMPLE_SANDBOX, .time = r.time};
		snprintf(r.limit, sizeof r.limit, "memory");
		r.max = 100;
		r.observed = 101;
		r.state = ISO_RUN_SEALED;
		r.cause = ISO_GAP_RING;
		r.lost = 3;
		r.first_seq = 1;
		r.last_seq = 3;
		break;
	default:
		break;
	}
	return r;
}

#endif
