/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/outcome.h"

enum retry { NO, YES, ASK };

static const struct {
	const char *word;
	enum retry retry;
} classes[ISO_CLASS_COUNT] = {
#define ISO_CLASS(name, word, retry, sentence) [ISO_CLASS_##name] = {word, retry},
#include "run/errors.def"
};

const char *iso_class_word(enum iso_class class)
{
	return classes[class].word;
}

enum iso_class iso_class_find(const char *word)
{
	for (int i = ISO_CLASS_NONE + 1; i < ISO_CLASS_COUNT; i++)
		if (strcmp(classes[i].word, word) == 0)
			return (enum iso_class)i;
	return ISO_CLASS_INTERNAL;
}

int iso_failure_set(struct iso_failure *f, enum iso_class class, int r, const char *step,
		    const char *remedy, const char *format, ...)
{
	char message[sizeof f->error.message];
	va_list args;

	errno = -r;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	f->class = class;
	iso_error_set(&f->error, r, step, remedy, "%s", message);
	if (classes[class].retry != ASK)
		f->error.retryable = classes[class].retry == YES;
	return r;
}

void iso_failure_wrap(struct iso_failure *f, enum iso_class class, const struct iso_error *e)
{
	f->class = class;
	f->error = *e;
	if (classes[class].retry != ASK)
		f->error.retryable = classes[class].retry == YES;
}
