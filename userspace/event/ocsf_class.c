/* SPDX-License-Identifier: BSD-2-Clause */
/* What is special to each OCSF class; schema.ocsf.io/1.8.0/classes/NAME has the numbers. */
#include "event/ocsf.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "event/names.h"
#include "iso_abi.h"

enum { OPEN = 14 };		/* file_activity */
enum { LAUNCH = 1, TERMINATE }; /* process_activity */
enum { INVOKE = 4 };		/* kernel_activity */
enum { NET_OPEN = 1 };		/* network_activity */
enum { CREATE = 1 };		/* detection_finding */
enum { LOG = 1 };		/* device_config_state_change */
enum { LAUNCH_EXEC = 3 };	/* launch_type_id */
enum { INBOUND = 1, OUTBOUND }; /* direction_id */
enum { OTHER = 99 };

int iso_ocsf_file(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		  uint64_t sequence)
{
	json_t *file = iso_ocsf_file_object(r->path, r->path_truncated, r->mode);
	int activity = r->kind == ISO_RECORD_ABSENT ? OPEN : iso_hook_file_activity(r->hook);
	char uid[64];

	(void)run;
	(void)sequence;
	if (r->inode) {
		/* the kernel's dev_t: major << 20 | minor */
		snprintf(uid, sizeof uid, "%" PRIu64 ":%" PRIu64 ":%" PRIu64, r->device >> 20,
			 r->device & 0xfffff, r->inode);
		iso_json_put(file, "uid", json_string(uid));
	}
	iso_json_put(o, "file", file);
	iso_json_number(o, "access_mask", r->wanted);
	if (r->path2[0])
		iso_json_put(u, "path2", iso_json_path(r->path2, r->path2_truncated));
	if (activity == OTHER)
		iso_json_put(o, "activity_name", json_string(iso_hook_verb(r->hook, r->wanted)));
	return activity;
}

int iso_ocsf_network(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		     uint64_t sequence)
{
	bool inbound = r->hook == ISO_HOOK_socket_bind || r->hook == ISO_HOOK_socket_listen;
	json_t *end = json_object(), *connection;
	char text[INET6_ADDRSTRLEN];

	(void)run;
	(void)sequence;
	if (r->family == AF_INET || r->family == AF_INET6) {
		inet_ntop(r->family, r->address, text, sizeof text);
		iso_json_put(end, "ip", json_string(text));
		iso_json_put(end, "port", json_integer(r->port));
	} else if (r->family == AF_UNIX && r->path[0]) {
		iso_json_put(end, "name", iso_json_path(r->path, r->path_truncated));
	} else {
		snprintf(text, sizeof text, "family-%u", r->family);
		iso_json_put(end, "name", json_string(text));
	}
	iso_json_put(o, "dst_endpoint", end);
	connection = json_pack("{s:i, s:i}", "protocol_num", (int)r->protocol, "direction_id",
			       inbound ? INBOUND : OUTBOUND);
	if (r->protocol == IPPROTO_TCP || r->protocol == IPPROTO_UDP)
		iso_json_put(connection, "protocol_name",
			     json_string(r->protocol == IPPROTO_TCP ? "tcp" : "udp"));
	if (r->family == AF_INET || r->family == AF_INET6)
		iso_json_put(connection, "protocol_ver_id",
			     json_integer(r->family == AF_INET ? 4 : 6));
	iso_json_put(o, "connection_info", connection);
	iso_json_put(u, "family", json_integer(r->family));
	return NET_OPEN;
}

/* The refused program would have run in the acting process: its pid, another file. */
int iso_ocsf_exec(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		  uint64_t sequence)
{
	json_t *p = json_pack("{s:i, s:o}", "pid", (int)r->pid, "file",
			      iso_ocsf_file_object(r->path, r->path_truncated, r->mode));

	(void)u;
	(void)run;
	(void)sequence;
	iso_json_put(o, "process", p);
	iso_json_put(o, "launch_type_id", json_integer(LAUNCH_EXEC));
	return LAUNCH;
}

int iso_ocsf_process(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		     uint64_t sequence)
{
	json_t *p = iso_ocsf_process_object(run, r->exec, r->pid);

	(void)sequence;
	if (r->path[0])
		iso_json_put(p, "file", iso_ocsf_file_object(r->path, r->path_truncated, 0100000));
	iso_json_put(o, "process", p);
	if (r->kind == ISO_RECORD_STARTED) {
		iso_json_put(o, "launch_type_id", json_integer(LAUNCH_EXEC));
		return LAUNCH;
	}
	if (r->kind == ISO_RECORD_SURVIVOR)
		iso_json_put(o, "status_detail",
			     json_string("it outlived its parent; isoinit ended it"));
	else
		iso_json_put(o, "exit_code",
			     json_integer(r->signal ? 128 + r->signal : r->exit_code));
	iso_json_number(u, "signal", (uint64_t)r->signal);
	return TERMINATE;
}

int iso_ocsf_kernel(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		    uint64_t sequence)
{
	const struct iso_hook_name *hook = iso_hook_find(r->hook);
	const char *name = hook ? hook->name : "unknown";
	json_t *kernel = json_pack("{s:s, s:i, s:s}", "name", r->call[0] ? r->call : name,
				   "type_id", 2 /* System Call */, "system_call",
				   r->call[0] ? r->call : iso_hook_verb(r->hook, r->wanted));

	if (r->call[0])
		iso_json_put(u, "arguments", json_string(r->arguments));
	(void)run;
	(void)sequence;
	if (r->path[0])
		iso_json_put(kernel, "path", iso_json_path(r->path, r->path_truncated));
	iso_json_put(o, "kernel", kernel);
	return INVOKE;
}

static const char *finding_title(const struct iso_record *r, char out[96])
{
	if (r->kind == ISO_RECORD_GAP)
		snprintf(out, 96, "%" PRIu64 " events were lost: %s", r->lost,
			 iso_gap_cause_word(r->cause));
	else if (r->kind == ISO_RECORD_LIMIT)
		snprintf(out, 96, "The limit %.31s was reached", r->limit);
	else
		snprintf(out, 96, "The enforcement was reached for: %s",
			 iso_hook_verb(r->hook, r->wanted));
	return out;
}

int iso_ocsf_finding(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		     uint64_t sequence)
{
	static const char *const types[ISO_RECORD_KINDS] = {
		[ISO_RECORD_TAMPER] = "tamper",
		[ISO_RECORD_LIMIT] = "resource_limit",
		[ISO_RECORD_GAP] = "event_gap",
	};
	char uid[160], buffer[96];
	const char *title = finding_title(r, buffer);

	snprintf(uid, sizeof uid, "%s:%" PRIu64, run->run_id, sequence);
	iso_json_put(o, "finding_info",
		     json_pack("{s:s, s:o, s:[s]}", "uid", uid, "title",
			       iso_json_text(title, strlen(title)), "types", types[r->kind]));
	iso_json_put(o, "is_alert", json_boolean(r->kind == ISO_RECORD_TAMPER));
	if (r->kind == ISO_RECORD_GAP) {
		iso_json_put(u, "lost", json_integer((json_int_t)r->lost));
		iso_json_put(u, "first_seq", json_integer((json_int_t)r->first_seq));
		iso_json_put(u, "last_seq", json_integer((json_int_t)r->last_seq));
		iso_json_put(u, "cause", json_string(iso_gap_cause_word(r->cause)));
	} else if (r->kind == ISO_RECORD_LIMIT) {
		iso_json_put(u, "limit",
			     iso_json_text(r->limit, strnlen(r->limit, sizeof r->limit)));
		iso_json_put(u, "max", json_integer((json_int_t)r->max));
		iso_json_put(u, "observed", json_integer((json_int_t)r->observed));
	} else {
		json_t *p = iso_ocsf_process_object(run, r->exec, r->pid);

		if (r->comm[0])
			iso_json_put(p, "name", iso_json_text(r->comm, strnlen(r->comm, 16)));
		iso_json_put(o, "evidences", json_pack("[{s:o}]", "process", p));
		if (r->path[0])
			iso_json_put(u, "object", iso_json_path(r->path, r->path_truncated));
		iso_json_number(u, "target_pid", r->target_pid);
		iso_json_number(u, "signal", (uint64_t)r->signal);
		iso_json_number(u, "bpf_cmd", r->bpf_cmd);
		iso_json_number(u, "map_id", r->map_id);
		iso_json_number(u, "prog_id", r->prog_id);
		iso_json_number(u, "link_id", r->link_id);
	}
	return CREATE;
}

int iso_ocsf_state(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		   uint64_t sequence)
{
	static const char *const words[] = {
		[0] = "unknown",
		[ISO_RUN_SEALED] = "sealed",
		[ISO_RUN_UNSEALED] = "unsealed",
		[ISO_RUN_QUARANTINED] = "quarantined",
	};
	const char *word = words[r->state <= ISO_RUN_QUARANTINED ? r->state : 0];

	(void)u;
	(void)run;
	(void)sequence;
	iso_json_put(o, "state", json_string(word));
	iso_json_put(o, "state_id", json_integer(OTHER));
	iso_json_put(o, "security_states",
		     json_pack("[{s:s, s:i}]", "state", word, "state_id", OTHER));
	return LOG;
}
