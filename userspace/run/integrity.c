/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a sandbox still what was sealed? The kernel side counts tasks that it could not label, and
 * marks a sandbox of which an object with a rule was freed; both are told and end the run.
 */
#include <errno.h>
#include <stdio.h>

#include "common/log.h"
#include "run/supervise.h"

/* 0 or the reason. What of it is left when its last task has gone is its own end. */
static uint32_t broken(const struct iso_supervised *run)
{
	struct iso_sandbox sb;

	/* what nobody can vouch for is not held to be whole */
	if (iso_kernel_ask_sandbox(run->host->kernel, run->capture->sandbox, &sb) < 0)
		return ISO_REASON_UNREADABLE;
	if (!sb.tasks)
		return 0;
	if (sb.flags & ISO_SB_TORN)
		return ISO_REASON_TORN;
	return sb.label_failed ? ISO_REASON_LABEL : 0;
}

static const char *in_words(uint32_t reason)
{
	switch (reason) {
	case ISO_REASON_TORN:
		return "an object that a rule hangs on is gone";
	case ISO_REASON_LABEL:
		return "a task in its cgroup could not be labelled";
	default:
		return "the kernel side does not answer for it";
	}
}

bool iso_integrity_look(struct iso_supervised *run)
{
	struct iso_record record = {
		.kind = ISO_RECORD_TAMPER, .sandbox = run->capture->sandbox, .error = EACCES};

	/* twice: it may have ended between the count of its tasks and the mark */
	if (!broken(run))
		return false;
	record.reason = broken(run);
	if (!record.reason)
		return false;
	snprintf(record.path, sizeof record.path, "sandbox");
	if (run->streamed && !run->broken_told)
		iso_stream_emit(run->host->events, &record);
	if (!run->broken_told)
		iso_log_error("run %s: %s: it is ended", run->capture->run,
			      in_words(record.reason));
	run->broken_told = true;
	iso_supervise_stop(run, ISO_STOP_TAMPER, true);
	return true;
}
