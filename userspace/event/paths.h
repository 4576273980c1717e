/* SPDX-License-Identifier: BSD-2-Clause */
/* Where events lie: the current file and its rotated ones, N = 1 the youngest. */
#ifndef ISO_EVENT_PATHS_H
#define ISO_EVENT_PATHS_H

#include <stdio.h>

#define ISO_EVENTS_DIRECTORY   "/var/log/isoctl"
#define ISO_EVENTS_FILE	       "events.ndjson"
#define ISO_EVENTS_ROTATED_MAX 999u
#define ISO_EVENTS_NAME	       32 /* bytes of a name with its NUL */

/* 0: the current one. Returns out. */
static inline const char *iso_events_name(char out[ISO_EVENTS_NAME], unsigned n)
{
	if (n)
		snprintf(out, ISO_EVENTS_NAME, "%s.%u", ISO_EVENTS_FILE, n);
	else
		snprintf(out, ISO_EVENTS_NAME, "%s", ISO_EVENTS_FILE);
	return out;
}

#endif
