/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "run/interfaces.h"
#include "run/sibling.h"

#define STEP	     "agent"
#define EXIT_BUSY    75	  /* isod: another one holds this host */
#define END_PATIENCE 1000 /* ms for a private isod to go */
#define PRIVATE_FD   3

struct iso_client {
	struct iso_varlink_stream *stream;
	pid_t isod; /* of a private one; 0: none */
	int pidfd;
};

int iso_client_fd(const struct iso_client *c)
{
	return iso_varlink_stream_fd(c->stream);
}

void iso_client_free(struct iso_client *c)
{
	struct pollfd end;

	if (!c)
		return;
	iso_varlink_stream_free(c->stream);
	if (c->isod > 0) {
		/* It leaves in order by itself; others may have joined it, so not for ever. */
		end = (struct pollfd){.fd = c->pidfd, .events = POLLIN};
		poll(&end, 1, END_PATIENCE);
		waitpid(c->isod, NULL, WNOHANG);
	}
	iso_close_fd(&c->pidfd);
	free(c);
}

static int wrap(int fd, struct iso_client **ret, struct iso_failure *f)
{
	struct iso_client *c = calloc(1, sizeof *c);
	int r = c ? iso_varlink_stream_new(fd, &c->stream) : -ENOMEM;

	if (r < 0) {
		close(fd);
		free(c);
		return iso_failure_set(f, ISO_CLASS_AGENT, r, STEP, NULL, "connection: %m");
	}
	c->pidfd = -1;
	*ret = c;
	return 0;
}

static int connect_to(const char *path, struct iso_client **ret, struct iso_failure *f)
{
	ISO_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof address.sun_path)
		return iso_failure_set(f, ISO_CLASS_USAGE, -ENAMETOOLONG, STEP, NULL,
				       "the socket's name is too long");
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
		int r = -errno;

		if (r == -EACCES || r == -EPERM)
			return iso_failure_set(
				f, ISO_CLASS_PERMISSION, r, STEP,
				"ask root for: usermod -a -G isoctl $USER, then log in again",
				"you may not use %s: %m", path);
		return iso_failure_set(f, ISO_CLASS_NO_AGENT, r, STEP,
				       "start it (systemctl start isod.socket), or use sudo",
				       "isod does not answer on %s: %m", path);
	}
	return wrap(iso_take_fd(&fd), ret, f);
}

/* Between vfork-like clone and exec: async-signal-safe calls only. */
static void become_isod(int program, int socket_fd)
{
	static char number[] = "3", name[] = "isod", option[] = "--private";
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", lang[] = "LANG=C.UTF-8";
	char *const argv[] = {name, option, number, NULL};
	char *const environment[] = {path, lang, NULL};
	sigset_t none;
	int null;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Above the descriptors that are about to be set, so that none is overwritten. */
	program = fcntl(program, F_DUPFD_CLOEXEC, 10);
	socket_fd = fcntl(socket_fd, F_DUPFD_CLOEXEC, 10);
	null = open("/dev/null", O_RDWR);
	if (program < 0 || socket_fd < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(socket_fd, PRIVATE_FD) < 0)
		_exit(1);
	syscall(SYS_execveat, program, "", argv, environment, AT_EMPTY_PATH);
	_exit(1);
}

static int start_private(struct iso_client **ret, struct iso_failure *f)
{
	ISO_AUTO_CLOSE int program = -1, ours = -1, theirs = -1;
	struct iso_error e = {0};
	int pair[2], r;
	pid_t pid;

	if (geteuid() != 0)
		return iso_failure_set(f, ISO_CLASS_NO_AGENT, -EPERM, STEP,
				       "start isod (systemctl start isod.socket), or use sudo",
				       "only root can start an isod of its own");
	r = iso_sibling_open("isod", &program, NULL, &e);
	if (r < 0) {
		iso_failure_wrap(f, ISO_CLASS_AGENT, &e);
		f->error.retryable = false;
		return r;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return iso_failure_set(f, ISO_CLASS_AGENT, -errno, STEP, NULL, "socketpair: %m");
	ours = pair[0];
	theirs = pair[1];
	pid = fork();
	if (pid < 0)
		return iso_failure_set(f, ISO_CLASS_AGENT, -errno, STEP, NULL, "fork: %m");
	if (pid == 0)
		become_isod(program, theirs);
	r = wrap(iso_take_fd(&ours), ret, f);
	if (r < 0)
		return r;
	(*ret)->isod = pid;
	(*ret)->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return 0;
}

int iso_client_open(const struct iso_client_options *o, struct iso_client **ret,
		    struct iso_failure *f)
{
	int r;

	if (o->private)
		return start_private(ret, f);
	r = connect_to(o->socket ? o->socket : ISO_AGENT_SOCKET, ret, f);
	if (r < 0 && f->class == ISO_CLASS_NO_AGENT && !o->socket && o->may_start && geteuid() == 0)
		return start_private(ret, f);
	return r;
}

/* ------------------------------------------------------------------------------ calls */

static int ended(struct iso_client *c, struct iso_failure *f)
{
	int status = 0;

	if (c->isod > 0) {
		struct pollfd end = {.fd = c->pidfd, .events = POLLIN};

		poll(&end, 1, END_PATIENCE);
		if (waitpid(c->isod, &status, WNOHANG) == c->isod)
			c->isod = 0;
		if (c->isod == 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BUSY)
			return iso_failure_set(f, ISO_CLASS_BUSY, -ECONNRESET, STEP,
					       "use it: leave --private out, or end it",
					       "another isod holds this host");
	}
	return iso_failure_set(f, ISO_CLASS_AGENT, -ECONNRESET, STEP,
			       "see journalctl -u isod, or what isod said above",
			       "isod has ended the connection");
}

static int wait_for(struct iso_client *c, short events)
{
	struct pollfd p = {.fd = iso_client_fd(c), .events = events};

	return poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

int iso_client_send(struct iso_client *c, const char *method, json_t *parameters, unsigned flags,
		    const int *fds, size_t n, struct iso_failure *f)
{
	char name[128];
	json_t *message;
	int r;

	snprintf(name, sizeof name, ISO_AGENT ".%s", method);
	message = json_pack("{s:s, s:o}", "method", name, "parameters", parameters);
	if (message && (flags & ISO_CALL_MORE))
		json_object_set_new(message, "more", json_true());
	if (message && (flags & ISO_CALL_ONEWAY))
		json_object_set_new(message, "oneway", json_true());
	r = iso_varlink_stream_queue(c->stream, message ? message : json_null(), fds, n);
	json_decref(message);
	while (r == 0 && (r = iso_varlink_stream_flush(c->stream)) == 1)
		r = wait_for(c, POLLOUT);
	/* A refusal may lie in our queue already: the one who reads finds out. */
	if (r == -EPIPE || r == -ECONNRESET)
		return 0;
	if (r < 0)
		return iso_failure_set(f, ISO_CLASS_AGENT, r, STEP, NULL, "cannot call isod: %m");
	return 0;
}

void iso_client_reply_clear(struct iso_client_reply *r)
{
	json_decref(r->parameters);
	json_decref(r->findings);
	iso_fds_close(&r->fds);
	r->parameters = r->findings = NULL;
}

static int error_reply(const char *error, json_t *parameters, struct iso_client_reply *ret,
		       struct iso_failure *f)
{
	const char *name = strrchr(error, '.');
	char shown[200];

	if (name && strcmp(name, ".InvalidManifest") == 0)
		ret->findings = json_incref(json_object_get(parameters, "findings"));
	if (name && strcmp(name, ".NoSuchRun") == 0)
		return iso_failure_set(f, ISO_CLASS_USAGE, -ENOENT, "run", "see isoctl ps",
				       "there is no such run (of yours)");
	if (iso_failure_parse(json_object_get(parameters, "failure"), f) == 0)
		return -EIO;
	iso_text_escape(error, strlen(error), shown, sizeof shown);
	return iso_failure_set(f, ISO_CLASS_INTERNAL, -EIO, STEP,
			       "let isoctl and isod be of the same version", "isod answers %s",
			       shown);
}

static int decode(json_t *message, struct iso_client_reply *ret, struct iso_failure *f)
{
	const char *error = json_string_value(json_object_get(message, "error"));
	json_t *parameters = json_object_get(message, "parameters");

	if (error)
		return error_reply(error, parameters, ret, f);
	ret->continues = json_is_true(json_object_get(message, "continues"));
	ret->parameters = parameters ? json_incref(parameters) : json_object();
	return 0;
}

int iso_client_receive(struct iso_client *c, bool wait, struct iso_client_reply *ret,
		       struct iso_failure *f)
{
	json_t *message = NULL;
	int r;

	*ret = (struct iso_client_reply){0};
	for (;;) {
		r = iso_varlink_stream_next(c->stream, &message, &ret->fds);
		if (r == 1)
			break;
		if (r == 0)
			r = iso_varlink_stream_read(c->stream);
		if (r == -EAGAIN && !wait)
			return r;
		if (r == -EAGAIN)
			r = wait_for(c, POLLIN) < 0 ? -errno : 1;
		if (r == 0)
			return ended(c, f);
		if (r < 0)
			return iso_failure_set(f, ISO_CLASS_AGENT, r, STEP, NULL,
					       "isod's answer cannot be read: %m");
	}
	r = decode(message, ret, f);
	json_decref(message);
	if (r < 0)
		iso_fds_close(&ret->fds);
	return r;
}

int iso_client_call(struct iso_client *c, const char *method, json_t *parameters, json_t **ret,
		    struct iso_failure *f)
{
	struct iso_client_reply reply = {0};
	int r = iso_client_send(c, method, parameters, 0, NULL, 0, f);

	if (r == 0)
		r = iso_client_receive(c, true, &reply, f);
	if (r < 0) {
		json_decref(reply.findings);
		return r;
	}
	*ret = json_incref(reply.parameters);
	iso_client_reply_clear(&reply);
	return 0;
}
