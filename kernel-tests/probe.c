/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	probe run VARIANT	every case of that manifest, each as a program of its own
 *	probe case NUMBER	that one; exit codes of probe.h
 *	probe outside VARIANT	the operations of that manifest, each outside any sandbox
 *	probe beyond NUMBER	that one
 *	probe copy FILE FILE	for scripts
 *	probe prepared VERB WORDS...	as the next, with what the verb prepares where it may
 *	probe apart VERB WORDS...	the same, with mounts and a host name of its own
 *	probe VERB WORDS...	a single action, for scripts: exits with its errno
 *
 * `run` prints "case NAME VERDICT ERRNO" for each; a case's program calls itself "case-NUMBER", and
 * its events carry that name.
 */
#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static const struct probe_verb *const tables[] = {
	probe_file_verbs,    probe_open_verbs,
	probe_tree_verbs,    probe_exec_verbs,
	probe_net_verbs,     probe_unix_verbs,
	probe_process_verbs, probe_surface_verbs,
	probe_mount_verbs,   probe_kernel_verbs,
	probe_uring_verbs,   probe_state_verbs,
	probe_limits_verbs,  NULL,
};

int probe_outside;

int probe_in_child(int (*body)(void *), void *data)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(body(data));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return CANNOT;
	return WEXITSTATUS(status);
}

int probe_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755), r = 0;
	static char buffer[65536];
	ssize_t n = -1;

	while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, (size_t)n) != n)
			r = CANNOT;
	close(in);
	close(out);
	return n ? CANNOT : r;
}

static int perform(char **words)
{
	for (size_t t = 0; tables[t]; t++)
		for (const struct probe_verb *v = tables[t]; v->name; v++)
			if (!strcmp(v->name, words[0]))
				return v->run(words + 1);
	return CANNOT;
}

/* The action of a row, under the name that its events will carry: its errno, 0, or CANNOT. */
static int perform_row(const struct iso_kernel_case *c, long number)
{
	char text[512], name[32], *words[PROBE_WORDS + 1] = {}, *save;

	snprintf(text, sizeof text, "%s", c->action);
	words[0] = strtok_r(text, " ", &save);
	for (size_t i = 1; i < PROBE_WORDS && words[i - 1]; i++)
		words[i] = strtok_r(NULL, " ", &save);
	if (!words[0])
		return CANNOT;
	snprintf(name, sizeof name, "case-%ld", number);
	prctl(PR_SET_NAME, name);
	return perform(words);
}

static int run_case(long number)
{
	const struct iso_kernel_case *c = &iso_case_rows[number];
	int got = perform_row(c, number);

	dprintf(STDOUT_FILENO, "case %s %d\n", c->name, got);
	if (got == CANNOT)
		return PROBE_NOT_RUN;
	if (got != c->error)
		return PROBE_UNLIKE;
	return got ? PROBE_DENIED : PROBE_ALLOWED;
}

/* Mounts and the name of the host are its own; what hangs is no answer. */
static int apart(void)
{
	alarm(60);
	return unshare(CLONE_NEWNS | CLONE_NEWUTS) ||
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static int run_outside(long number)
{
	const struct iso_kernel_case *c = &iso_case_rows[number];

	probe_outside = 1;
	if (apart())
		return PROBE_NOT_RUN;
	dprintf(STDOUT_FILENO, "case %s %d\n", c->name, perform_row(c, number));
	return PROBE_ALLOWED;
}

static int run_variant(const char *variant, const char *way, bool operations)
{
	int bad = 0;

	for (size_t i = 0; i < iso_case_count; i++) {
		char number[32], word[16], self[] = "/usr/local/lib/iso-probe";
		char *argv[] = {self, word, number, NULL};
		pid_t pid;
		int status;

		if (strcmp(iso_case_rows[i].variant, variant) != 0 ||
		    (operations && !iso_case_rows[i].decider))
			continue;
		snprintf(number, sizeof number, "%zu", i);
		snprintf(word, sizeof word, "%s", way);
		pid = fork();
		if (!pid) {
			execv(self, argv);
			_exit(PROBE_NOT_RUN);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid) {
			perror("probe");
			return 2;
		}
		if (!WIFEXITED(status))
			dprintf(STDOUT_FILENO, "died %s %d\n", iso_case_rows[i].name, status);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) > PROBE_DENIED;
	}
	return bad ? 1 : 0;
}

static int by_number(const char *text, int (*run)(long number))
{
	long number = strtol(text, NULL, 10);

	return number < 0 || (size_t)number >= iso_case_count ? PROBE_NOT_RUN : run(number);
}

int main(int argc, char **argv)
{
	char *words[PROBE_WORDS + 1] = {};
	int got;

	if (argc == 3 && !strcmp(argv[1], "run"))
		return run_variant(argv[2], "case", false);
	if (argc == 3 && !strcmp(argv[1], "outside"))
		return run_variant(argv[2], "beyond", true);
	if (argc == 3 && !strcmp(argv[1], "case"))
		return by_number(argv[2], run_case);
	if (argc == 3 && !strcmp(argv[1], "beyond"))
		return by_number(argv[2], run_outside);
	if (argc == 4 && !strcmp(argv[1], "copy"))
		return probe_copy(argv[2], argv[3]) ? 1 : 0;
	for (; argc > 1 && (!strcmp(argv[1], "apart") || !strcmp(argv[1], "prepared"));
	     argc--, argv++) {
		if (!strcmp(argv[1], "apart") && apart())
			return 255;
		probe_outside = 1;
	}
	if (argc < 2 || argc > PROBE_WORDS)
		return 255;
	memcpy(words, argv + 1, (size_t)(argc - 1) * sizeof *words);
	got = perform(words);
	return got == CANNOT ? 255 : got;
}
