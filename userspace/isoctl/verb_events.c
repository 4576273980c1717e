/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl events: what sandboxes were refused, from the file that isod writes. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "common/log.h"
#include "common/text.h"
#include "event/paths.h"
#include "event/read.h"
#include "event/text.h"
#include "isoctl/isoctl.h"

#define VERB "events"

struct options {
	const char *directory, *run;
	int64_t since; /* ms, 0: all */
	bool follow, text;
	struct iso_text_style style;
};

static int fail(const struct iso_error *e)
{
	iso_log_error("%s%s%s", e->message, e->remedy[0] ? "; " : "", e->remedy);
	return ISO_EXIT_INVALID;
}

static bool wanted(const json_t *o, const struct options *options)
{
	const json_t *metadata = json_object_get(o, "metadata");
	const char *run = json_string_value(json_object_get(metadata, "correlation_uid"));

	if (options->run && (!run || strcmp(run, options->run)))
		return false;
	return json_integer_value(json_object_get(o, "time")) >= options->since;
}

/* Bytes that would do something to a terminal are not part of any line that isod writes. */
static void print_line(const char *line, size_t n, const json_t *o)
{
	bool safe = iso_utf8_valid(line, n);

	for (size_t i = 0; safe && i < n; i++)
		safe = (unsigned char)line[i] >= 0x20 && line[i] != 0x7f;
	if (safe && isatty(STDOUT_FILENO))
		for (size_t i = 0; safe && i < n; i++)
			safe = (unsigned char)line[i] < 0x80;
	if (safe)
		fwrite(line, 1, n, stdout);
	else
		json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
}

/* 1: that line is no record */
static int show(const char *line, size_t n, const struct options *options)
{
	json_t *o = json_loadb(line, n, 0, NULL);
	char text[16 * 1024];
	int r = 0;

	if (!json_is_object(o)) {
		r = 1;
	} else if (wanted(o, options)) {
		if (!options->text)
			print_line(line, n, o);
		else if (!iso_event_text(o, &options->style, text, sizeof text))
			puts(text);
		else
			r = 1;
	}
	json_decref(o);
	return r;
}

/* Shows what there is, and with --follow what comes. Ends on a signal or a closed pipe. */
static int run(struct iso_reader *reader, const struct options *options)
{
	unsigned long long strangers = 0;
	const char *line;
	size_t n;
	int r;

	for (;;) {
		while ((r = iso_reader_next(reader, &line, &n)) > 0)
			strangers += (unsigned long long)show(line, n, options);
		if (fflush(stdout))
			return errno == EPIPE ? EXIT_SUCCESS : ISO_EXIT_INVALID;
		if (r < 0 || !options->follow)
			break;
		r = iso_reader_wait(reader, 1000);
		if (r < 0 && r != -EINTR)
			break;
	}
	if (strangers)
		iso_log_warning("%llu lines are no records; isoctl events verify says where",
				strangers);
	if (r < 0)
		iso_log_error("cannot read the events: %s", strerror(-r));
	return r < 0 ? ISO_EXIT_INVALID : EXIT_SUCCESS;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* 0, or the exit status */
static int parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {{"follow", no_argument, NULL, 'f'},
						{"format", required_argument, NULL, 'F'},
						{"run", required_argument, NULL, 'r'},
						{"dir", required_argument, NULL, 'd'},
						{"since", required_argument, NULL, 's'},
						{"date", no_argument, NULL, 'D'},
						{0}};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "f", options, NULL)) != -1) {
		if (c == 'f') {
			o->follow = true;
		} else if (c == 'r') {
			o->run = optarg;
		} else if (c == 'd') {
			o->directory = optarg;
		} else if (c == 'D') {
			o->style.date = true;
		} else if (c == 'F') {
			o->text = !strcmp(optarg, "text");
			if (!o->text && strcmp(optarg, "ocsf"))
				return isoctl_usage(VERB, "--format is text or ocsf, not %s",
						    optarg);
		} else if (c == 's') {
			o->since = iso_text_time(optarg, now_ms());
			if (o->since < 0)
				return isoctl_usage(VERB,
						    "--since takes 10m, 2h, 12:30, 2026-11-30 or "
						    "2026-11-30T12:30:00Z, not %s",
						    optarg);
		} else {
			return isoctl_usage(VERB, "what to do with %s?", argv[optind - 1]);
		}
	}
	if (optind < argc)
		return isoctl_usage(VERB, "what to do with %s?", argv[optind]);
	return 0;
}

int verb_events(int argc, char **argv)
{
	struct options o = {.directory = ISO_EVENTS_DIRECTORY, .text = isatty(STDOUT_FILENO)};
	struct iso_reader *reader = NULL;
	struct iso_error e = {0};
	int status = parse(argc, argv, &o);

	if (status)
		return status;
	o.style.run = !o.run;
	o.style.colour = iso_text_colour(STDOUT_FILENO);
	signal(SIGPIPE, SIG_IGN);
	if (iso_reader_open(o.directory, NULL, o.follow, &reader, &e) < 0)
		return fail(&e);
	status = run(reader, &o);
	iso_reader_close(reader);
	return status;
}
