/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "isoctl/seal.h"
#include "run/trees.h"

#define JOIN_TRIES 20 /* with 100 ms between them: another private isod comes or goes */

void seal_session_free(struct seal_session *s)
{
	if (s->pumping)
		iso_pump_close(&s->pump);
	s->pumping = false;
	iso_client_free(s->client);
	json_decref(s->result);
	json_decref(s->findings);
	iso_policy_free(s->policy);
	iso_manifest_free(s->manifest);
	free(s->run);
	free(s->sha256);
}

/* ------------------------------------------------------------------------------ Capture */

static json_t *command_json(char **command)
{
	json_t *list = json_array();

	for (; *command; command++)
		json_array_append_new(list, json_string(*command));
	return list;
}

/* What the manifest lets through, where this environment has it. */
static json_t *environment_json(const struct iso_manifest *m)
{
	const struct iso_strv *names = &m->process.environment_pass;
	json_t *map = json_object();

	for (size_t i = 0; i < names->count; i++) {
		const char *value = getenv(names->items[i]);

		if (value)
			json_object_set_new(map, names->items[i], json_string(value));
	}
	return map;
}

static bool all_text(json_t *values)
{
	json_t *value;
	const char *name;
	size_t i;

	json_array_foreach (values, i, value) {
		if (!value)
			return false;
	}
	json_object_foreach (values, name, value) {
		if (!value)
			return false;
	}
	return true;
}

static int capture_once(struct seal_session *s, struct iso_failure *f)
{
	json_t *command = command_json(s->options->command);
	json_t *environment = environment_json(s->manifest);
	struct iso_client_reply reply = {0};
	const char *run, *sha256;
	size_t words = 0;
	int r;

	while (s->options->command[words])
		words++;
	/* jansson takes no text that is not UTF-8; what it did not take is missing here. */
	if (json_array_size(command) != words || !all_text(command) || !all_text(environment)) {
		json_decref(command);
		json_decref(environment);
		return iso_failure_set(f, ISO_CLASS_COMMAND, -EILSEQ, "command", NULL,
				       "the command or a variable is not UTF-8");
	}
	r = iso_client_send(s->client, "Capture",
			    json_pack("{s:s, s:o, s:o}", "manifest", s->text, "command", command,
				      "environment", environment),
			    0, NULL, 0, f);
	if (r == 0)
		r = iso_client_receive(s->client, true, &reply, f);
	if (r < 0) {
		s->findings = reply.findings;
		return r;
	}
	if (json_unpack(reply.parameters, "{s:s, s:i, s:s}", "run", &run, "attempt", &s->attempt,
			"manifest_sha256", &sha256) < 0)
		r = iso_failure_set(f, ISO_CLASS_INTERNAL, -EBADMSG, "capture",
				    "let isoctl and isod be of the same version",
				    "isod's answer is not understood");
	else if (!(s->run = strdup(run)) || !(s->sha256 = strdup(sha256)))
		r = iso_failure_set(f, ISO_CLASS_SETUP, -ENOMEM, "capture", NULL, "out of memory");
	iso_client_reply_clear(&reply);
	return r;
}

/*
 * Two callers may each start an isod of their own at the same moment: one wins, the other joins it.
 * Or the one that was joined is about to end. Nothing was captured yet, so it is safe to try again.
 */
static int capture(struct seal_session *s, struct iso_failure *f)
{
	const struct iso_client_options o = {
		.socket = s->options->socket, .private = s->options->private, .may_start = true};
	int r = 0;

	for (int i = 0; i < JOIN_TRIES; i++) {
		r = iso_client_open(&o, &s->client, f);
		if (r == 0)
			r = capture_once(s, f);
		if (r != -ECONNRESET || s->options->private ||
		    (f->class == ISO_CLASS_AGENT && i > 1))
			return r;
		iso_client_free(s->client);
		s->client = NULL;
		usleep(100 * 1000);
	}
	return r;
}

/* ------------------------------------------------------------------------------ Launch */

static json_t *indexes(size_t first, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)first + (json_int_t)i));
	return list;
}

static int launch(struct seal_session *s, struct iso_fds *fds, size_t hosts, struct iso_failure *f)
{
	size_t count = fds->count;
	json_t *parameters =
		json_pack("{s:s, s:o, s:o}", "run", s->run, "host_fds", indexes(0, hosts),
			  "input_fds", indexes(hosts, count - hosts));

	fds->count = 0; /* they are handed on */
	return iso_client_send(s->client, "Launch", parameters, ISO_CALL_MORE, fds->fds, count, f);
}

/* Takes the descriptor that a member of the reply names, once. */
static int take_fd(struct iso_client_reply *reply, const char *name)
{
	json_t *index = json_object_get(reply->parameters, name);
	json_int_t n = json_integer_value(index);

	if (!json_is_integer(index) || n < 0 || (size_t)n >= reply->fds.count)
		return -1;
	return iso_take_fd(&reply->fds.fds[n]);
}

static int start_pump(struct seal_session *s, struct iso_client_reply *reply, struct iso_failure *f)
{
	const int to[2] = {STDOUT_FILENO, STDERR_FILENO};
	int from[2] = {take_fd(reply, "stdout"), take_fd(reply, "stderr")};
	int in = take_fd(reply, "stdin");
	int r = -EBADMSG;

	if (from[0] >= 0 && from[1] >= 0)
		r = iso_pump_open(&s->pump, from, to, STDIN_FILENO, in,
				  s->manifest->limits.log_bytes, s->manifest->limits.log_raw);
	if (r < 0) {
		iso_close_fd(&from[0]);
		iso_close_fd(&from[1]);
		iso_close_fd(&in);
		return iso_failure_set(f, ISO_CLASS_AGENT, r, "launch", NULL,
				       "isod gave no output to read: %m");
	}
	s->pumping = true;
	return 0;
}

static int take_reply(struct seal_session *s, struct iso_client_reply *reply, struct iso_failure *f)
{
	const char *state = json_string_value(json_object_get(reply->parameters, "state"));
	json_t *result = json_object_get(reply->parameters, "result");
	int r = 0;

	if (!s->launched)
		r = start_pump(s, reply, f);
	s->launched = true;
	s->running |= state && strcmp(state, "running") == 0;
	if (state && r == 0)
		seal_progress(s, state);
	if (!reply->continues && result)
		s->result = json_incref(result);
	else if (!reply->continues && r == 0)
		r = iso_failure_set(f, ISO_CLASS_AGENT, -EBADMSG, "launch", NULL,
				    "isod ended the launch without a result");
	return r;
}

static int take_replies(struct seal_session *s, struct iso_failure *f)
{
	struct iso_client_reply reply;
	int r;

	while (!s->result) {
		r = iso_client_receive(s->client, false, &reply, f);
		if (r == -EAGAIN)
			return 0;
		if (r == 0)
			r = take_reply(s, &reply, f);
		iso_client_reply_clear(&reply);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ------------------------------------------------------------------------------ the loop */

static int cancel(struct seal_session *s, const char *reason, bool kill, struct iso_failure *f)
{
	return iso_client_send(
		s->client, "Cancel",
		json_pack("{s:s, s:s, s:b}", "run", s->run, "reason", reason, "kill", kill),
		ISO_CALL_ONEWAY, NULL, 0, f);
}

static int take_signals(struct seal_session *s, int fd, struct iso_failure *f)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
		int r = s->result ? 0 : cancel(s, "cancelled", s->signals > 0, f);

		s->signals++;
		if (r < 0)
			return r;
	}
	return 0;
}

static int report_trouble(struct seal_session *s, bool *told, struct iso_failure *f)
{
	if (*told || s->pump.trouble == ISO_PUMP_FINE || s->result)
		return 0;
	*told = true;
	return cancel(s, s->pump.trouble == ISO_PUMP_OVER_LIMIT ? "limit_log" : "capture_failure",
		      false, f);
}

static bool done(const struct seal_session *s)
{
	return s->result && (!s->pumping || iso_pump_done(&s->pump));
}

static int attend(struct seal_session *s, int signals, struct iso_failure *f)
{
	struct pollfd polls[2 + ISO_PUMP_POLLS];
	bool told = false;
	int r = 0;

	while (r == 0 && !done(s)) {
		size_t n = 0;

		polls[n++] = (struct pollfd){.fd = signals, .events = POLLIN};
		/* Once there is a result nothing more is expected from there. */
		polls[n++] = (struct pollfd){.fd = s->result ? -1 : iso_client_fd(s->client),
					     .events = POLLIN};
		if (s->pumping)
			n += iso_pump_poll(&s->pump, polls + n);
		if (poll(polls, n, -1) < 0) {
			if (errno == EINTR)
				continue;
			return iso_failure_set(f, ISO_CLASS_INTERNAL, -errno, "poll", NULL,
					       "poll: %m");
		}
		if (s->pumping)
			iso_pump_turn(&s->pump, polls + 2, n - 2);
		if (polls[0].revents)
			r = take_signals(s, signals, f);
		if (r == 0 && polls[1].revents)
			r = take_replies(s, f);
		if (r == 0 && s->pumping)
			r = report_trouble(s, &told, f);
		/* Somebody who asks twice does not wait for a terminal that has stalled. */
		if (s->result && s->signals > 1)
			break;
	}
	return r;
}

static int catch_signals(int *ret, struct iso_failure *f)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	*ret = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*ret < 0 || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return iso_failure_set(f, ISO_CLASS_SETUP, -errno, "signals", NULL, "signals: %m");
	return 0;
}

int seal_session_run(struct seal_session *s, struct iso_failure *f)
{
	ISO_AUTO_CLOSE int signals = -1;
	struct iso_fds fds = {.count = 0};
	size_t hosts = 0;
	int r;

	r = iso_trees_open(s->policy, &fds, &hosts, f);
	if (r == 0)
		r = catch_signals(&signals, f);
	if (r == 0)
		r = capture(s, f);
	if (r == 0)
		r = launch(s, &fds, hosts, f);
	iso_fds_close(&fds);
	if (r == 0)
		r = attend(s, signals, f);
	/* isod went away under a run: isoinit ends the sandbox, and nobody can say how it ended. */
	return r;
}
