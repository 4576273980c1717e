/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/lifecycle.h"

#include <stddef.h>

static const char *const words[ISO_STATE_RUN_COUNT] = {
	[ISO_STATE_RUN_CAPTURED] = "captured", [ISO_STATE_RUN_BUILDING] = "building",
	[ISO_STATE_RUN_SEALED] = "sealed",     [ISO_STATE_RUN_RUNNING] = "running",
	[ISO_STATE_RUN_STOPPING] = "stopping", [ISO_STATE_RUN_ENDED] = "ended",
	[ISO_STATE_RUN_SETTLED] = "settled",
};

struct transition {
	enum iso_run_state from;
	enum iso_happening what;
	enum iso_run_state to;
	enum iso_action action;
};

static const struct transition table[] = {
#define ROW(from, what, to, action)                                                                \
	{                                                                                          \
		ISO_STATE_RUN_##from, ISO_HAPPENED_##what, ISO_STATE_RUN_##to, ISO_ACTION_##action \
	}
	ROW(CAPTURED, LAUNCH, BUILDING, BUILD),	 ROW(CAPTURED, STOP, SETTLED, FINISH),
	ROW(BUILDING, BUILT, SEALED, START),	 ROW(BUILDING, FAILED, SETTLED, FINISH),
	ROW(BUILDING, STOP, BUILDING, GIVE_UP),	 ROW(SEALED, STARTED, RUNNING, NONE),
	ROW(SEALED, STOP, STOPPING, TERMINATE),	 ROW(SEALED, ENDED, ENDED, DESTROY),
	ROW(RUNNING, STOP, STOPPING, TERMINATE), ROW(RUNNING, ENDED, ENDED, DESTROY),
	ROW(STOPPING, STARTED, STOPPING, NONE),	 ROW(STOPPING, STOP, STOPPING, NONE),
	ROW(STOPPING, ENDED, ENDED, DESTROY),	 ROW(ENDED, SETTLED, SETTLED, FINISH),
#undef ROW
};

const char *iso_state_word(enum iso_run_state state)
{
	return words[state];
}

static const struct transition *find(enum iso_run_state from, enum iso_happening what)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].from == from && table[i].what == what)
			return &table[i];
	return NULL;
}

enum iso_action iso_lifecycle_advance(struct iso_lifecycle *l, enum iso_happening what)
{
	const struct transition *t = find(l->state, what);

	if (!t)
		return ISO_ACTION_NONE;
	/* It was built although it had been told to give up: it never starts. */
	if (what == ISO_HAPPENED_BUILT && l->outcome.stop != ISO_STOP_NONE) {
		l->state = ISO_STATE_RUN_ENDED;
		return ISO_ACTION_DESTROY;
	}
	if (what == ISO_HAPPENED_STARTED)
		l->outcome.started = true;
	l->state = t->to;
	return t->action;
}

enum iso_action iso_lifecycle_stop(struct iso_lifecycle *l, enum iso_stop reason)
{
	if (!find(l->state, ISO_HAPPENED_STOP))
		return ISO_ACTION_NONE;
	if (l->outcome.stop == ISO_STOP_NONE)
		l->outcome.stop = reason;
	return iso_lifecycle_advance(l, ISO_HAPPENED_STOP);
}
