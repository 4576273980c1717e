/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl seal: one command, held to one manifest. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "isoctl/findings.h"
#include "isoctl/isoctl.h"
#include "isoctl/seal.h"
#include "run/result.h"

/* What went wrong on this side after the run had begun outranks how the command then ended. */
static enum iso_stop stop_of(const struct seal_session *s)
{
	if (!s->pumping)
		return ISO_STOP_NONE;
	switch (s->pump.trouble) {
	case ISO_PUMP_FINE:
		return ISO_STOP_NONE;
	case ISO_PUMP_OVER_LIMIT:
		return ISO_STOP_LIMIT_LOG;
	case ISO_PUMP_NOT_UTF8:
	case ISO_PUMP_LOST:
		return ISO_STOP_CAPTURE_FAILURE;
	}
	return ISO_STOP_NONE;
}

/* A run without a result of isod's: refused, or lost with it. */
static json_t *own_result(const struct seal_session *s, const struct iso_failure *f)
{
	struct iso_outcome outcome = {.started = s->running};
	struct iso_result r = {
		.run = s->run,
		.task = s->manifest ? s->manifest->task.id : NULL,
		.attempt = (uint32_t)s->attempt,
		.manifest_sha256 = s->sha256,
		.outcome = &outcome,
		.failure = f,
		.uid = (long)getuid(),
		.settled = !s->launched,
	};

	if (s->launched)
		outcome.stop = ISO_STOP_SUPERVISOR_LOST;
	return iso_result_make(&r);
}

/* The command had ended before the agent could be told that its output was not in order. */
static void add_stop(json_t *result, enum iso_stop stop)
{
	struct iso_outcome outcome = {.started = true, .stop = stop};
	struct iso_failure f = {0};

	if (stop == ISO_STOP_NONE || !json_is_null(json_object_get(result, "stop_reason")) ||
	    !json_is_true(json_object_get(json_object_get(result, "exit"), "started")))
		return;
	iso_failure_stop(&f, stop);
	json_object_set_new(result, "stop_reason", json_string(iso_stop_word(stop)));
	json_object_set_new(result, "error", iso_failure_json(&f));
	json_object_set_new(json_object_get(result, "exit"), "status",
			    json_integer(iso_outcome_status(&outcome)));
}

static void add_output(const struct seal_session *s, json_t *result)
{
	if (!s->pumping)
		return;
	json_object_set_new(result, "output",
			    json_pack("{s:I, s:I, s:b}", "stdout_bytes",
				      (json_int_t)s->pump.output[0].bytes, "stderr_bytes",
				      (json_int_t)s->pump.output[1].bytes, "complete",
				      s->pump.trouble == ISO_PUMP_FINE));
}

/* Reads and checks the manifest as `isoctl validate` does. */
static int prepare(struct seal_session *s, char **ret_text, struct iso_failure *f)
{
	struct iso_findings findings = {0};
	struct iso_error e = {0};
	size_t size = 0;
	int r;

	r = isoctl_read_manifest(s->options->manifest, ret_text, &size);
	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_UNREADABLE, r, "manifest", NULL,
				       "the manifest cannot be read: %m");
	s->text = *ret_text;
	r = iso_manifest_parse(*ret_text, size, &s->manifest, &findings);
	isoctl_print_findings(stderr, s->options->manifest, &findings, s->options->json);
	iso_findings_free(&findings);
	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_MANIFEST, r, "manifest",
				       "mend what is listed above",
				       r == -EINVAL ? "the manifest is not valid"
						    : "the manifest cannot be checked: %m");
	r = iso_policy_compile(s->manifest, &s->policy, &e);
	if (r < 0)
		iso_failure_wrap(f, ISO_CLASS_POLICY, &e);
	return r;
}

static void print_findings(const struct seal_session *s)
{
	json_t *finding;
	size_t i;

	json_array_foreach (s->findings, i, finding) {
		fprintf(stderr, "%s:%lld:%lld: %s: %s\n", s->options->manifest,
			(long long)json_integer_value(json_object_get(finding, "line")),
			(long long)json_integer_value(json_object_get(finding, "column")),
			json_string_value(json_object_get(finding, "pointer")),
			json_string_value(json_object_get(finding, "message")));
	}
}

/* Says how it went, to people and to the result file; returns the exit status. */
static int conclude(struct seal_session *s, struct seal_file *file, const struct iso_failure *f)
{
	struct iso_failure write_failure = {0};
	json_t *result = s->result ? json_incref(s->result) : own_result(s, f);
	int status;

	add_stop(result, stop_of(s));
	add_output(s, result);
	status =
		(int)json_integer_value(json_object_get(json_object_get(result, "exit"), "status"));
	if (s->findings)
		print_findings(s);
	if (!s->result)
		seal_say_failure(s->launched ? "lost" : "refused", f);
	if (s->run)
		seal_account(s, result);
	if (file->fd >= 0 && seal_file_commit(file, result, &write_failure) < 0) {
		/* The run is over: its status stands, but nobody may take it for recorded. */
		seal_say_failure("failed", &write_failure);
		if (status == 0)
			status = ISO_EXIT_REFUSED;
	}
	json_decref(result);
	return status;
}

static int seal(const struct seal_options *o)
{
	struct seal_file file = {.directory = -1, .fd = -1};
	struct seal_session s = {.options = o};
	ISO_AUTO_FREE char *text = NULL;
	struct iso_failure f = {0};
	int r = 0, status;

	if (o->result)
		r = seal_file_open(o->result, &file, &f);
	if (r == 0)
		r = prepare(&s, &text, &f);
	if (r == 0)
		seal_session_run(&s, &f);
	status = conclude(&s, &file, &f);
	seal_file_abandon(&file);
	seal_session_free(&s);
	return status;
}

static int misuse(const char *option)
{
	isoctl_usage("seal", "no option is named %s, or it lacks its value", option);
	return ISO_EXIT_REFUSED;
}

int verb_seal(int argc, char **argv)
{
	static const struct option options[] = {
		{"result", required_argument, NULL, 'r'}, {"socket", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},	  {"quiet", no_argument, NULL, 'q'},
		{"private", no_argument, NULL, 'p'},	  {0}};
	struct seal_options o = {0};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+q", options, NULL)) != -1) {
		if (c == 'r')
			o.result = optarg;
		else if (c == 's')
			o.socket = optarg;
		else if (c == 'j')
			o.json = true;
		else if (c == 'q')
			o.quiet = true;
		else if (c == 'p')
			o.private = true;
		else
			return misuse(argv[optind - 1]);
	}
	if (optind == argc) {
		isoctl_usage("seal", "name the manifest to seal");
		return ISO_EXIT_REFUSED;
	}
	o.manifest = argv[optind++];
	if (optind < argc && strcmp(argv[optind], "--") != 0) {
		isoctl_usage("seal", "write -- between the manifest and the command");
		return ISO_EXIT_REFUSED;
	}
	o.command = argv + optind + (optind < argc);
	return seal(&o);
}
