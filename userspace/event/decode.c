/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring buffer's records are the kernel side's own, but a decoder that believes a length is one
 * bug away from reading beyond them: nothing is taken on trust, and what does not fit is refused
 * whole.
 */
#include <errno.h>
#include <string.h>

#include "event/event.h"
#include "event/names.h"
#include "iso_abi.h"

#define ERRNO_MAX 4095 /* MAX_ERRNO of include/linux/err.h */
/* Far beyond any run, far below what would overflow a signed 64-bit sequence. */
#define COUNT_MAX (1ull << 48)

/* A path lies inside its area and has no NUL of its own; area and padding around it are garbage. */
static bool path_ok(const struct iso_event_path *p)
{
	return p->truncated <= 1 && p->length <= ISO_PATH_MAX &&
	       p->offset <= ISO_PATH_AREA - p->length &&
	       !memchr(p->area + p->offset, '\0', p->length);
}

static bool comm_ok(const char comm[ISO_COMM_MAX])
{
	return memchr(comm, '\0', ISO_COMM_MAX) != NULL;
}

static bool numbers_ok(const struct iso_event *e)
{
	bool refused = e->kind != ISO_EVENT_PROCESS;

	if (e->kind < ISO_EVENT_FILE || e->kind > ISO_EVENT_OTHER)
		return false;
	/* A start is not a refusal: it has no reason and no errno, and perhaps no hook. */
	if (refused ? !iso_reason_find(e->reason) : e->reason != 0)
		return false;
	if (refused ? e->error <= 0 || e->error > ERRNO_MAX : e->error != 0)
		return false;
	if ((refused || e->hook) && !iso_hook_find(e->hook))
		return false;
	if ((refused && e->sequence == 0) || e->sequence > COUNT_MAX)
		return false;
	if (e->slot > ISO_WINDOW)
		return false;
	return e->rule <= ISO_POLICY_RULES_MAX && !(e->wanted & ~ISO_RIGHTS_ALL);
}

int iso_event_decode(const void *data, size_t size, struct iso_event *out)
{
	struct iso_event e;

	if (size != sizeof e)
		return -EBADMSG;
	memcpy(&e, data, sizeof e);
	if (!numbers_ok(&e) || !comm_ok(e.comm) || !path_ok(&e.path) || !path_ok(&e.path2))
		return -EBADMSG;
	*out = e;
	return 0;
}
