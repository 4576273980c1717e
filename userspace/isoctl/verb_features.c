/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl features: what this host can and cannot enforce. */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "isoctl/features.h"
#include "isoctl/isoctl.h"
#include "isoctl/seal.h"

#define EXIT_MISSING 1

static bool is(json_t *feature, const char *name)
{
	return json_is_true(json_object_get(feature, name));
}

static const char *text(json_t *feature, const char *name)
{
	const char *s = json_string_value(json_object_get(feature, name));

	return s ? s : "";
}

static void print_feature(json_t *feature)
{
	bool colour = isatty(STDOUT_FILENO);
	const char *word = is(feature, "present")    ? "yes"
			   : is(feature, "required") ? "MISSING"
						     : "no";
	const char *paint = !colour ? "" : is(feature, "present") ? "\033[32m" : "\033[31m";

	printf("%s%-8s%s %-28s %s", paint, word, colour ? "\033[0m" : "", text(feature, "name"),
	       text(feature, "sentence"));
	if (*text(feature, "error"))
		printf(" (%s)", text(feature, "error"));
	putchar('\n');
	if (!is(feature, "present") && *text(feature, "remedy"))
		printf("%-37s -> %s\n", "", text(feature, "remedy"));
}

int verb_features(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"socket", required_argument, NULL, 's'}, {0}};
	struct iso_failure f = {0};
	const char *socket = NULL;
	json_t *features, *feature;
	size_t i, missing = 0;
	bool json = false;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'j')
			json = true;
		else if (c == 's')
			socket = optarg;
		else
			return isoctl_usage("features", "no option is named %s", argv[optind - 1]);
	}
	if (optind < argc)
		return isoctl_usage("features", "unexpected argument: %s", argv[optind]);
	if (isoctl_features(socket, &features, &f) < 0) {
		seal_say_failure("failed", &f);
		return EXIT_MISSING;
	}
	json_array_foreach (features, i, feature) {
		missing += is(feature, "required") && !is(feature, "present");
		if (!json)
			print_feature(feature);
	}
	if (json) {
		json_dumpf(features, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (missing) {
		printf("\n%zu required features are missing; isoctl doctor says what to do\n",
		       missing);
	} else {
		printf("\nthis host can enforce everything that is required\n");
	}
	json_decref(features);
	return fflush(stdout) || missing ? EXIT_MISSING : 0;
}
