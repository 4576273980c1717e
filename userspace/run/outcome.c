/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/outcome.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

enum retry { NO, YES };

static const struct {
	const char *word, *sentence;
	int status;
	enum retry retry;
} stops[ISO_STOP_COUNT] = {
#define ISO_STOP(name, word, status, retry, sentence) \
	[ISO_STOP_##name] = {word, sentence, status, retry},
#include "run/stops.def"
};

const char *iso_stop_word(enum iso_stop stop)
{
	return stops[stop].word;
}

const char *iso_stop_sentence(enum iso_stop stop)
{
	return stops[stop].sentence;
}

enum iso_stop iso_stop_find(const char *word)
{
	for (int i = ISO_STOP_NONE + 1; i < ISO_STOP_COUNT; i++)
		if (strcmp(stops[i].word, word) == 0)
			return (enum iso_stop)i;
	return ISO_STOP_NONE;
}

void iso_failure_stop(struct iso_failure *f, enum iso_stop stop)
{
	iso_failure_set(f, ISO_CLASS_STOPPED, -ECANCELED, stops[stop].word, NULL, "%s",
			stops[stop].sentence);
	f->error.retryable = stops[stop].retry == YES;
}

json_t *iso_failure_json(const struct iso_failure *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b}", "class", iso_class_word(f->class), "step",
			 f->error.step, "message", f->error.message, "remedy", f->error.remedy,
			 "retryable", f->error.retryable);
}

int iso_failure_parse(json_t *value, struct iso_failure *ret)
{
	const char *class, *step, *message, *remedy;
	int retryable;

	if (json_unpack(value, "{s:s, s:s, s:s, s:s, s:b}", "class", &class, "step", &step,
			"message", &message, "remedy", &remedy, "retryable", &retryable) < 0)
		return -EBADMSG;
	iso_failure_set(ret, iso_class_find(class), -EIO, step, remedy, "%s", message);
	ret->error.retryable = retryable;
	return 0;
}

/*
 * A stop reason outranks what the command itself ended with: a task that traps TERM and exits 0
 * after its deadline has not succeeded.
 */
int iso_outcome_status(const struct iso_outcome *o)
{
	if (o->exec_error && o->stop == ISO_STOP_NONE)
		return o->exec_error == ENOENT ? 127 : 126;
	if (o->stop != ISO_STOP_NONE)
		return o->started ? stops[o->stop].status : ISO_EXIT_REFUSED;
	if (!o->ended)
		return ISO_EXIT_REFUSED;
	if (WIFSIGNALED(o->wait_status))
		return 128 + WTERMSIG(o->wait_status);
	return WEXITSTATUS(o->wait_status);
}
