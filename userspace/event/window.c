/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/window.h"

#include <stdlib.h>

bool iso_window_settle(struct iso_run *run, unsigned place, uint64_t word,
		       struct iso_record *ret_owed)
{
	struct iso_seat *seat = &run->window[place];
	uint64_t counted = (uint32_t)word;

	/* Another tag is that of an event that has not been read yet. */
	if (!seat->record || seat->tag != word >> 32 || counted <= seat->told)
		return false;
	*ret_owed = *seat->record;
	ret_owed->count = counted - seat->told;
	run->settled += ret_owed->count;
	seat->told = counted;
	return true;
}

bool iso_window_take(struct iso_run *run, const struct iso_event *event, const struct iso_record *r,
		     struct iso_record *ret_owed)
{
	struct iso_seat *seat;
	bool owed;

	if (!event->slot)
		return false;
	seat = &run->window[event->slot - 1];
	owed = iso_window_settle(run, event->slot - 1, event->before, ret_owed);
	if (!seat->record)
		seat->record = malloc(sizeof *seat->record);
	if (seat->record) /* else what is counted there stays owed, and shows as a gap at the end */
		*seat->record = *r;
	seat->tag = event->tag;
	seat->told = 1;
	return owed;
}

void iso_window_free(struct iso_run *run)
{
	for (unsigned i = 0; i < ISO_WINDOW; i++)
		free(run->window[i].record);
}
