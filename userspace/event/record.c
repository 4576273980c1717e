/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "event/names.h"
#include "iso_abi.h"

void iso_record_set_text(char out[ISO_RECORD_TEXT], bool *truncated, const char *s, size_t n)
{
	bool cut = n >= ISO_RECORD_TEXT;

	if (cut) {
		s += n - (ISO_RECORD_TEXT - 1);
		n = ISO_RECORD_TEXT - 1;
	}
	memcpy(out, s, n);
	out[n] = '\0';
	if (truncated)
		*truncated = *truncated || cut;
}

/* The kind follows what the hook guards, for an event that does not say it itself. */
static enum iso_record_kind kind_of(const struct iso_event *event)
{
	switch (event->kind) {
	case ISO_EVENT_FILE:
		return ISO_RECORD_FILE;
	case ISO_EVENT_EXEC:
		return ISO_RECORD_EXEC;
	case ISO_EVENT_NET:
		return ISO_RECORD_NET;
	case ISO_EVENT_ABSENT:
		return ISO_RECORD_ABSENT;
	case ISO_EVENT_PROCESS:
		return ISO_RECORD_STARTED;
	default:
		return ISO_RECORD_KERNEL;
	}
}

/*
 * What the VFS refused is known by the name that was asked for; of a relative one the kernel side
 * sends the starting directory as second path. Put together, they name one object.
 */
static void set_paths(struct iso_record *r, const struct iso_event *event)
{
	const char *path = event->path.area + event->path.offset;
	const char *base = event->path2.area + event->path2.offset;
	size_t n = event->path.length, m = event->path2.length;
	char joined[2 * ISO_PATH_MAX + 2];
	bool cut = event->path.truncated;

	if (n && path[0] != '/' && m && m <= ISO_PATH_MAX && n <= ISO_PATH_MAX) {
		if (n > 2 && path[0] == '.' && path[1] == '/')
			path += 2, n -= 2;
		memcpy(joined, base, m);
		if (base[m - 1] != '/')
			joined[m++] = '/';
		memcpy(joined + m, path, n);
		path = joined;
		n += m;
		m = 0;
		cut = cut || event->path2.truncated;
	}
	r->path_truncated = cut;
	iso_record_set_text(r->path, &r->path_truncated, path, n);
	r->path2_truncated = m && event->path2.truncated;
	iso_record_set_text(r->path2, NULL, base, m);
}

void iso_record_from_event(const struct iso_event *event, int64_t boot_offset,
			   struct iso_record *ret)
{
	struct iso_record r = {
		.kind = kind_of(event),
		.sandbox = event->sandbox,
		.time = event->time + (uint64_t)boot_offset,
		.kernel_sequence = event->sequence,
		.exec = event->exec,
		.hook = event->hook,
		.reason = event->reason,
		.rule = event->rule,
		.wanted = event->wanted,
		.error = event->error,
		.pid = event->pid,
		.tid = event->tid,
		.ns_pid = event->ns_pid,
		.ppid = event->ppid,
		.uid = event->uid,
		.device = event->device,
		.inode = event->inode,
		.mode = event->mode,
		.family = event->family,
		.port = event->port,
		.protocol = event->protocol,
		.type = event->type,
	};

	_Static_assert(sizeof r.comm == sizeof event->comm, "comm");
	_Static_assert(sizeof r.address == sizeof event->address, "address");
	_Static_assert(ISO_PATH_MAX < ISO_RECORD_TEXT, "a path of an event fits");
	memcpy(r.comm, event->comm, sizeof r.comm);
	memcpy(r.address, event->address, sizeof r.address);
	set_paths(&r, event);
	*ret = r;
}

const char *iso_record_kind_word(enum iso_record_kind kind)
{
	static const char *const words[ISO_RECORD_KINDS] = {
		[ISO_RECORD_FILE] = "file",	    [ISO_RECORD_ABSENT] = "absent-path",
		[ISO_RECORD_NET] = "network",	    [ISO_RECORD_EXEC] = "exec",
		[ISO_RECORD_KERNEL] = "kernel",	    [ISO_RECORD_TAMPER] = "tamper",
		[ISO_RECORD_STARTED] = "started",   [ISO_RECORD_ENDED] = "ended",
		[ISO_RECORD_SURVIVOR] = "survivor", [ISO_RECORD_LIMIT] = "limit",
		[ISO_RECORD_STATE] = "state",	    [ISO_RECORD_GAP] = "gap",
	};

	return (unsigned)kind < ISO_RECORD_KINDS ? words[kind] : "unknown";
}

const char *iso_gap_cause_word(enum iso_gap_cause cause)
{
	static const char *const words[ISO_GAP_CAUSES] = {
		[ISO_GAP_RING] = "ring-full",	    [ISO_GAP_RATE] = "rate-limit",
		[ISO_GAP_KERNEL] = "kernel",	    [ISO_GAP_SINK] = "sink-failing",
		[ISO_GAP_KINDS] = "too-many-kinds",
	};

	return cause > 0 && cause < ISO_GAP_CAUSES ? words[cause] : "unknown";
}
