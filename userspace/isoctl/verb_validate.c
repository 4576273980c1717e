/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl validate: the checker, file by file. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "isoctl/findings.h"
#include "isoctl/isoctl.h"
#include "manifest/ceiling.h"
#include "manifest/host.h"

struct options {
	bool host, json;
};

/* What only this host can say: its paths, and its ceiling for the caller. */
static int ask_host(const struct iso_manifest *m, const char *file, struct iso_findings *findings)
{
	struct iso_ceiling *ceiling = NULL;
	ISO_AUTO_FREE gid_t *gids = NULL;
	struct iso_error e = {0};
	int n = getgroups(0, NULL), r, held;

	gids = calloc((size_t)(n < 0 ? 0 : n) + 1, sizeof *gids);
	n = gids && n > 0 ? getgroups(n, gids) : 0;
	if (!gids || n < 0)
		return -ENOMEM;
	gids[n] = getegid();
	r = iso_host_check(m, strcmp(file, "-") ? file : NULL, findings);
	held = iso_ceiling_load(ISO_CEILING_PATH, &ceiling, &e);
	if (held) {
		iso_log_error("%s; %s", e.message, e.remedy);
		held = -EINVAL;
	} else {
		held = iso_ceiling_check(ceiling, m, getuid(), gids, (size_t)n + 1, findings);
	}
	iso_ceiling_free(ceiling);
	return r ? r : held;
}

/* 0 valid, 1 not (or not readable) */
static int validate(const char *file, const struct options *o)
{
	ISO_AUTO_FREE char *text = NULL;
	struct iso_findings findings = {0};
	struct iso_manifest *m = NULL;
	size_t size = 0;
	int r;

	r = isoctl_read_manifest(file, &text, &size);
	if (r)
		return ISO_EXIT_INVALID;
	r = iso_manifest_parse(text, size, &m, &findings);
	if (!r && o->host)
		r = ask_host(m, file, &findings);
	isoctl_print_findings(stdout, file, &findings, o->json);
	if (r && r != -EINVAL)
		iso_log_error("cannot check the manifest: %s; try again", strerror(-r));
	iso_findings_free(&findings);
	iso_manifest_free(m);
	return r ? ISO_EXIT_INVALID : EXIT_SUCCESS;
}

int verb_validate(int argc, char **argv)
{
	static const struct option options[] = {
		{"host", no_argument, NULL, 'H'}, {"json", no_argument, NULL, 'j'}, {0}};
	struct options o = {0};
	int status = EXIT_SUCCESS, c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'H')
			o.host = true;
		else if (c == 'j')
			o.json = true;
		else
			return isoctl_usage("validate", "no option is named %s", argv[optind - 1]);
	}
	if (optind == argc)
		return isoctl_usage("validate", "name the manifest to check");
	for (; optind < argc; optind++)
		if (validate(argv[optind], &o))
			status = ISO_EXIT_INVALID;
	return status;
}
