/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as OCSF 1.8.0 (https://schema.ocsf.io/1.8.0). Which kind is which class is one table;
 * what the classes share is built here, what is special to one in ocsf_class.c. Attributes keep the
 * order in which they are set, so that equal records give equal bytes.
 */
#include "event/ocsf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "event/names.h"
#include "iso_abi.h"

#define OCSF_VERSION "1.8.0"

enum { SUCCESS = 1, FAILURE = 2, NEW = 1 };		     /* status_id; NEW of a finding */
enum { DENIED = 2, OBSERVED = 3, BLOCKED = 2, LOGGED = 17 }; /* action_id, disposition_id */

static const struct iso_ocsf_class classes[ISO_RECORD_KINDS] = {
	[ISO_RECORD_FILE] = {1001, 1, 3, FAILURE, true, iso_ocsf_file},
	[ISO_RECORD_ABSENT] = {1001, 1, 3, FAILURE, true, iso_ocsf_file},
	[ISO_RECORD_NET] = {4001, 4, 3, FAILURE, true, iso_ocsf_network},
	[ISO_RECORD_EXEC] = {1007, 1, 3, FAILURE, true, iso_ocsf_exec},
	[ISO_RECORD_KERNEL] = {1003, 1, 3, FAILURE, true, iso_ocsf_kernel},
	[ISO_RECORD_TAMPER] = {2004, 2, 5, NEW, true, iso_ocsf_finding},
	[ISO_RECORD_STARTED] = {1007, 1, 1, SUCCESS, false, iso_ocsf_process},
	[ISO_RECORD_ENDED] = {1007, 1, 1, SUCCESS, false, iso_ocsf_process},
	[ISO_RECORD_SURVIVOR] = {1007, 1, 3, SUCCESS, true, iso_ocsf_process},
	[ISO_RECORD_LIMIT] = {2004, 2, 3, NEW, false, iso_ocsf_finding},
	[ISO_RECORD_STATE] = {5019, 5, 1, SUCCESS, false, iso_ocsf_state},
	[ISO_RECORD_GAP] = {2004, 2, 3, NEW, false, iso_ocsf_finding},
};

/* A value that could not be allocated: a line with such a hole must not go out. */
static _Thread_local bool incomplete;

void iso_json_put(json_t *o, const char *key, json_t *value)
{
	if (json_object_set_new(o, key, value))
		incomplete = true;
}

json_t *iso_json_text(const char *s, size_t n)
{
	char out[4 * ISO_RECORD_TEXT];

	return json_string(iso_text_escape(s, n, out, sizeof out));
}

void iso_json_number(json_t *o, const char *key, uint64_t n)
{
	if (n)
		iso_json_put(o, key, json_integer((json_int_t)n));
}

json_t *iso_json_path(const char *path, bool truncated)
{
	char whole[ISO_RECORD_TEXT + 4];
	int n = snprintf(whole, sizeof whole, "%s%s", truncated ? "..." : "", path);

	return iso_json_text(whole, (size_t)n);
}

json_t *iso_ocsf_file_object(const char *path, bool truncated, uint32_t mode)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;
	int type = 0;

	/* type_id: 1 regular, 2 folder, 3 character, 4 block device, 5 socket, 6 pipe, 7 link */
	switch (mode & 0170000) {
	case 0100000:
		type = 1;
		break;
	case 0040000:
		type = 2;
		break;
	case 0020000:
		type = 3;
		break;
	case 0060000:
		type = 4;
		break;
	case 0140000:
		type = 5;
		break;
	case 0010000:
		type = 6;
		break;
	case 0120000:
		type = 7;
		break;
	}
	if (!*path)
		return json_pack("{s:s, s:i}", "name", "(no name)", "type_id", type);
	return json_pack("{s:o, s:o, s:i}", "path", iso_json_path(path, truncated), "name",
			 iso_json_text(name, strlen(name)), "type_id", type);
}

json_t *iso_ocsf_process_object(const struct iso_run *run, uint64_t exec, uint32_t pid)
{
	const struct iso_known_program *program = iso_run_program(run, exec);
	char uid[24];
	json_t *p;

	if (run->sandbox == ISO_RUN_HOST) { /* in no sandbox, so without a number in one */
		snprintf(uid, sizeof uid, "host:%u", pid);
		p = json_pack("{s:s}", "uid", uid);
	} else {
		snprintf(uid, sizeof uid, "%" PRIu64, exec);
		p = json_pack("{s:s, s:s, s:{s:s, s:s}}", "uid", uid, "sandbox", run->run_id,
			      "container", "uid", run->run_id, "name", run->task_id);
	}
	iso_json_number(p, "pid", pid);
	if (program && program->start_time)
		iso_json_number(p, "created_time", program->start_time / 1000000);
	if (program && program->command_line)
		iso_json_put(p, "cmd_line", json_string(program->command_line));
	if (program && program->path)
		iso_json_put(p, "file", iso_ocsf_file_object(program->path, false, 0100000));
	return p;
}

/* The program that acted, as far as it is known. */
static json_t *actor(const struct iso_run *run, const struct iso_record *r)
{
	json_t *p = iso_ocsf_process_object(run, r->exec, r->pid);
	char uid[16];

	if (r->comm[0])
		iso_json_put(p, "name", iso_json_text(r->comm, strnlen(r->comm, 16)));
	if (r->program[0])
		iso_json_put(p, "file", iso_ocsf_file_object(r->program, false, 0100000));
	iso_json_number(p, "tid", r->tid);
	iso_json_number(p, "namespace_pid", r->ns_pid);
	if (r->ppid)
		iso_json_put(p, "parent_process", json_pack("{s:i}", "pid", (int)r->ppid));
	if (r->pid) {
		snprintf(uid, sizeof uid, "%u", r->uid);
		iso_json_put(p, "user", json_pack("{s:s}", "uid", uid));
	}
	return json_pack("{s:o}", "process", p);
}

static json_t *metadata(const struct iso_run *run, uint64_t sequence)
{
	char uid[160];
	json_t *m;

	snprintf(uid, sizeof uid, "%s:%" PRIu64, run->run_id, sequence);
	m = json_pack("{s:s, s:s, s:I, s:s, s:O, s:[s,s,s]}", "version", OCSF_VERSION, "uid", uid,
		      "sequence", (json_int_t)sequence, "correlation_uid", run->run_id, "product",
		      run->product, "profiles", "security_control", "host", "container");
	if (json_array_size(run->labels))
		iso_json_put(m, "labels", json_incref(run->labels));
	return m;
}

static void set_verdict(json_t *o, const struct iso_run *run, const struct iso_record *r,
			const struct iso_ocsf_class *class)
{
	const struct iso_reason_name *reason = iso_reason_find(r->reason);
	char scratch[24], number[16];
	const char *rule;

	iso_json_put(o, "status_id", json_integer(class->status));
	if (r->error)
		iso_json_put(o, "status_code", json_string(iso_errno_name(r->error, number)));
	if (reason)
		iso_json_put(o, "status_detail", json_string(reason->sentence));
	iso_json_put(o, "action_id", json_integer(class->denial ? DENIED : OBSERVED));
	iso_json_put(o, "disposition_id", json_integer(class->denial ? BLOCKED : LOGGED));
	iso_json_put(o, "policy",
		     json_pack("{s:s, s:s, s:s}", "uid", run->manifest_sha256, "name", run->task_id,
			       "version", "1"));
	if (!iso_record_is_refusal(r))
		return;
	rule = iso_run_rule(run, r->rule, scratch);
	iso_json_put(o, "firewall_rule",
		     json_pack("{s:o, s:s}", "uid", iso_json_text(rule, strlen(rule)), "name",
			       reason ? reason->word : "unknown"));
}

/* What OCSF has no place for. */
static json_t *unmapped(const struct iso_run *run, const struct iso_record *r)
{
	const struct iso_hook_name *hook = iso_hook_find(r->hook);
	const struct iso_reason_name *reason = iso_reason_find(r->reason);
	json_t *u = json_pack("{s:s, s:s, s:I, s:I, s:s, s:i}", "prev", run->head, "kind",
			      iso_record_kind_word(r->kind), "sandbox", (json_int_t)run->sandbox,
			      "cgroup_id", (json_int_t)run->cgroup_id, "task", run->task_id,
			      "attempt", (int)run->attempt);

	if (hook) {
		iso_json_put(u, "hook", json_string(hook->name));
		iso_json_put(u, "operation", json_string(iso_hook_verb(r->hook, r->wanted)));
	}
	if (reason)
		iso_json_put(u, "reason", json_string(reason->word));
	iso_json_number(u, "ns_pid", r->ns_pid);
	iso_json_number(u, "kernel_sequence", r->kernel_sequence);
	if (r->expected)
		iso_json_put(u, "expected", json_true());
	return u;
}

/* Who acted is only left out where nobody of the sandbox did. */
static bool has_actor(const struct iso_record *r)
{
	switch (r->kind) {
	case ISO_RECORD_STATE:
	case ISO_RECORD_GAP:
	case ISO_RECORD_LIMIT:
		return r->pid || r->exec;
	default:
		return true;
	}
}

char *iso_ocsf_encode(const struct iso_run *run, const struct iso_record *r, uint64_t sequence)
{
	const struct iso_ocsf_class *class = &classes[r->kind];
	int activity, severity = class->severity;
	json_t *o, *u;
	char *line;

	incomplete = false;
	o = json_object();
	u = unmapped(run, r);
	if (r->expected)
		severity = 1;
	if (r->kind == ISO_RECORD_STATE && r->state == ISO_RUN_QUARANTINED)
		severity = 4;
	iso_json_put(o, "class_uid", json_integer(class->uid));
	iso_json_put(o, "category_uid", json_integer(class->category));
	iso_json_put(o, "severity_id", json_integer(severity));
	iso_json_put(o, "time", json_integer((json_int_t)(r->time / 1000000)));
	if (r->count > 1) {
		iso_json_put(o, "count", json_integer((json_int_t)r->count));
		iso_json_number(o, "start_time", r->first_time / 1000000);
		iso_json_number(o, "end_time", r->time / 1000000);
	}
	iso_json_put(o, "metadata", metadata(run, sequence));
	set_verdict(o, run, r, class);
	if (has_actor(r))
		iso_json_put(o, "actor", actor(run, r));
	iso_json_put(o, "device", json_incref(run->device));
	activity = class->encode(o, u, run, r, sequence);
	iso_json_put(o, "activity_id", json_integer(activity));
	iso_json_put(o, "type_uid", json_integer(class->uid * 100 + activity));
	iso_json_put(o, "unmapped", json_pack("{s:o}", "isoctl", u));
	line = incomplete ? NULL : json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return line;
}
