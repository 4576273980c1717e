/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's window of repeats as a run knows it (iso_abi.h): which record each place stands for,
 * and how many refusals of it have been told. What the kernel has counted beyond that is owed.
 */
#ifndef ISO_EVENT_WINDOW_H
#define ISO_EVENT_WINDOW_H

#include "event/run.h"
#include "iso_abi.h"

/*
 * An event has taken a place. True: *ret_owed is what was counted there for the refusal before it,
 * as a record with a count.
 */
bool iso_window_take(struct iso_run *run, const struct iso_event *event, const struct iso_record *r,
		     struct iso_record *ret_owed);

/* The word that the kernel has at a place now. True: as above, for the refusal that has it. */
bool iso_window_settle(struct iso_run *run, unsigned place, uint64_t word,
		       struct iso_record *ret_owed);

void iso_window_free(struct iso_run *run);

#endif
