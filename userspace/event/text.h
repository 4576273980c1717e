/* SPDX-License-Identifier: BSD-2-Clause */
/* Records for people: one readable line each. */
#ifndef ISO_EVENT_TEXT_H
#define ISO_EVENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct iso_text_style {
	bool colour; /* of the verdict's word */
	bool run;    /* says which run, for a stream of many */
	bool date;   /* before the time of day */
	bool utc;    /* instead of local time */
};

/*
 * What `isoctl events` shows of one line of the file, without a newline:
 *	12:01:02.123 DENIED open-for-write /work/.git/config — why (rule /filesystem/...) by sh[12]
 *EACCES Whatever the file holds, no control character gets out. -EBADMSG: it is not one of our
 *records.
 */
int iso_event_text(const json_t *record, const struct iso_text_style *style, char *out,
		   size_t size);

/* May colour be used on this descriptor? A terminal, and NO_COLOR is not set (no-color.org). */
bool iso_text_colour(int fd);

/* ms since 1970, or -1: "10m" (s m h d ago), "12:30", "2026-11-30", "2026-11-30T12:30[:45][Z]". */
int64_t iso_text_time(const char *s, int64_t now);

#endif
