/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	const char *program;
	enum iso_log_level max;
	bool journal;
} log_state = {"isoctl", ISO_LOG_INFO, false};

void iso_log_setup(const char *program, enum iso_log_level max)
{
	log_state.program = program;
	log_state.max = max;
	log_state.journal = getenv("JOURNAL_STREAM") != NULL;
}

void iso_log(enum iso_log_level level, const char *format, ...)
{
	char line[1024];
	int saved = errno;
	va_list args;

	if (level > log_state.max)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (log_state.journal)
		fprintf(stderr, "<%d>%s\n", level, line);
	else
		fprintf(stderr, "%s: %s\n", log_state.program, line);
	errno = saved;
}
