/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl ps and isoctl stop: the runs of this host that the caller may see. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "isoctl/isoctl.h"
#include "isoctl/seal.h"
#include "run/clock.h"

#define EXIT_FAILED 1

static int call(const char *socket, const char *method, json_t *parameters, json_t **ret)
{
	const struct iso_client_options o = {.socket = socket};
	struct iso_failure f = {0};
	struct iso_client *client = NULL;
	int r = iso_client_open(&o, &client, &f);

	if (r == 0)
		r = iso_client_call(client, method, parameters, ret, &f);
	else
		json_decref(parameters);
	iso_client_free(client);
	if (r < 0)
		seal_say_failure("failed", &f);
	return r;
}

static const char *text(json_t *run, const char *name)
{
	const char *s = json_string_value(json_object_get(run, name));

	return s ? s : "-";
}

/* "1h02m", "3m20s", "14s" */
static void age(uint64_t ms, char out[16])
{
	unsigned long long s = ms / 1000;

	if (s >= 3600)
		snprintf(out, 16, "%lluh%02llum", s / 3600 % 100000, s / 60 % 60);
	else if (s >= 60)
		snprintf(out, 16, "%llum%02llus", s / 60, s % 60);
	else
		snprintf(out, 16, "%llus", s);
}

static void print_runs(json_t *runs)
{
	uint64_t now = iso_realtime_ms();
	json_t *run;
	size_t i;

	if (json_array_size(runs) == 0) {
		fprintf(stderr, "no run of yours is under way\n");
		return;
	}
	printf("%-40s %-9s %8s %8s %6s\n", "RUN", "STATE", "AGE", "UID", "PID");
	json_array_foreach (runs, i, run) {
		json_int_t captured = json_integer_value(json_object_get(run, "captured_ms"));
		char since[16];

		age(now > (uint64_t)captured ? now - (uint64_t)captured : 0, since);
		printf("%-40s %-9s %8s %8lld %6lld\n", text(run, "run"), text(run, "state"), since,
		       (long long)json_integer_value(json_object_get(run, "uid")),
		       (long long)json_integer_value(json_object_get(run, "pid")));
	}
}

int verb_ps(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"socket", required_argument, NULL, 's'}, {0}};
	const char *socket = NULL;
	bool json = false;
	json_t *reply, *runs;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'j')
			json = true;
		else if (c == 's')
			socket = optarg;
		else
			return isoctl_usage("ps", "no option is named %s", argv[optind - 1]);
	}
	if (optind < argc)
		return isoctl_usage("ps", "unexpected argument: %s", argv[optind]);
	if (call(socket, "List", json_object(), &reply) < 0)
		return EXIT_FAILED;
	runs = json_object_get(reply, "runs");
	if (json && (json_dumpf(runs, stdout, JSON_INDENT(2)) < 0 || putchar('\n') == EOF))
		c = EXIT_FAILED;
	else if (!json)
		print_runs(runs);
	json_decref(reply);
	return fflush(stdout) || c == EXIT_FAILED ? EXIT_FAILED : 0;
}

int verb_stop(int argc, char **argv)
{
	static const struct option options[] = {{"kill", no_argument, NULL, 'k'},
						{"wait", no_argument, NULL, 'w'},
						{"socket", required_argument, NULL, 's'},
						{0}};
	const char *socket = NULL;
	bool kill = false, wait = false;
	json_t *reply;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'k')
			kill = true;
		else if (c == 'w')
			wait = true;
		else if (c == 's')
			socket = optarg;
		else
			return isoctl_usage("stop", "no option is named %s", argv[optind - 1]);
	}
	if (optind + 1 != argc)
		return isoctl_usage("stop", "name one run; isoctl ps lists them");
	if (call(socket, "Cancel",
		 json_pack("{s:s, s:s, s:b}", "run", argv[optind], "reason", "cancelled", "kill",
			   kill),
		 &reply) < 0)
		return EXIT_FAILED;
	json_decref(reply);
	if (!wait)
		return 0;
	if (call(socket, "Wait", json_pack("{s:s}", "run", argv[optind]), &reply) < 0)
		return EXIT_FAILED;
	json_decref(reply);
	return 0;
}
