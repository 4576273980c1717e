/* SPDX-License-Identifier: BSD-2-Clause */
/* Attempts at the enforcement itself, as the kernel side tells of them: checked, and as records. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "event/names.h"
#include "iso_abi.h"

#define COUNT_MAX (1ull << 48) /* far beyond what can happen, as in decode.c */

static const char *object_word(uint32_t object)
{
	static const char *const words[] = {
#define ISO_OBJECT(number, name, word) [number] = (word),
#include "iso_objects.def"
#undef ISO_OBJECT
	};

	return object < sizeof words / sizeof *words ? words[object] : NULL;
}

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

int iso_tamper_decode(const void *data, size_t size, struct iso_tamper *out)
{
	struct iso_tamper t;

	if (size != sizeof t)
		return -EBADMSG;
	memcpy(&t, data, sizeof t);
	if (!iso_hook_find(t.hook) || !iso_reason_find(t.reason) || !object_word(t.object) ||
	    t.error <= 0 || t.error > 4095 || !t.sequence || t.sequence > COUNT_MAX)
		return -EBADMSG;
	if (!ends(t.name, sizeof t.name) || !ends(t.comm, sizeof t.comm) ||
	    !ends(t.exe, sizeof t.exe))
		return -EBADMSG;
	*out = t;
	return 0;
}

void iso_record_from_tamper(const struct iso_tamper *t, int64_t boot_offset, struct iso_record *ret)
{
	struct iso_record r = {
		.kind = ISO_RECORD_TAMPER,
		.sandbox = t->sandbox,
		.time = t->time + (uint64_t)boot_offset,
		.kernel_sequence = t->sequence,
		.exec = t->exec,
		.hook = t->hook,
		.reason = t->reason,
		.error = t->error,
		.pid = t->pid,
		.tid = t->tid,
		.ppid = t->ppid,
		.uid = t->uid,
	};

	_Static_assert(sizeof r.comm == sizeof t->comm && sizeof r.program == sizeof t->exe,
		       "texts");
	memcpy(r.comm, t->comm, sizeof r.comm);
	memcpy(r.program, t->exe, sizeof r.program);
	switch (t->object) {
	case ISO_OBJECT_MAP:
		r.map_id = t->id;
		break;
	case ISO_OBJECT_PROGRAM:
	case ISO_OBJECT_FOREIGN:
		r.prog_id = t->id;
		break;
	case ISO_OBJECT_LINK:
		r.link_id = t->id;
		break;
	case ISO_OBJECT_PROCESS:
		r.target_pid = t->id;
		break;
	default:
		break;
	}
	if (t->hook == ISO_HOOK_bpf)
		r.bpf_cmd = t->command;
	else if (t->hook == ISO_HOOK_task_kill)
		r.signal = (int)t->command;
	snprintf(r.path, sizeof r.path, "%s", object_word(t->object));
	if (t->id)
		snprintf(r.path + strlen(r.path), sizeof r.path - strlen(r.path), " %u", t->id);
	if (t->name[0])
		snprintf(r.path + strlen(r.path), sizeof r.path - strlen(r.path), " %s", t->name);
	*ret = r;
}
