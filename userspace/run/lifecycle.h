/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of a run and what moves it from one to the next, as one table. Pure: it decides, the
 * supervisor acts.
 *
 *	captured -> building -> sealed -> running -> stopping -> ended -> settled
 *	     \________\___________\__________\__________________/
 *
 * Every state but settled accepts a stop; the first reason is kept.
 */
#ifndef ISO_RUN_LIFECYCLE_H
#define ISO_RUN_LIFECYCLE_H

#include <stdbool.h>

#include "run/outcome.h"

enum iso_run_state {
	ISO_STATE_RUN_CAPTURED,
	ISO_STATE_RUN_BUILDING,
	ISO_STATE_RUN_SEALED,	/* built, sealed, told to start */
	ISO_STATE_RUN_RUNNING,	/* the entry command was executed */
	ISO_STATE_RUN_STOPPING, /* told to end */
	ISO_STATE_RUN_ENDED,	/* nothing of it runs, or must: being taken down */
	ISO_STATE_RUN_SETTLED,	/* nothing of it is left */
	ISO_STATE_RUN_COUNT
};

enum iso_happening {
	ISO_HAPPENED_LAUNCH,  /* the caller launches it */
	ISO_HAPPENED_BUILT,   /* iso_sandbox_create() succeeded */
	ISO_HAPPENED_FAILED,  /* ... failed, or gave up */
	ISO_HAPPENED_STARTED, /* isoinit executed the entry command */
	ISO_HAPPENED_STOP,    /* a stop reason came up */
	ISO_HAPPENED_ENDED,   /* isoinit says so, or is gone */
	ISO_HAPPENED_SETTLED, /* iso_sandbox_destroy() returned */
	ISO_HAPPENED_COUNT
};

/* What the supervisor must do on the way. */
enum iso_action {
	ISO_ACTION_NONE,
	ISO_ACTION_BUILD,
	ISO_ACTION_START,
	ISO_ACTION_GIVE_UP,   /* ask the builder to stop */
	ISO_ACTION_TERMINATE, /* TERM, grace, kill */
	ISO_ACTION_DESTROY,   /* take down what was built */
	ISO_ACTION_FINISH,    /* nothing was built, or nothing is left: account for it */
};

struct iso_lifecycle {
	enum iso_run_state state;
	struct iso_outcome outcome;
};

const char *iso_state_word(enum iso_run_state state);

/* Moves on. A happening that cannot happen in this state is ISO_ACTION_NONE and changes nothing. */
enum iso_action iso_lifecycle_advance(struct iso_lifecycle *l, enum iso_happening what);
/* Keeps the reason when it is the first, then advances by ISO_HAPPENED_STOP. */
enum iso_action iso_lifecycle_stop(struct iso_lifecycle *l, enum iso_stop reason);

#endif
