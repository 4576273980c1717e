/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl manifest diff: each change as narrower or wider. */
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "isoctl/isoctl.h"
#include "isoctl/verb_manifest.h"
#include "manifest/diff.h"

#define EXIT_WIDER 3

static const char *const directions[] = {
	[ISO_NEUTRAL] = "neutral", [ISO_NARROWER] = "narrower", [ISO_WIDER] = "wider"};

static const char *shown(const char *s, char *out, size_t size)
{
	return s ? iso_text_escape(s, strlen(s), out, size) : "absent";
}

static void print_text(const struct iso_change *c)
{
	char pointer[1024], before[1024], after[1024];

	printf("%s: %s: %s -> %s\n", directions[c->direction],
	       shown(c->pointer, pointer, sizeof pointer), shown(c->before, before, sizeof before),
	       shown(c->after, after, sizeof after));
}

static json_t *value(const char *text)
{
	return text ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
}

static void print_json(const struct iso_change *c)
{
	json_t *line =
		json_pack("{s:s, s:s, s:o, s:o}", "change", directions[c->direction], "pointer",
			  c->pointer, "before", value(c->before), "after", value(c->after));

	if (line && json_dumpf(line, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) == 0)
		putchar('\n');
	json_decref(line);
}

static int diff(const char *old_file, const char *new_file, bool json)
{
	struct iso_manifest *old = NULL, *new = NULL;
	struct iso_changes changes = {0};
	int status;

	status = isoctl_load_manifest(old_file, &old);
	if (!status)
		status = isoctl_load_manifest(new_file, &new);
	if (!status && iso_manifest_diff(old, new, &changes)) {
		iso_log_error("no memory to compare the manifests; try again");
		status = ISO_EXIT_INVALID;
	}
	for (size_t i = 0; !status && i < changes.count; i++) {
		if (json)
			print_json(&changes.items[i]);
		else
			print_text(&changes.items[i]);
	}
	for (size_t i = 0; i < changes.count; i++)
		if (!status && changes.items[i].direction == ISO_WIDER)
			status = EXIT_WIDER;
	iso_changes_free(&changes);
	iso_manifest_free(old);
	iso_manifest_free(new);
	return status;
}

int verb_manifest_diff(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	bool json = false;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'j')
			return isoctl_usage("manifest diff", "what is %s?", argv[optind - 1]);
		json = true;
	}
	if (optind + 2 != argc)
		return isoctl_usage("manifest diff", "name the old manifest and the new one");
	return diff(argv[optind], argv[optind + 1], json);
}
