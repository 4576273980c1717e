/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * isoctl manifest show: the sets that the compiled policy makes of a manifest. For each right,
 * where it begins and where it ends again: what lies between is the same throughout.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "common/text.h"
#include "iso_abi.h"
#include "isoctl/isoctl.h"
#include "isoctl/verb_manifest.h"
#include "policy/policy.h"

static const struct {
	const char *name, *title;
	uint32_t right;
} sets[] = {
	{"read", "may read", ISO_READ},
	{"write", "may write", ISO_WRITE},
	{"execute", "may execute", ISO_EXEC},
};

#define SETS (sizeof sets / sizeof *sets)

/* The rights that hold just above a path. */
static uint32_t rights_above(const struct iso_policy *p, const char *path)
{
	ISO_AUTO_FREE char *above = strdup(path);
	char *slash = above ? strrchr(above, '/') : NULL;
	const struct iso_policy_rule *rule;

	if (!slash || !strcmp(path, "/"))
		return 0;
	slash[slash == above] = '\0';
	rule = iso_policy_decide(p, above);
	return rule ? rule->rights : 0;
}

/* A set: {"paths": where it begins, "except": where it ends again}. */
static json_t *make_set(const struct iso_policy *p, uint32_t right)
{
	json_t *paths = json_array(), *except = json_array();

	/* the root itself may be read, but holds nothing besides the trees */
	for (size_t i = 0; right == ISO_READ && i < p->tree_count; i++)
		json_array_append_new(paths, json_string(p->trees[i].path));

	for (size_t i = 0; i < p->rule_count; i++) {
		const struct iso_policy_rule *r = &p->rules[i];
		bool above, here = r->rights & right;

		if (r->kind == ISO_RULE_ABSENT)
			continue;
		if (r->kind == ISO_RULE_NAME) {
			/* a name that is not there cannot be made */
			if (right == ISO_WRITE)
				json_array_append_new(except,
						      json_sprintf("%s/%s", r->path, r->name));
			continue;
		}
		above = rights_above(p, r->path) & right;
		if (here != above && (!here || right != ISO_READ))
			json_array_append_new(here ? paths : except, json_string(r->path));
	}
	return json_pack("{s:o, s:o}", "paths", paths, "except", except);
}

static json_t *strings(const struct iso_strv *list)
{
	json_t *out = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(out, json_string(list->items[i]));
	return out;
}

/* Beyond files: what this version can let a task reach at all. */
static json_t *make_reach(const struct iso_manifest *m)
{
	return json_pack("{s:s, s:[], s:o, s:b, s:s}", "loopback",
			 m->loopback_private ? "private" : "none", "hosts", "environment_passed",
			 strings(&m->process.environment_pass), "stdin", m->process.stdin_inherit,
			 "kernel", "shared");
}

static json_t *make_sources(const struct iso_manifest *m)
{
	json_t *out = json_array();

	for (size_t i = 0; i < m->filesystem.input_count; i++)
		json_array_append_new(out, json_pack("{s:s, s:s}", "copy_of",
						     m->filesystem.inputs[i].source, "at",
						     m->filesystem.inputs[i].target));
	return out;
}

static json_t *describe(const struct iso_manifest *m, const struct iso_policy *p)
{
	json_t *out = json_pack("{s:s, s:s, s:o}", "task", m->task.id, "profile",
				m->profile == ISO_PROFILE_BUILD ? "build" : "execute", "inputs",
				make_sources(m));

	for (size_t i = 0; i < SETS; i++)
		json_object_set_new(out, sets[i].name, make_set(p, sets[i].right));
	json_object_set_new(out, "absent", strings(&m->filesystem.assert_absent));
	json_object_set_new(out, "reach", make_reach(m));
	return out;
}

static void print_list(json_t *list, const char *prefix)
{
	char shown[5000];
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		const char *s = json_string_value(v);

		printf("  %s%s\n", prefix, iso_text_escape(s, strlen(s), shown, sizeof shown));
	}
}

static void print_text(json_t *all)
{
	json_t *reach = json_object_get(all, "reach"), *input;
	char from[5000], at[5000];
	size_t i;

	printf("task %s, profile %s\n", json_string_value(json_object_get(all, "task")),
	       json_string_value(json_object_get(all, "profile")));
	json_array_foreach (json_object_get(all, "inputs"), i, input) {
		const char *source = json_string_value(json_object_get(input, "copy_of"));
		const char *target = json_string_value(json_object_get(input, "at"));

		printf("\n%s is a copy of %s\n",
		       iso_text_escape(target, strlen(target), at, sizeof at),
		       iso_text_escape(source, strlen(source), from, sizeof from));
	}
	for (i = 0; i < SETS; i++) {
		json_t *set = json_object_get(all, sets[i].name);

		printf("\n%s:\n", sets[i].title);
		print_list(json_object_get(set, "paths"), "");
		print_list(json_object_get(set, "except"), "not ");
	}
	if (json_array_size(json_object_get(all, "absent"))) {
		puts("\nmust not exist inside:");
		print_list(json_object_get(all, "absent"), "");
	}
	puts("\nmay reach:");
	printf("  %s\n", strcmp(json_string_value(json_object_get(reach, "loopback")), "none")
				 ? "its own loopback interface, nothing outside"
				 : "no network at all");
	puts("  this host's kernel, by the system calls of its profile: not a virtual machine");
	if (json_is_true(json_object_get(reach, "stdin")))
		puts("  the caller's standard input");
	if (json_array_size(json_object_get(reach, "environment_passed"))) {
		puts("\ngets from the caller's environment:");
		print_list(json_object_get(reach, "environment_passed"), "");
	}
}

static int show(const char *file, bool json)
{
	struct iso_manifest *m = NULL;
	struct iso_policy *p = NULL;
	struct iso_error e = {0};
	json_t *all;
	int status;

	status = isoctl_load_manifest(file, &m);
	if (status)
		return status;
	if (iso_policy_compile(m, &p, &e)) {
		iso_log_error("%s; %s", e.message, e.remedy);
		iso_manifest_free(m);
		return ISO_EXIT_INVALID;
	}
	all = describe(m, p);
	if (!json)
		print_text(all);
	else if (json_dumpf(all, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0)
		putchar('\n');
	json_decref(all);
	iso_policy_free(p);
	iso_manifest_free(m);
	return EXIT_SUCCESS;
}

int verb_manifest_show(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	bool json = false;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'j')
			return isoctl_usage("manifest show", "what is %s?", argv[optind - 1]);
		json = true;
	}
	if (optind + 1 != argc)
		return isoctl_usage("manifest show", "name one manifest");
	return show(argv[optind], json);
}
