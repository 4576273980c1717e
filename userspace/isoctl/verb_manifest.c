/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl manifest new, render, schema: what writes manifests. */
#include "isoctl/verb_manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "isoctl/findings.h"
#include "isoctl/isoctl.h"
#include "manifest/describe.h"
#include "manifest/template.h"

static int failed(const struct iso_error *e)
{
	iso_log_error("%s; %s", e->message, e->remedy);
	return ISO_EXIT_INVALID;
}

/* Checks a text and prints what is wrong with it, under the name of where it came from. */
static int check_text(const char *name, const char *text, size_t size, struct iso_manifest **ret)
{
	struct iso_findings findings = {0};
	int r = iso_manifest_parse(text, size, ret, &findings);

	isoctl_print_findings(stderr, name, &findings, false);
	if (r && !findings.count)
		iso_log_error("cannot check the manifest: %s; try again", strerror(-r));
	iso_findings_free(&findings);
	return r ? ISO_EXIT_INVALID : 0;
}

int isoctl_load_manifest(const char *file, struct iso_manifest **ret)
{
	ISO_AUTO_FREE char *text = NULL;
	size_t size = 0;

	if (isoctl_read_manifest(file, &text, &size))
		return ISO_EXIT_INVALID;
	return check_text(file, text, size, ret);
}

static struct iso_repository counted; /* nftw() has no argument of the caller's */

static int count_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)path, (void)ftw;
	counted.inodes++;
	if (flag == FTW_F)
		counted.bytes += ((uint64_t)st->st_size + 4095) / 4096 * 4096;
	return 0;
}

static int new_manifest(const char *profile, const char *folder)
{
	ISO_AUTO_FREE char *source = NULL, *text = NULL;
	struct iso_manifest *m = NULL;
	struct iso_error e = {0};
	int status;

	counted = (struct iso_repository){0};
	if (folder) {
		source = realpath(folder, NULL);
		if (!source || nftw(source, count_one, 32, FTW_PHYS | FTW_MOUNT)) {
			iso_log_error("cannot look at the repository: %s", strerror(errno));
			return ISO_EXIT_INVALID;
		}
		counted.source = source;
	}
	if (iso_manifest_new(profile, &counted, &text, &e))
		return failed(&e);
	status = check_text("new manifest", text, strlen(text), &m);
	iso_manifest_free(m);
	if (!status)
		printf("%s\n", text);
	return status;
}

int verb_manifest_new(int argc, char **argv)
{
	static const struct option options[] = {{"profile", required_argument, NULL, 'p'},
						{"from-repo", required_argument, NULL, 'r'},
						{0}};
	const char *profile = NULL, *folder = NULL;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			profile = optarg;
		else if (c == 'r')
			folder = optarg;
		else
			return isoctl_usage("manifest new", "what is %s?", argv[optind - 1]);
	}
	if (!profile || optind != argc)
		return isoctl_usage("manifest new",
				    profile ? "there is a word too many" : "say which profile");
	return new_manifest(profile, folder);
}

static int render(const char *file, const char *const *assignments, size_t count)
{
	ISO_AUTO_FREE char *base = NULL, *text = NULL;
	struct iso_manifest *m = NULL;
	struct iso_error e = {0};
	size_t size = 0;
	int status;

	if (isoctl_read_manifest(file, &base, &size))
		return ISO_EXIT_INVALID;
	if (iso_manifest_render(base, size, assignments, count, &text, &e))
		return failed(&e);
	status = check_text("rendered", text, strlen(text), &m);
	iso_manifest_free(m);
	if (!status)
		printf("%s\n", text);
	return status;
}

int verb_manifest_render(int argc, char **argv)
{
	static const struct option options[] = {{"set", required_argument, NULL, 's'}, {0}};
	ISO_AUTO_FREE const char **assignments = calloc((size_t)argc + 1, sizeof *assignments);
	size_t count = 0;
	int c;

	if (!assignments)
		return ISO_EXIT_INVALID;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 's')
			return isoctl_usage("manifest render", "what is %s?", argv[optind - 1]);
		assignments[count++] = optarg;
	}
	if (optind + 1 != argc)
		return isoctl_usage("manifest render", "name one manifest to start from");
	return render(argv[optind], assignments, count);
}

int verb_manifest_schema(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return isoctl_usage("manifest schema", "it takes no argument");
	return iso_manifest_schema(stdout) ? ISO_EXIT_INVALID : EXIT_SUCCESS;
}
