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
static uint32_t broken(const struct iso_sandbox *sb)
{
	if (!sb->tasks)
		return 0;
	if (sb->flags & ISO_SB_TORN)
		return ISO_REASON_TORN;
	return sb->label_failed ? ISO_REASON_LABEL : 0;
}

bool iso_integrity_look(struct iso_supervised *run)
{
	struct iso_record record = {
		.kind = ISO_RECORD_TAMPER, .sandbox = run->capture->sandbox, .error = EACCES};
	struct iso_sandbox sb;

	/* twice: it may have ended between the count of its tasks and the mark */
	for (int i = 0; i < 2; i++) {
		if (iso_kernel_ask_sandbox(run->host->kernel, run->capture->sandbox, &sb) < 0)
			return false;
		record.reason = broken(&sb);
		if (!record.reason)
			return false;
	}
	snprintf(record.path, sizeof record.path, "sandbox");
	if (run->streamed && !run->broken_told)
		iso_stream_emit(run->host->events, &record);
	if (!run->broken_told)
		iso_log_error("run %s: %s: it is ended", run->capture->run,
			      record.reason == ISO_REASON_TORN
				      ? "an object that a rule hangs on is gone"
				      : "a task in its cgroup could not be labelled");
	run->broken_told = true;
	iso_supervise_stop(run, ISO_STOP_TAMPER, true);
	return true;
}
