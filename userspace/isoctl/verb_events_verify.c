/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl events verify: is every record still what was written, and are all there? */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "event/paths.h"
#include "event/read.h"
#include "event/verify.h"
#include "isoctl/isoctl.h"

#define VERB "events verify"

struct options {
	const char *directory, *run, *head;
	bool partial;
};

static int fail(const struct iso_error *e)
{
	iso_log_error("%s%s%s", e->message, e->remedy[0] ? "; " : "", e->remedy);
	return ISO_EXIT_INVALID;
}

static int feed_one(struct iso_verify *v, const char *shown, const char *directory,
		    const char *path)
{
	struct iso_reader *reader = NULL;
	struct iso_error e = {0};
	uint64_t number = 0;
	const char *line;
	size_t n;
	int r;

	if (iso_reader_open(directory, path, false, &reader, &e) < 0)
		return fail(&e);
	while ((r = iso_reader_next(reader, &line, &n)) > 0) {
		r = iso_verify_line(v, shown, ++number, line, n);
		if (r == -ENOMEM)
			break;
	}
	/* A tail without a newline is no record, and in a file that was named it counts. */
	if (r == 0 && path && iso_reader_rest(reader, &line, &n) > 0)
		iso_verify_line(v, shown, ++number, "", 0);
	iso_reader_close(reader);
	if (r < 0) {
		iso_log_error("cannot read the events at %s: %s", shown, strerror(-r));
		return ISO_EXIT_INVALID;
	}
	return 0;
}

/* "events.ndjson.12" was written before "events.ndjson.2", and that before "events.ndjson". */
static long age(const char *path)
{
	const char *dot = strrchr(path, '.');
	char *end;
	long n = dot ? strtol(dot + 1, &end, 10) : 0;

	return dot && dot[1] && !*end ? n : 0;
}

static int older_first(const void *a, const void *b)
{
	long x = age(*(char *const *)a), y = age(*(char *const *)b);

	return x < y ? 1 : x > y ? -1 : 0;
}

static void say_place(const struct iso_verified *run)
{
	char shown[80];

	printf(" (seen at %s:%" PRIu64 ")\n",
	       iso_text_escape(run->fault_file, strlen(run->fault_file), shown, sizeof shown),
	       run->fault_line);
}

static void say_records(const struct iso_verified *run)
{
	if (run->fault_first == run->fault_last)
		printf("record %" PRIu64, run->fault_first);
	else
		printf("records %" PRIu64 " to %" PRIu64, run->fault_first, run->fault_last);
}

/* One line a run. False: something is wrong with it. */
static bool say(const struct iso_verified *run, const struct options *o)
{
	bool head_ok = !o->head || !strcmp(o->head, run->head);

	if (run->fault == ISO_FAULT_NONE || (run->fault == ISO_FAULT_NO_START && o->partial)) {
		printf("%s %s: %" PRIu64 " records (%" PRIu64 " to %" PRIu64 "), %" PRIu64
		       " events lost, %s, head %s%s\n",
		       head_ok ? "whole" : "BROKEN", run->run, run->records, run->first, run->last,
		       run->lost, run->ended ? "ended" : "not ended", run->head,
		       head_ok ? ""
			       : ": not the head that was asked for, its end was changed or "
				 "cut off");
		return head_ok;
	}
	printf("BROKEN %s: ", run->run);
	say_records(run);
	if (run->fault == ISO_FAULT_CHANGED)
		printf(" was changed");
	else if (run->fault == ISO_FAULT_REMOVED)
		printf("%s removed", run->fault_first == run->fault_last ? " was" : " were");
	else if (run->fault == ISO_FAULT_INSERTED)
		printf(" was inserted, or stands there twice");
	else
		printf("%s not in these files: removed, or in a rotated file that is not here "
		       "(--partial)",
		       run->fault_first == run->fault_last ? " is" : " are");
	say_place(run);
	return false;
}

static int report(struct iso_verify *v, const struct options *o)
{
	const struct iso_verified *run = iso_verify_finish(v);
	uint64_t strangers, number;
	bool good = true, any = false;
	char shown[80];
	const char *file;

	for (; run; run = run->next) {
		if (o->run && strcmp(o->run, run->run))
			continue;
		any = true;
		good = say(run, o) && good;
	}
	strangers = iso_verify_strangers(v, &file, &number);
	if (strangers) {
		printf("BROKEN: %" PRIu64 " lines are no records, the first at %s:%" PRIu64 "\n",
		       strangers, iso_text_escape(file, strlen(file), shown, sizeof shown), number);
		good = false;
	}
	if (!any && o->run) {
		iso_log_error("no record is of that run; isoctl events verify without --run names "
			      "all runs");
		return ISO_EXIT_INVALID;
	}
	return good ? EXIT_SUCCESS : ISO_EXIT_INVALID;
}

/* 0, or the exit status */
static int parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {{"run", required_argument, NULL, 'r'},
						{"head", required_argument, NULL, 'h'},
						{"dir", required_argument, NULL, 'd'},
						{"partial", no_argument, NULL, 'p'},
						{0}};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			o->run = optarg;
		else if (c == 'h')
			o->head = optarg;
		else if (c == 'd')
			o->directory = optarg;
		else if (c == 'p')
			o->partial = true;
		else
			return isoctl_usage(VERB, "what to do with %s?", argv[optind - 1]);
	}
	if (o->head && !o->run)
		return isoctl_usage(VERB, "--head needs the --run that it is of");
	if (o->head && strlen(o->head) != ISO_CHAIN_TEXT - 1)
		return isoctl_usage(VERB, "--head takes 64 hexadecimal digits");
	return 0;
}

int verb_events_verify(int argc, char **argv)
{
	struct options o = {.directory = ISO_EVENTS_DIRECTORY};
	struct iso_verify *v = NULL;
	int status = parse(argc, argv, &o);

	if (status)
		return status;
	if (iso_verify_new(&v) < 0)
		return fail(&(struct iso_error){.message = "no memory"});
	if (optind == argc)
		status = feed_one(v, o.directory, o.directory, NULL);
	qsort(argv + optind, (size_t)(argc - optind), sizeof *argv, older_first);
	for (; optind < argc && !status; optind++) {
		const char *slash = strrchr(argv[optind], '/');

		status = feed_one(v, slash ? slash + 1 : argv[optind], NULL, argv[optind]);
	}
	if (!status)
		status = report(v, &o);
	iso_verify_free(v);
	return status;
}
