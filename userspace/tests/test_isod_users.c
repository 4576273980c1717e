/* SPDX-License-Identifier: BSD-2-Clause */
/* Callers that are not root: what they reach, and how much of it (fake_host.h). */
#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fake_call.h"

#define NOBODY 65534

/* Runs fn as a user that is nobody here, with these groups; its return value comes back. */
static int as_user(int (*fn)(const char *), const char *argument, const gid_t *groups, size_t n)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (setgroups(n, groups) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(99);
		_exit(fn(argument));
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int outsider(const char *run)
{
	int fd = fake_call_connect(&fake_agent);

	(void)run;
	if (*fake_call_ask(fd, "{\"method\":\"org.varlink.service.GetInfo\"}"))
		return 1;
	if (strcmp(fake_call_ask(fd, "{\"method\":\"io.isoctl.Agent.List\"}"),
		   "io.isoctl.Agent.NotPermitted") != 0)
		return 2;
	if (strcmp(fake_call_ask(fd, "{\"method\":\"io.isoctl.Agent.Release\"}"),
		   "io.isoctl.Agent.NotPermitted") != 0)
		return 3;
	return strcmp(fake_call_ask(fd, "{\"method\":\"io.isoctl.Agent.Features\"}"),
		      "io.isoctl.Agent.NotPermitted") != 0;
}

static int member(const char *run)
{
	ISO_AUTO_FREE char *manifest = fake_manifest("m", LIMITS, "");
	struct iso_client_options o = {.socket = fake_agent.socket};
	struct iso_failure f = {0};
	struct iso_client *c = NULL;
	json_t *reply = NULL;

	if (iso_client_open(&o, &c, &f) < 0)
		return 1;
	/* Somebody else's run is not there for this one: not to see, not to end, not to launch. */
	if (iso_client_call(c, "List", json_object(), &reply, &f) < 0 ||
	    json_array_size(json_object_get(reply, "runs")) != 0)
		return 2;
	json_decref(reply);
	if (iso_client_call(c, "Inspect", json_pack("{s:s}", "run", run), &reply, &f) != -ENOENT)
		return 3;
	if (iso_client_call(c, "Cancel", json_pack("{s:s, s:s}", "run", run, "reason", "cancelled"),
			    &reply, &f) != -ENOENT)
		return 4;
	/* Without a ceiling only root may seal. */
	if (iso_client_call(c, "Capture", fake_call_parameters(manifest, "true"), &reply, &f) !=
		    -EIO ||
	    f.class != ISO_CLASS_CEILING)
		return 5;
	iso_client_free(c);
	return 0;
}

static int captures(const char *unused)
{
	ISO_AUTO_FREE char *manifest = fake_manifest("m", LIMITS, "");
	struct iso_client_options o = {.socket = fake_agent.socket};
	struct iso_failure f = {0};
	struct iso_client *c = NULL;
	json_t *reply = NULL;

	(void)unused;
	if (iso_client_open(&o, &c, &f) < 0)
		return 1;
	if (iso_client_call(c, "Capture", fake_call_parameters(manifest, "true"), &reply, &f) < 0)
		return 2;
	json_decref(reply);
	/* The ceiling's bound of sandboxes is reached. */
	if (iso_client_call(c, "Capture", fake_call_parameters(manifest, "true"), &reply, &f) !=
		    -EIO ||
	    f.class != ISO_CLASS_QUOTA || !f.error.retryable)
		return 3;
	iso_client_free(c);
	return 0;
}

static void write_ceiling(const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/ceiling.json", fake_agent.directory);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fchmod(fileno(f), 0644), 0);
	assert_int_equal(fclose(f), 0);
}

static void other_users_may_do_what_they_may(void **state)
{
	const gid_t none[] = {NOBODY}, members[] = {NOBODY, FAKE_MEMBERS};
	struct iso_client *c;
	ISO_AUTO_FREE char *run = NULL;
	char folder[96];
	struct stat st;

	(void)state;
	/* They can reach the socket, and nothing else that the agent keeps. */
	snprintf(folder, sizeof folder, "%s/run", fake_agent.directory);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	snprintf(folder, sizeof folder, "%s/state", fake_agent.directory);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(geteuid(), 0);
	c = fake_agent_join(&fake_agent);
	run = fake_call_capture(c, "t", "true", "");
	assert_int_equal(as_user(outsider, run, none, 1), 0);
	assert_int_equal(as_user(member, run, members, 2), 0);
	iso_client_free(c);
}

static void a_ceiling_lets_members_seal_within_it(void **state)
{
	const gid_t members[] = {FAKE_MEMBERS};

	(void)state;
	assert_int_equal(geteuid(), 0);
	write_ceiling("{\"ceiling_version\": 1, \"callers\": {\"groups\": [\"4242\"]},"
		      "\"shared_kernel\": true, \"max_sandboxes\": 1}");
	assert_int_equal(as_user(captures, NULL, members, 1), 0);
}

/* A manifest of 1,024 paths that must be absent, as many that are denied or none, and some 15
 * rules. */
static char *many_rules(bool deny)
{
	ISO_AUTO_FREE char *text = fake_manifest("m", LIMITS, "");
	json_t *m = json_loads(text, 0, NULL), *absent = json_array(), *denied = json_array();
	char *manifest;

	for (int i = 0; i < 1024; i++) {
		json_array_append_new(absent, json_sprintf("/absent/%d", i));
		if (deny)
			json_array_append_new(denied, json_sprintf("/tmp/denied%d", i));
	}
	json_object_set_new(json_object_get(json_object_get(m, "process"), "limits"), "memory",
			    json_string("96MiB"));
	json_object_set_new(m, "filesystem",
			    json_pack("{s:[{s:s, s:s, s:i}], s:o, s:o}", "scratch", "path", "/tmp",
				      "size", "4KiB", "inodes", 16, "deny", denied, "assert_absent",
				      absent));
	manifest = json_dumps(m, JSON_COMPACT);
	json_decref(m);
	return manifest;
}

/* Captures it until that is refused, which must name the limit; how many times it was not. */
static unsigned captures_until(struct iso_client *c, const char *manifest, const char *limit)
{
	struct iso_failure f = {0};
	json_t *reply = NULL;
	unsigned n = 0;

	while (n < ISO_RUNS_PER_USER &&
	       iso_client_call(c, "Capture", fake_call_parameters(manifest, "true"), &reply, &f) ==
		       0) {
		json_decref(reply);
		n++;
	}
	return f.class == ISO_CLASS_QUOTA && f.error.retryable && strstr(f.error.message, limit)
		       ? n
		       : 0;
}

/* As many as fit into its bound; then a run with few rules still does. */
static int captures_rules(const char *what)
{
	bool deny = strcmp(what, "rules") == 0;
	ISO_AUTO_FREE char *manifest = many_rules(deny), *small = fake_manifest("m", LIMITS, "");
	struct iso_client_options o = {.socket = fake_agent.socket};
	struct iso_failure f = {0};
	struct iso_client *c = NULL;
	json_t *reply = NULL;
	unsigned n;

	if (iso_client_open(&o, &c, &f) < 0)
		return 1;
	n = captures_until(c, manifest,
			   deny ? "100000 rules at once" : "49152 paths of assert_absent at once");
	if (deny ? n < ISO_RULES_PER_USER / 2100 || n > ISO_RULES_PER_USER / 2048
		 : n != ISO_ABSENT_PER_USER / 1024)
		return 2;
	if (iso_client_call(c, "Capture", fake_call_parameters(small, "true"), &reply, &f) < 0)
		return 3;
	json_decref(reply);
	iso_client_free(c);
	return 0;
}

static void are_shared_out(const char *what)
{
	const gid_t members[] = {FAKE_MEMBERS};

	assert_int_equal(geteuid(), 0);
	write_ceiling("{\"ceiling_version\": 1, \"callers\": {\"groups\": [\"4242\"]},"
		      "\"shared_kernel\": true}");
	assert_int_equal(as_user(captures_rules, what, members, 1), 0);
}

static void rules_are_shared_out(void **state)
{
	(void)state;
	are_shared_out("rules");
}

static void absent_paths_are_shared_out(void **state)
{
	(void)state;
	are_shared_out("absent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(other_users_may_do_what_they_may),
		WITH_AGENT(a_ceiling_lets_members_seal_within_it),
		WITH_AGENT(rules_are_shared_out),
		WITH_AGENT(absent_paths_are_shared_out),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
