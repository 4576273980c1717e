/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/log.h"
#include "isod/daemon.h"
#include "manifest/ceiling.h"
#include "run/attempts.h"
#include "run/interfaces.h"

#define EXIT_BUSY 75 /* EX_TEMPFAIL: another isod holds this host */

static const char usage[] =
	"Usage: isod [--socket PATH]\n"
	"       isod --private FD\n"
	"       isod --features\n"
	"\n"
	"The agent of isoctl: builds, seals and supervises sandboxes. Runs as root; systemd starts\n"
	"it with isod.socket, `isoctl seal` starts a private one when none runs.\n"
	"\n"
	"  --socket PATH     listen here (default " ISO_AGENT_SOCKET ")\n"
	"  --private FD      serve the stream socket FD, listen too while nobody else does, and\n"
	"                    end with the last connection\n"
	"  --features        print what this host can enforce, as JSON, and exit\n"
	"  --run DIR         sockets, locks and ids (default /run/isoctl)\n"
	"  --state DIR       attempts (default " ISO_ATTEMPTS_DIRECTORY ")\n"
	"  --ceiling FILE    what others than root may ask for (default " ISO_CEILING_PATH ")\n"
	"  --log DIR         events (default " ISO_EVENTS_DIRECTORY ")\n"
	"  -v, --verbose     say more\n"
	"  -h, --help        this text\n"
	"  -V, --version     the version\n";

enum {
	OPTION_SOCKET = 256,
	OPTION_PRIVATE,
	OPTION_FEATURES,
	OPTION_RUN,
	OPTION_STATE,
	OPTION_CEILING,
	OPTION_LOG
};

static const struct option options[] = {
	{"socket", required_argument, NULL, OPTION_SOCKET},
	{"private", required_argument, NULL, OPTION_PRIVATE},
	{"features", no_argument, NULL, OPTION_FEATURES},
	{"run", required_argument, NULL, OPTION_RUN},
	{"state", required_argument, NULL, OPTION_STATE},
	{"ceiling", required_argument, NULL, OPTION_CEILING},
	{"log", required_argument, NULL, OPTION_LOG},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{0},
};

static int print_features(void)
{
	json_t *list = iso_features_json();
	int r = json_dumpf(list, stdout, JSON_COMPACT);

	json_decref(list);
	return r < 0 || putchar('\n') == EOF || fflush(stdout) != 0;
}

/* Everything that is inherited and not asked for is closed: whoever started us is a program too. */
static void close_inherited(int keep)
{
	int listening = sd_listen_fds(0),
	    above = SD_LISTEN_FDS_START + (listening > 0 ? listening : 0);

	if (keep >= above) {
		if (keep > above)
			close_range((unsigned)above, (unsigned)keep - 1, 0);
		above = keep + 1;
	}
	close_range((unsigned)above, ~0u, 0);
	/* 0-2 are open, so that nothing of ours becomes standard output. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			_exit(1);
}

static int open_sockets(struct iso_daemon *d, const struct iso_daemon_options *o,
			struct iso_error *e)
{
	int n = sd_listen_fds(1), r = 0;

	if (o->private_fd >= 0) {
		fcntl(o->private_fd, F_SETFD, FD_CLOEXEC);
		r = iso_connection_new(d, o->private_fd, true);
		if (r < 0)
			return iso_error_set(e, r, "socket", NULL, "--private %d: %m",
					     o->private_fd);
		/* Others join this one rather than fail; when somebody listens, that is as well. */
		if (d->refusal.class == ISO_CLASS_NONE)
			iso_daemon_bind(d, o->socket, NULL);
		return 0;
	}
	for (int i = 0; i < n && r == 0; i++) {
		if (sd_is_socket_unix(SD_LISTEN_FDS_START + i, SOCK_STREAM, 1, NULL, 0) <= 0)
			return iso_error_set(e, -EINVAL, "socket", "see isod.socket",
					     "descriptor %d is no listening stream socket",
					     SD_LISTEN_FDS_START + i);
		r = iso_daemon_listen(d, SD_LISTEN_FDS_START + i);
		if (r < 0)
			iso_error_set(e, r, "socket", NULL, "cannot listen: %m");
	}
	if (n > 0 || r < 0)
		return r;
	if (d->refusal.class != ISO_CLASS_NONE) {
		*e = d->refusal.error;
		return -EOPNOTSUPP;
	}
	return iso_daemon_bind(d, o->socket, e);
}

static void tell(const struct iso_error *e)
{
	iso_log_error("%s: %s", e->step, e->message);
	if (*e->remedy)
		iso_log_error("%s: remedy: %s", e->step, e->remedy);
}

static int serve(struct iso_daemon_options *o)
{
	static struct iso_daemon d;
	struct iso_error e = {0};
	int r;

	signal(SIGPIPE, SIG_IGN);
	close_inherited(o->private_fd);
	if (o->private_fd >= 0)
		setsid(); /* a terminal's Ctrl-C is for isoctl, which cancels in order */
	r = iso_daemon_prepare(&d, o, &e);
	if (r == 0 && d.refusal.class != ISO_CLASS_NONE)
		tell(&d.refusal.error);
	if (r == 0)
		r = open_sockets(&d, o, &e);
	if (r == 0) {
		sd_notify(0, "READY=1");
		r = iso_daemon_serve(&d);
		sd_notify(0, "STOPPING=1");
		if (r < 0)
			iso_error_set(&e, r, "loop", NULL, "the event loop failed: %m");
	}
	if (r < 0 && !(r == -EBUSY && o->private_fd >= 0))
		tell(&e);
	iso_daemon_free(&d);
	return r == 0 ? 0 : r == -EBUSY ? EXIT_BUSY : 1;
}

/* -1 when the text is no number of a descriptor above the standard ones. */
static int descriptor(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	return *text && !*end && n > 2 && n < 65536 ? (int)n : -1;
}

static int misuse(const char *what, const char *argument)
{
	iso_log_error("%s: %s; see isod --help", what, argument);
	return 2;
}

int main(int argc, char **argv)
{
	struct iso_daemon_options o = {.run_directory = "/run/isoctl",
				       .state_directory = ISO_ATTEMPTS_DIRECTORY,
				       .socket = ISO_AGENT_SOCKET,
				       .private_fd = -1};
	enum iso_log_level level = ISO_LOG_INFO;
	int c;

	while ((c = getopt_long(argc, argv, "vhV", options, NULL)) != -1) {
		switch (c) {
		case OPTION_SOCKET:
			o.socket = optarg;
			break;
		case OPTION_PRIVATE:
			o.private_fd = descriptor(optarg);
			if (o.private_fd < 0)
				return misuse("--private wants a descriptor", optarg);
			level = level == ISO_LOG_INFO ? ISO_LOG_ERROR : level;
			break;
		case OPTION_FEATURES:
			return print_features();
		case OPTION_RUN:
			o.run_directory = optarg;
			break;
		case OPTION_STATE:
			o.state_directory = optarg;
			break;
		case OPTION_CEILING:
			o.ceiling = optarg;
			break;
		case OPTION_LOG:
			o.log_directory = optarg;
			break;
		case 'v':
			level = ISO_LOG_DEBUG;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'V':
			puts("isod " ISO_VERSION);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	iso_log_setup("isod", level);
	if (optind < argc)
		return misuse("unexpected argument", argv[optind]);
	if (geteuid() != 0) {
		iso_log_error("isod must run as root: it makes cgroups, namespaces and loads BPF");
		return 1;
	}
	return serve(&o);
}
