/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int iso_error_set(struct iso_error *e, int r, const char *step, const char *remedy,
		  const char *format, ...)
{
	va_list args;

	if (!e)
		return r;
	e->retryable = r == -ENOMEM || r == -EAGAIN || r == -EMFILE || r == -ENFILE;
	snprintf(e->step, sizeof e->step, "%s", step);
	snprintf(e->remedy, sizeof e->remedy, "%s", remedy ? remedy : "");
	errno = -r;
	va_start(args, format);
	vsnprintf(e->message, sizeof e->message, format, args);
	va_end(args);
	return r;
}

int iso_error_retryable(struct iso_error *e, int r)
{
	if (e)
		e->retryable = true;
	return r;
}
