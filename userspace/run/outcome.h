/* SPDX-License-Identifier: BSD-2-Clause */
/* How runs end: stop reasons, failures by class, and the one rule that makes the exit status. */
#ifndef ISO_RUN_OUTCOME_H
#define ISO_RUN_OUTCOME_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

enum iso_stop {
	ISO_STOP_NONE, /* it ended by itself */
#define ISO_STOP(name, ...) ISO_STOP_##name,
#include "run/stops.def"
	ISO_STOP_COUNT
};

const char *iso_stop_word(enum iso_stop stop);	   /* NULL for NONE */
const char *iso_stop_sentence(enum iso_stop stop); /* NULL for NONE */
enum iso_stop iso_stop_find(const char *word);	   /* NONE for a word that is no row */

enum iso_class {
	ISO_CLASS_NONE,
#define ISO_CLASS(name, ...) ISO_CLASS_##name,
#include "run/errors.def"
	ISO_CLASS_COUNT
};

/* A failure as it is shown and sent: the class gives the default of `retryable`. */
struct iso_failure {
	enum iso_class class;
	struct iso_error error;
};

const char *iso_class_word(enum iso_class class);
/* ISO_CLASS_INTERNAL for a word that is no row. */
enum iso_class iso_class_find(const char *word);

/* Fills *f like iso_error_set() and returns r. */
int iso_failure_set(struct iso_failure *f, enum iso_class class, int r, const char *step,
		    const char *remedy, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
/* Gives an error of a lower layer its class; its own `retryable` counts where the class asks. */
void iso_failure_wrap(struct iso_failure *f, enum iso_class class, const struct iso_error *e);

/* A run that was stopped: class STOPPED, the reason as step and sentence. */
void iso_failure_stop(struct iso_failure *f, enum iso_stop stop);

/* The `Failure` of io.isoctl.Agent, and back; -EBADMSG. */
json_t *iso_failure_json(const struct iso_failure *f);
int iso_failure_parse(json_t *value, struct iso_failure *ret);

/* What is known about the end of a run. */
struct iso_outcome {
	bool started;	/* the entry command was executed */
	int exec_error; /* positive errno when it could not be */
	bool ended;	/* wait_status is valid */
	int32_t wait_status;
	enum iso_stop stop;
};

/* `isoctl seal`'s exit status (issue A, item 5). */
int iso_outcome_status(const struct iso_outcome *o);

#define ISO_EXIT_REFUSED 125

#endif
