/* SPDX-License-Identifier: BSD-2-Clause */
/* The methods of io.isoctl.Agent and org.varlink.service. Parameters have been held to their types.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "isod/daemon.h"
#include "run/trees.h"
#include "run/interfaces.h"

static const char *text(json_t *parameters, const char *name)
{
	return json_string_value(json_object_get(parameters, name));
}

/* A caller sees its own runs, root all; what it may not see is not there. */
static bool sees(const struct iso_connection *c, const struct iso_supervised *run)
{
	return c->caller.uid == 0 || c->caller.uid == run->capture->caller.uid;
}

static struct iso_supervised *find_run(struct iso_connection *c, json_t *parameters)
{
	const char *name = text(parameters, "run");

	for (struct iso_supervised *run = c->daemon->runs; run; run = run->next)
		if (strcmp(run->capture->run, name) == 0 && sees(c, run))
			return run;
	iso_reply_error(c, "NoSuchRun", json_pack("{s:s}", "run", name));
	return NULL;
}

/* ------------------------------------------------------------------------------ Capture */

static json_t *findings_json(const struct iso_findings *findings)
{
	json_t *list = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		const struct iso_finding *f = &findings->items[i];

		json_array_append_new(list,
				      json_pack("{s:i, s:i, s:s, s:s, s:s}", "line", (int)f->line,
						"column", (int)f->column, "pointer", f->pointer,
						"message", f->message, "code", f->code));
	}
	return list;
}

static json_t *host_paths(const struct iso_policy *policy)
{
	json_t *list = json_array();

	for (size_t i = 0; i < policy->tree_count; i++)
		if (policy->trees[i].kind == ISO_TREE_HOST)
			json_array_append_new(list, json_string(policy->trees[i].path));
	return list;
}

static json_t *input_sources(const struct iso_manifest *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->filesystem.input_count; i++)
		json_array_append_new(list, json_string(m->filesystem.inputs[i].source));
	return list;
}

static int admit(struct iso_connection *c, const struct iso_capture_request *request,
		 struct iso_supervised **ret, struct iso_findings *findings, struct iso_failure *f)
{
	struct iso_daemon *d = c->daemon;
	struct iso_capture *capture;
	struct iso_supervised *run;
	int r;

	r = iso_capture_new(request, &capture, findings, f);
	if (r < 0)
		return r;
	r = iso_peer_may_seal(d, capture, findings, f);
	if (r == 0)
		r = iso_capture_commit(capture, d->state_fd, d->run_fd, f);
	run = r == 0 ? iso_supervise_new(&d->host, capture) : NULL;
	if (!run) {
		iso_capture_free(capture);
		return r < 0 ? r
			     : iso_failure_set(f, ISO_CLASS_SETUP, -ENOMEM, "capture", NULL,
					       "out of memory");
	}
	run->next = d->runs;
	d->runs = run;
	*ret = run;
	return 0;
}

static void capture_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	json_t *manifest = json_object_get(parameters, "manifest");
	struct iso_capture_request request = {
		.manifest = json_string_value(manifest),
		.size = json_string_length(manifest),
		.command = json_object_get(parameters, "command"),
		.environment = json_object_get(parameters, "environment"),
		.caller = &c->caller,
	};
	struct iso_findings findings = {0};
	struct iso_failure failure = {0};
	const struct iso_capture *capture;
	struct iso_supervised *run = NULL;

	(void)fds;
	if (c->daemon->refusal.class != ISO_CLASS_NONE) {
		iso_reply_failure(c, &c->daemon->refusal);
		return;
	}
	if (admit(c, &request, &run, &findings, &failure) < 0 || !run) {
		if (findings.count)
			iso_reply_error(c, "InvalidManifest",
					json_pack("{s:o, s:o}", "failure",
						  iso_failure_json(&failure), "findings",
						  findings_json(&findings)));
		else
			iso_reply_failure(c, &failure);
		iso_findings_free(&findings);
		return;
	}
	capture = run->capture;
	iso_reply(c,
		  json_pack("{s:s, s:I, s:s, s:o, s:o}", "run", capture->run, "attempt",
			    (json_int_t)capture->attempt, "manifest_sha256",
			    capture->manifest_sha256, "host_paths", host_paths(capture->policy),
			    "input_sources", input_sources(capture->manifest)),
		  false, NULL, 0);
}

/* ------------------------------------------------------------------------------ Launch */

/*
 * Orders the descriptors of the message as the two lists say. Each must be named exactly once;
 * those taken are -1 in *fds, so that the rest is closed with it.
 */
static const char *take_fds(json_t *list, struct iso_fds *fds, int *out)
{
	size_t i;
	json_t *index;

	json_array_foreach (list, i, index) {
		json_int_t n = json_integer_value(index);

		if (n < 0 || (size_t)n >= fds->count || fds->fds[n] < 0)
			return "descriptors";
		out[i] = iso_take_fd(&fds->fds[n]);
	}
	return NULL;
}

static const char *order_fds(const struct iso_supervised *run, json_t *parameters,
			     struct iso_fds *fds, int out[ISO_VARLINK_FDS_MAX], size_t *ret_count)
{
	json_t *hosts = json_object_get(parameters, "host_fds");
	json_t *inputs = json_object_get(parameters, "input_fds");
	size_t host_count = json_array_size(hosts), input_count = json_array_size(inputs);
	const char *wrong;

	*ret_count = 0;
	if (host_count != iso_supervise_host_count(run->capture->policy))
		return "host_fds";
	if (input_count != run->capture->manifest->filesystem.input_count)
		return "input_fds";
	if (host_count + input_count != fds->count)
		return "descriptors";
	for (size_t i = 0; i < fds->count; i++)
		out[i] = -1;
	*ret_count = fds->count;
	wrong = take_fds(hosts, fds, out);
	return wrong ? wrong : take_fds(inputs, fds, out + host_count);
}

static void invalid(struct iso_connection *c, const char *parameter)
{
	c->call.interface = c->daemon->service;
	iso_reply_error(c, "InvalidParameter", json_pack("{s:s}", "parameter", parameter));
}

static json_t *progress_json(const struct iso_supervised *run)
{
	json_t *p = json_pack("{s:s}", "state", iso_state_word(run->life.state));

	if (run->pid)
		json_object_set_new(p, "pid", json_integer(run->pid));
	return p;
}

static void launch_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	static const char *const names[3] = {"stdin", "stdout", "stderr"};
	struct iso_supervised *run = find_run(c, parameters);
	int order[ISO_VARLINK_FDS_MAX], pipes[3], out[3];
	struct iso_failure failure = {0};
	size_t count, n = 0;
	const char *wrong;
	json_t *reply;

	if (!run)
		return;
	if (!c->call.more || c->call.oneway) {
		c->call.interface = c->daemon->service;
		iso_reply_error(c, "ExpectedMore", json_object());
		return;
	}
	if (run->life.state != ISO_STATE_RUN_CAPTURED ||
	    run->capture->caller.uid != c->caller.uid) {
		invalid(c, "run");
		return;
	}
	wrong = order_fds(run, parameters, fds, order, &count);
	if (wrong) {
		for (size_t i = 0; i < count; i++)
			iso_close_fd(&order[i]);
		invalid(c, wrong);
		return;
	}
	fds->count = 0; /* all of them are taken */
	if (run->capture->caller.uid != 0 &&
	    iso_trees_verify(run->capture->policy, order, &failure) < 0) {
		for (size_t i = 0; i < count; i++)
			iso_close_fd(&order[i]);
		iso_supervise_stop(run, ISO_STOP_SETUP_FAILURE, true);
		iso_reply_failure(c, &failure);
		return;
	}
	if (iso_supervise_launch(run, order, count, pipes, &failure) < 0) {
		iso_supervise_stop(run, ISO_STOP_SETUP_FAILURE, true);
		iso_reply_failure(c, &failure);
		return;
	}
	c->launched = run;
	c->due = c->call;
	reply = progress_json(run);
	for (int i = 0; i < 3; i++) {
		if (pipes[i] < 0)
			continue;
		json_object_set_new(reply, names[i], json_integer((json_int_t)n));
		out[n++] = pipes[i];
	}
	iso_reply(c, reply, true, out, n);
}

static void tell_launcher(struct iso_connection *c, struct iso_supervised *run)
{
	bool last = run->life.state == ISO_STATE_RUN_SETTLED;
	json_t *reply = progress_json(run);

	if (last) {
		c->launched = NULL;
		c->active_ns = iso_monotonic_ns();
		json_object_set(reply, "result", run->result);
	}
	iso_reply(c, reply, !last, NULL, 0);
}

static void tell_waiter(struct iso_connection *c, struct iso_supervised *run)
{
	if (run->life.state != ISO_STATE_RUN_SETTLED)
		return;
	c->awaited = NULL;
	c->active_ns = iso_monotonic_ns();
	iso_reply(c, json_pack("{s:O}", "result", run->result), false, NULL, 0);
}

/* Runs are freed, and held calls resumed, at the end of the loop's round, never from here. */
void iso_daemon_changed(void *context, struct iso_supervised *run)
{
	struct iso_daemon *d = context;

	for (struct iso_connection *c = d->connections; c; c = c->next) {
		struct iso_call now = c->call; /* a Cancel, perhaps, that brought this about */

		if (c->dead || (c->launched != run && c->awaited != run))
			continue;
		c->call = c->due;
		if (c->launched == run)
			tell_launcher(c, run);
		else
			tell_waiter(c, run);
		c->call = now;
	}
}

/* ------------------------------------------------------------------------------ the rest */

static void cancel_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	const char *reason = text(parameters, "reason");
	struct iso_supervised *run = find_run(c, parameters);
	enum iso_stop stop = ISO_STOP_CANCELLED;

	(void)fds;
	if (!run)
		return;
	if (strcmp(reason, "capture_failure") == 0)
		stop = ISO_STOP_CAPTURE_FAILURE;
	else if (strcmp(reason, "limit_log") == 0)
		stop = ISO_STOP_LIMIT_LOG;
	iso_supervise_stop(run, stop, json_is_true(json_object_get(parameters, "kill")));
	iso_reply(c, json_object(), false, NULL, 0);
}

static void wait_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	struct iso_supervised *run = find_run(c, parameters);

	(void)fds;
	if (!run || c->call.oneway)
		return;
	c->awaited = run;
	c->due = c->call;
	tell_waiter(c, run);
}

static void list_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	json_t *list = json_array();

	(void)parameters;
	(void)fds;
	for (const struct iso_supervised *run = c->daemon->runs; run; run = run->next)
		if (sees(c, run) && run->life.state != ISO_STATE_RUN_SETTLED)
			json_array_append_new(list, iso_supervise_json(run));
	iso_reply(c, json_pack("{s:o}", "runs", list), false, NULL, 0);
}

static void inspect_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	struct iso_supervised *run = find_run(c, parameters);

	(void)fds;
	if (run)
		iso_reply(c, json_pack("{s:o}", "run", iso_supervise_json(run)), false, NULL, 0);
}

json_t *iso_features_json(void)
{
	json_t *list = json_array();
	size_t count;
	const struct iso_feature *features = iso_features(&count);

	for (size_t i = 0; i < count; i++) {
		const struct iso_feature *f = &features[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:b, s:b, s:o}", "name", f->name,
						"sentence", f->sentence, "remedy",
						f->remedy ? f->remedy : "", "required", f->required,
						"present", f->present, "error",
						f->present || !f->error
							? json_null()
							: json_string(strerrorname_np(-f->error))));
	}
	return list;
}

static void features_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	(void)parameters;
	(void)fds;
	iso_reply(c, json_pack("{s:o}", "features", iso_features_json()), false, NULL, 0);
}

static void info_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	(void)parameters;
	(void)fds;
	iso_reply(c,
		  json_pack("{s:s, s:s, s:s, s:s, s:[s, s]}", "vendor", "isoctl", "product", "isod",
			    "version", ISO_VERSION, "url", "", "interfaces", "org.varlink.service",
			    ISO_AGENT),
		  false, NULL, 0);
}

static void description_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	const char *name = text(parameters, "interface"), *description;

	(void)fds;
	if (strcmp(name, ISO_AGENT) == 0) {
		description = iso_interface_agent;
	} else if (strcmp(name, "org.varlink.service") == 0) {
		description = iso_interface_service;
	} else {
		iso_reply_error(c, "InterfaceNotFound", json_pack("{s:s}", "interface", name));
		return;
	}
	iso_reply(c, json_pack("{s:s}", "description", description), false, NULL, 0);
}

static const struct {
	const char *interface, *name;
	iso_method_fn fn;
	bool takes_fds;
} methods[] = {
	{"org.varlink.service", "GetInfo", info_method, false},
	{"org.varlink.service", "GetInterfaceDescription", description_method, false},
	{ISO_AGENT, "Capture", capture_method, false},
	{ISO_AGENT, "Launch", launch_method, true},
	{ISO_AGENT, "Cancel", cancel_method, false},
	{ISO_AGENT, "Wait", wait_method, false},
	{ISO_AGENT, "List", list_method, false},
	{ISO_AGENT, "Inspect", inspect_method, false},
	{ISO_AGENT, "Features", features_method, false},
	{ISO_AGENT, "Guard", iso_guard_method, false},
	{ISO_AGENT, "Release", iso_release_method, false},
};

iso_method_fn iso_method_find(const char *interface, const char *name, bool *ret_takes_fds)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		if (strcmp(methods[i].interface, interface) != 0 ||
		    strcmp(methods[i].name, name) != 0)
			continue;
		*ret_takes_fds = methods[i].takes_fds;
		return methods[i].fn;
	}
	return NULL;
}
