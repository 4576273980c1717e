/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl: finds the verb. Everything else is in the verbs' own files. */
#include "isoctl/isoctl.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "manifest/suggest.h"

static const struct verb {
	const char *name;
	int (*function)(int argc, char **argv);
	const char *summary, *arguments, *help;
} verbs[] = {
#define VERB(name, function, summary, arguments, help) {name, function, summary, arguments, help},
#include "isoctl/verbs.def"
#undef VERB
};

#define VERBS (sizeof verbs / sizeof *verbs)

static bool is_help(const char *s)
{
	return s && (!strcmp(s, "--help") || !strcmp(s, "-h") || !strcmp(s, "help"));
}

/* The verb of one or two words at argv[0]; *ret_words is how many it took. */
static const struct verb *find(int argc, char **argv, int *ret_words)
{
	for (size_t i = 0; i < VERBS; i++) {
		const char *space = strchr(verbs[i].name, ' ');
		size_t n = space ? (size_t)(space - verbs[i].name) : strlen(verbs[i].name);

		if (argc < 1 || strlen(argv[0]) != n || strncmp(argv[0], verbs[i].name, n))
			continue;
		if (space && (argc < 2 || strcmp(argv[1], space + 1)))
			continue;
		*ret_words = space ? 2 : 1;
		return &verbs[i];
	}
	return NULL;
}

/* Is there a verb of two words that begins with this one? */
static bool is_group(const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < VERBS; i++)
		if (!strncmp(verbs[i].name, word, n) && verbs[i].name[n] == ' ')
			return true;
	return false;
}

static void print_verbs(FILE *out, const char *group)
{
	size_t n = group ? strlen(group) : 0;

	for (size_t i = 0; i < VERBS; i++)
		if (!group || (!strncmp(verbs[i].name, group, n) && verbs[i].name[n] == ' '))
			fprintf(out, "  %-17s %s\n", verbs[i].name, verbs[i].summary);
}

static void print_help(FILE *out)
{
	fputs("isoctl holds tasks of AI agents to a manifest, enforced by the host's kernel.\n"
	      "\n"
	      "usage: isoctl VERB [ARGUMENT...]\n"
	      "       isoctl VERB --help\n"
	      "       isoctl --version\n"
	      "\n",
	      out);
	print_verbs(out, NULL);
}

static void print_group(FILE *out, const char *group)
{
	fprintf(out, "usage: isoctl %s VERB [ARGUMENT...]\n\n", group);
	print_verbs(out, group);
}

void isoctl_help(FILE *out, const char *verb)
{
	for (size_t i = 0; i < VERBS; i++)
		if (!strcmp(verbs[i].name, verb))
			fprintf(out, "usage: isoctl %s %s\n\nisoctl %s: %s\n\n%s", verb,
				verbs[i].arguments, verb, verbs[i].summary, verbs[i].help);
}

int isoctl_usage(const char *verb, const char *format, ...)
{
	char text[512], shown[600];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(stderr, "isoctl %s: %s\nTry: isoctl %s --help\n", verb,
		iso_text_escape(text, strlen(text), shown, sizeof shown), verb);
	return ISO_EXIT_USAGE;
}

static int unknown(int argc, char **argv)
{
	bool group = is_group(argv[0]);
	char typed[256], shown[300];
	struct iso_suggest near;

	snprintf(typed, sizeof typed, "%s%s%s", argv[0], group && argc > 1 ? " " : "",
		 group && argc > 1 ? argv[1] : "");
	iso_suggest_begin(&near, typed);
	for (size_t i = 0; i < VERBS; i++)
		iso_suggest_consider(&near, verbs[i].name, strlen(verbs[i].name));
	fprintf(stderr, "isoctl: no verb is named \"%s\"%s%s%s\nTry: isoctl %s%s--help\n",
		iso_text_escape(typed, strlen(typed), shown, sizeof shown),
		near.best ? "; did you mean \"" : "", near.best ? near.best : "",
		near.best ? "\"?" : "", group ? argv[0] : "", group ? " " : "");
	return ISO_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const struct verb *verb;
	int words = 0;

	iso_log_setup("isoctl", ISO_LOG_INFO);
	if (argc < 2) {
		print_help(stderr);
		return ISO_EXIT_USAGE;
	}
	if (is_help(argv[1]) && argc < 3) {
		print_help(stdout);
		return EXIT_SUCCESS;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("isoctl %s\n", ISO_VERSION);
		return EXIT_SUCCESS;
	}
	if (is_help(argv[1])) /* isoctl help VERB */
		argc--, argv++;
	verb = find(argc - 1, argv + 1, &words);
	if (!verb && is_group(argv[1]) && (argc == 2 || is_help(argv[2]))) {
		print_group(argc == 2 ? stderr : stdout, argv[1]);
		return argc == 2 ? ISO_EXIT_USAGE : EXIT_SUCCESS;
	}
	if (!verb)
		return unknown(argc - 1, argv + 1);
	if (is_help(argv[0]) ||
	    (argc > words + 1 && is_help(argv[words + 1]) && strcmp(argv[words + 1], "help"))) {
		isoctl_help(stdout, verb->name);
		return EXIT_SUCCESS;
	}
	return verb->function(argc - words, argv + words);
}
