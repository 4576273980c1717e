/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl guard status and isoctl guard release: what guards the enforcement itself. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "isoctl/isoctl.h"
#include "isoctl/seal.h"

#define EXIT_NOT 1

static int call(const char *socket, const char *method, json_t **ret)
{
	const struct iso_client_options o = {.socket = socket};
	struct iso_failure f = {0};
	struct iso_client *client = NULL;
	int r = iso_client_open(&o, &client, &f);

	if (r == 0)
		r = iso_client_call(client, method, json_object(), ret, &f);
	iso_client_free(client);
	if (r < 0)
		seal_say_failure("failed", &f);
	return r;
}

static long long number(json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

static const char *text(json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "-";
}

static size_t of_kind(json_t *objects, const char *kind)
{
	size_t i, n = 0;
	json_t *object;

	json_array_foreach (objects, i, object)
		n += strcmp(text(object, "kind"), kind) == 0;
	return n;
}

static void print_guard(json_t *guard)
{
	time_t since = (time_t)(number(guard, "since_ms") / 1000);
	json_t *objects = json_object_get(guard, "objects"), *program;
	char when[32] = "-";
	struct tm tm;
	size_t i;

	if (localtime_r(&since, &tm))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
	printf("%s since %s\n", text(guard, "state"), when);
	printf("guarded: %zu maps, %zu programs, %zu links\n", of_kind(objects, "map"),
	       of_kind(objects, "program"), of_kind(objects, "link"));
	printf("attempts refused: %lld\n", number(guard, "refused"));
	json_array_foreach (json_object_get(guard, "programs"), i, program)
		printf("beside it, as listed: %lld %s %s, of uid %lld\n", number(program, "id"),
		       text(program, "name"), text(program, "tag"), number(program, "uid"));
}

static int options(int argc, char **argv, const char *verb, bool *json, const char **socket)
{
	static const struct option known[] = {
		{"json", no_argument, NULL, 'j'}, {"socket", required_argument, NULL, 's'}, {0}};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'j' && json)
			*json = true;
		else if (c == 's')
			*socket = optarg;
		else
			return isoctl_usage(verb, "no option is named %s", argv[optind - 1]);
	}
	return optind < argc ? isoctl_usage(verb, "unexpected argument: %s", argv[optind]) : 0;
}

int verb_guard_status(int argc, char **argv)
{
	const char *socket = NULL;
	bool json = false, locked;
	json_t *reply = NULL, *guard;
	int r = options(argc, argv, "guard status", &json, &socket);

	if (r)
		return r;
	if (call(socket, "Guard", &reply) < 0)
		return EXIT_NOT;
	guard = json_object_get(reply, "guard");
	locked = strcmp(text(guard, "state"), "locked") == 0;
	if (json && (json_dumpf(guard, stdout, JSON_INDENT(2)) < 0 || putchar('\n') == EOF))
		locked = false;
	else if (!json)
		print_guard(guard);
	json_decref(reply);
	return fflush(stdout) || !locked ? EXIT_NOT : 0;
}

int verb_guard_release(int argc, char **argv)
{
	const char *socket = NULL;
	json_t *reply = NULL;
	int r = options(argc, argv, "guard release", NULL, &socket);

	if (r)
		return r;
	if (call(socket, "Release", &reply) < 0)
		return EXIT_NOT;
	json_decref(reply);
	return 0;
}
