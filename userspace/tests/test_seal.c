/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * isoctl itself against an agent over stand-ins (fake_host.h): exit statuses, the result file,
 * bounds of the output, signals, and what a newcomer gets wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
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
#include "common/io.h"
#include "fake_host.h"

#define LIMITS "\"wall_time\": \"1m\", \"log_bytes\": \"1KiB\", \"stop_grace\": \"1s\""

static struct fake_agent agent;
static char program[4096], manifest[128], result[128];

/* What one isoctl did. */
struct done {
	int status;
	char *out, *err;
};

static int begin(void **state)
{
	const char *binary = getenv("ISO_BINARY_DIR");
	ISO_AUTO_FREE char *text = fake_manifest("t", LIMITS, "");
	ISO_AUTO_CLOSE int fd = -1;

	(void)state;
	fake_agent_start(&agent, -1);
	snprintf(program, sizeof program, "%s/bin/isoctl", binary ? binary : ".");
	snprintf(manifest, sizeof manifest, "%s/manifest.json", agent.directory);
	snprintf(result, sizeof result, "%s/result.json", agent.directory);
	fd = open(manifest, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return iso_write_all(fd, text, strlen(text));
}

static int finish(void **state)
{
	(void)state;
	return fake_agent_end(&agent);
}

static char *slurp(const char *name)
{
	char path[160], *text = NULL;

	snprintf(path, sizeof path, "%s/%s", agent.directory, name);
	assert_int_equal(iso_read_file(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
	return text;
}

static pid_t start(char *const *argv, const char *input)
{
	posix_spawn_file_actions_t actions;
	char out[160], err[160];
	pid_t pid;

	snprintf(out, sizeof out, "%s/out", agent.directory);
	snprintf(err, sizeof err, "%s/err", agent.directory);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(posix_spawn(&pid, program, &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static struct done await(pid_t pid)
{
	struct done d = {0};
	int status;

	while (waitpid(pid, &status, 0) < 0)
		;
	d.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
	d.out = slurp("out");
	d.err = slurp("err");
	return d;
}

static void drop(struct done *d)
{
	free(d->out);
	free(d->err);
}

/* isoctl seal --socket S --result R MANIFEST -- sh -c SCRIPT (or the bare WORD) */
static pid_t start_seal(const char *command, bool shell, const char *input)
{
	char *argv[] = {program,
			(char *)"seal",
			(char *)"--socket",
			agent.socket,
			(char *)"--result",
			result,
			manifest,
			(char *)"--",
			shell ? (char *)"sh" : (char *)command,
			shell ? (char *)"-c" : NULL,
			(char *)command,
			NULL};

	return start(argv, input);
}

static struct done seal(const char *command, bool shell)
{
	return await(start_seal(command, shell, "/dev/null"));
}

/* A member of the result by its path of two names. */
static json_t *look(json_t *document, const char *first, const char *second)
{
	json_t *value = json_object_get(document, first);

	return second ? json_object_get(value, second) : value;
}

static json_t *read_result(void)
{
	ISO_AUTO_FREE char *text = slurp("result.json");
	json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(document);
	return document;
}

static void check_result(int status, const char *stop, const char *class, int retryable)
{
	json_t *document = read_result();
	const char *got = json_string_value(look(document, "stop_reason", NULL));
	const char *kind = json_string_value(look(document, "error", "class"));

	assert_int_equal(json_integer_value(look(document, "exit", "status")), status);
	assert_string_equal(got ? got : "none", stop ? stop : "none");
	assert_string_equal(kind ? kind : "none", class ? class : "none");
	if (retryable >= 0)
		assert_int_equal(json_is_true(look(document, "error", "retryable")), retryable);
	json_decref(document);
}

static void statuses_are_the_command_s_or_tell_why_not(void **state)
{
	static const struct {
		const char *command;
		bool shell;
		int status;
		const char *stop, *class;
		int retryable;
	} rows[] = {
		{"exit 0", true, 0, NULL, NULL, -1},
		{"exit 7", true, 7, NULL, NULL, -1},
		{"exit 124", true, 124, NULL, NULL, -1},
		{"kill -SEGV $$", true, 139, NULL, NULL, -1},
		{"kill -KILL $$", true, 137, NULL, NULL, -1},
		{"not-there", false, 127, NULL, "command-not-found", 0},
		{"not-allowed", false, 126, NULL, "command-not-executable", 0},
		{"fail-setup", false, 125, "setup-failure", "setup-failed", 1},
		{"fail-snapshot", false, 125, "setup-failure", "source-unusable", 0},
		{"wall", false, 124, "deadline", "stopped", 0},
		{"oom", false, 137, "limit-memory", "stopped", 0},
		{"lost", false, 137, "supervisor-lost", "stopped", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct done d = seal(rows[i].command, rows[i].shell);

		if (d.status != rows[i].status)
			print_error("%s: %s\n", rows[i].command, d.err);
		assert_int_equal(d.status, rows[i].status);
		check_result(rows[i].status, rows[i].stop, rows[i].class, rows[i].retryable);
		drop(&d);
	}
}

static void output_passes_and_its_account_is_short(void **state)
{
	struct done d = seal("echo out; echo err >&2", true);
	json_t *document;

	(void)state;
	assert_int_equal(d.status, 0);
	assert_string_equal(d.out, "out\n");
	assert_int_equal(strncmp(d.err, "err\n", 4), 0);
	assert_non_null(strstr(d.err, "ended with status 0"));
	document = read_result();
	assert_int_equal(json_integer_value(look(document, "output", "stdout_bytes")), 4);
	assert_true(json_is_true(look(document, "output", "complete")));
	assert_true(json_is_true(look(document, "settled", NULL)));
	assert_int_equal(json_string_length(look(document, "policy_digest", NULL)), 64);
	json_decref(document);
	drop(&d);
}

static void input_passes_until_its_end(void **state)
{
	struct done d;
	ISO_AUTO_FREE char *text = slurp("manifest.json");

	(void)state;
	d = await(start_seal("cat", true, manifest));
	assert_int_equal(d.status, 0);
	assert_string_equal(d.out, text);
	drop(&d);
}

static void output_is_bounded_and_must_be_text(void **state)
{
	struct done d = seal("while :; do echo 0123456789; done", true);

	(void)state;
	assert_int_equal(d.status, 137);
	assert_int_equal(strlen(d.out), 1024);
	check_result(137, "limit-log", "stopped", 0);
	drop(&d);

	/* It has ended before anybody can stop it: still not a success. */
	d = seal("printf '%02000d' 1", true);
	assert_int_equal(d.status, 137);
	assert_int_equal(strlen(d.out), 1024);
	check_result(137, "limit-log", "stopped", 0);
	drop(&d);

	d = seal("printf 'ok\\377'; exec cat", true);
	assert_int_equal(d.status, 137);
	assert_string_equal(d.out, "ok");
	check_result(137, "capture-failure", "stopped", 0);
	drop(&d);
}

static void wait_for_text(const char *name, const char *text)
{
	for (int i = 0; i < 2000; i++) {
		ISO_AUTO_FREE char *now = slurp(name);

		if (strstr(now, text))
			return;
		usleep(5000); /* lint-allow(sleeps): between two looks at a file, bounded above */
	}
	fail_msg("%s never says %s", name, text);
}

static void signals_cancel_in_order(void **state)
{
	pid_t pid = start_seal("echo begun; exec sleep 60", true, "/dev/null");
	struct done d;

	(void)state;
	wait_for_text("out", "begun");
	assert_int_equal(kill(pid, SIGINT), 0);
	d = await(pid);
	assert_int_equal(d.status, 137);
	check_result(137, "cancelled", "stopped", 1);
	assert_non_null(strstr(d.err, "cancelled"));
	drop(&d);

	/* The second one does not wait for a command that ignores TERM. */
	pid = start_seal("trap '' TERM; echo begun; while :; do sleep 60; done", true, "/dev/null");
	wait_for_text("out", "begun");
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(kill(pid, SIGINT), 0);
	d = await(pid);
	assert_int_equal(d.status, 137);
	check_result(137, "cancelled", "stopped", 1);
	drop(&d);
}

static void a_bad_result_path_refuses_before_anything(void **state)
{
	static const char *const bad[] = {"/nonexistent/r.json", "/dev/null", "/", "",
					  "/proc/self/r.json"};
	char attempts[160];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char *argv[] = {program,      (char *)"seal",	  (char *)"--socket",
				agent.socket, (char *)"--result", (char *)bad[i],
				manifest,     (char *)"--",	  (char *)"true",
				NULL};
		struct done d = await(start(argv, "/dev/null"));

		assert_int_equal(d.status, 125);
		assert_non_null(strstr(d.err, "remedy"));
		drop(&d);
	}
	snprintf(attempts, sizeof attempts, "%s/state/attempts", agent.directory);
	assert_int_equal(access(attempts, F_OK), -1);
	assert_true(access("/dev/null", W_OK) == 0);
}

static struct done isoctl(const char *a, const char *b, const char *c, const char *d)
{
	char *argv[] = {program, (char *)a, (char *)b, (char *)c, (char *)d, NULL};

	return await(start(argv, "/dev/null"));
}

static void expect(struct done d, int status, const char *text)
{
	if (d.status != status || !strstr(d.err, text))
		print_error("status %d: %s%s\n", d.status, d.out, d.err);
	assert_int_equal(d.status, status);
	assert_non_null(strstr(d.err, text));
	drop(&d);
}

static void mistakes_lead_to_the_right_next_step(void **state)
{
	char broken[160];
	ISO_AUTO_CLOSE int fd = -1;

	(void)state;
	expect(isoctl("seal", NULL, NULL, NULL), 125, "isoctl seal --help");
	expect(isoctl("seal", "--wrong", manifest, NULL), 125, "--wrong");
	expect(isoctl("seal", manifest, "true", NULL), 125, "--");
	expect(isoctl("seal", "/nonexistent", NULL, NULL), 125, "cannot read");
	expect(isoctl("seal", "--socket", "/nonexistent", manifest), 125, "remedy");
	expect(isoctl("ps", "--socket", "/nonexistent", NULL), 1, "remedy");
	expect(isoctl("ps", "extra", NULL, NULL), 2, "extra");
	expect(isoctl("stop", NULL, NULL, NULL), 2, "isoctl ps");
	expect(isoctl("stop", "--socket", agent.socket, "none"), 1, "isoctl ps");
	expect(isoctl("features", "--bad", NULL, NULL), 2, "--bad");
	expect(isoctl("doctor", "extra", NULL, NULL), 2, "extra");
	snprintf(broken, sizeof broken, "%s/broken.json", agent.directory);
	fd = open(broken, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(iso_write_all(fd, "{\"manifest_version\": 2}", 23), 0);
	expect(isoctl("seal", broken, "--", "true"), 125, "/manifest_version");
}

static void ps_and_stop_show_and_end_a_run(void **state)
{
	pid_t pid = start_seal("echo begun; exec sleep 60", true, "/dev/null");
	char name[128] = "";
	json_t *runs;
	struct done d, sealed;

	(void)state;
	wait_for_text("out", "begun");
	{
		/* Its own files would be overwritten by the other isoctl's. */
		char command[8192], text[4096] = "";
		FILE *pipe;

		snprintf(command, sizeof command, "%s ps --json --socket %s", program,
			 agent.socket);
		pipe = popen(command, "re");
		assert_non_null(pipe);
		assert_true(fread(text, 1, sizeof text - 1, pipe) > 0);
		assert_int_equal(pclose(pipe), 0);
		runs = json_loads(text, 0, NULL);
		assert_int_equal(json_array_size(runs), 1);
		snprintf(name, sizeof name, "%s",
			 json_string_value(json_object_get(json_array_get(runs, 0), "run")));
		json_decref(runs);
		snprintf(command, sizeof command, "%s stop --wait --socket %s %s", program,
			 agent.socket, name);
		assert_int_equal(system(command), 0);
	}
	sealed = await(pid);
	assert_int_equal(sealed.status, 137);
	check_result(137, "cancelled", "stopped", 1);
	drop(&sealed);
	d = isoctl("ps", "--socket", agent.socket, NULL);
	assert_int_equal(d.status, 0);
	assert_non_null(strstr(d.err, "no run"));
	drop(&d);
}

static void features_say_what_is_missing(void **state)
{
	struct done d = isoctl("features", "--socket", agent.socket, NULL);

	(void)state;
	assert_int_equal(d.status, 1);
	assert_non_null(strstr(d.out, "MISSING  lsm-bpf"));
	assert_non_null(strstr(d.out, "isoctl doctor"));
	drop(&d);
}

static json_t *numbered(const char *prefix, unsigned count)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list, json_sprintf("%s%u", prefix, i));
	return list;
}

#define INPUTS	32 /* with nearly as many protected names each as there may be */
#define PROTECT 236
#define ABSENT	1024

/* A manifest of over 9,000 rules and those that are denied. */
static void write_rules(unsigned denied)
{
	ISO_AUTO_FREE char *text = fake_manifest("t", LIMITS, "");
	json_t *m = json_loads(text, 0, NULL), *inputs = json_array();
	char path[160];

	for (unsigned i = 0; i < INPUTS; i++) {
		snprintf(path, sizeof path, "%s/source%u", agent.directory, i);
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		json_array_append_new(
			inputs, json_pack("{s:s, s:o, s:s, s:s, s:s, s:i, s:o}", "source", path,
					  "target", json_sprintf("/input%u", i), "mode", "snapshot",
					  "access", "write", "size", "4KiB", "inodes", 16,
					  "protect", numbered("name", PROTECT)));
	}
	json_object_set_new(json_object_get(json_object_get(m, "process"), "limits"), "memory",
			    json_string("96MiB"));
	json_object_set_new(m, "filesystem",
			    json_pack("{s:o, s:o, s:o}", "inputs", inputs, "deny",
				      numbered("/input0/denied", denied), "assert_absent",
				      numbered("/absent/", ABSENT)));
	assert_int_equal(json_dump_file(m, manifest, 0), 0);
	json_decref(m);
}

static void too_many_rules_are_refused_before_anything(void **state)
{
	struct done d;

	(void)state;
	write_rules(100);
	d = seal("true", false);
	if (d.status)
		fail_msg("%s", d.err);
	drop(&d);
	write_rules(1000);
	d = seal("true", false);
	assert_int_equal(d.status, 125);
	assert_non_null(strstr(d.err, "the manifest makes more than 10000 rules"));
	check_result(125, NULL, "policy", 0);
	drop(&d);
}

int main(void)
{
#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, begin, finish)
	const struct CMUnitTest tests[] = {
		WITH_AGENT(statuses_are_the_command_s_or_tell_why_not),
		WITH_AGENT(output_passes_and_its_account_is_short),
		WITH_AGENT(input_passes_until_its_end),
		WITH_AGENT(output_is_bounded_and_must_be_text),
		WITH_AGENT(signals_cancel_in_order),
		WITH_AGENT(a_bad_result_path_refuses_before_anything),
		WITH_AGENT(mistakes_lead_to_the_right_next_step),
		WITH_AGENT(ps_and_stop_show_and_end_a_run),
		WITH_AGENT(features_say_what_is_missing),
		WITH_AGENT(too_many_rules_are_refused_before_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
