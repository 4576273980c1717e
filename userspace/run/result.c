/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/result.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "run/clock.h"

static json_t *time_json(uint64_t ms)
{
	char text[32];

	if (!ms)
		return json_null();
	iso_time_text(ms, text);
	return json_string(text);
}

static json_t *text_json(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *digest_json(const uint8_t *digest)
{
	char text[65];

	if (!digest)
		return json_null();
	for (size_t i = 0; i < 32; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	return json_string(text);
}

/* status is isoctl's own; code and signal are what the command itself ended with. */
static json_t *exit_json(const struct iso_outcome *o)
{
	json_t *code = NULL, *signal = NULL;

	if (o && o->ended && o->started && WIFEXITED(o->wait_status))
		code = json_integer(WEXITSTATUS(o->wait_status));
	if (o && o->ended && o->started && WIFSIGNALED(o->wait_status))
		signal = json_integer(WTERMSIG(o->wait_status));
	return json_pack(
		"{s:i, s:b, s:o, s:o, s:o}", "status", o ? iso_outcome_status(o) : ISO_EXIT_REFUSED,
		"started", o && o->started, "code", code ? code : json_null(), "signal",
		signal ? signal : json_null(), "exec_error",
		o && o->exec_error ? json_string(strerrorname_np(o->exec_error)) : json_null());
}

static json_t *shared_json(json_t *value)
{
	return value ? json_incref(value) : json_null();
}

json_t *iso_result_make(const struct iso_result *r)
{
	bool failed = r->failure && r->failure->class != ISO_CLASS_NONE;
	struct utsname host;

	uname(&host);
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:o,"
		" s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
		"schema", ISO_RESULT_SCHEMA, "run", text_json(r->run), "task", text_json(r->task),
		"attempt", r->attempt ? json_integer(r->attempt) : json_null(), "manifest_sha256",
		text_json(r->manifest_sha256), "policy_digest", digest_json(r->policy_digest),
		"boundary", "shared-kernel", "kernel", host.release, "isoctl", ISO_VERSION, "uid",
		r->uid >= 0 ? json_integer(r->uid) : json_null(),

		"captured", time_json(r->captured_ms), "started", time_json(r->started_ms), "ended",
		time_json(r->ended_ms), "exit", exit_json(r->outcome), "stop_reason",
		text_json(r->outcome ? iso_stop_word(r->outcome->stop) : NULL), "error",
		failed ? iso_failure_json(r->failure) : json_null(), "events",
		shared_json(r->events), "refusals", shared_json(r->refusals), "usage",
		shared_json(r->usage), "settled", r->settled);
}
