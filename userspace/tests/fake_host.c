/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_host.h"
#include "sandbox/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "kernel/kernel.h"
#include "run/client.h"
#include "sandbox/sandbox.h"

/* ------------------------------------------------------------------------------ kernel */

struct iso_kernel {
	int unused;
};
static struct iso_kernel the_kernel;

int iso_kernel_open(struct iso_kernel **ret, struct iso_error *e)
{
	if (getenv("FAKE_NO_KERNEL"))
		return iso_error_set(e, -EOPNOTSUPP, "features", "isoctl doctor",
				     "lsm-bpf is missing on this host");
	*ret = &the_kernel;
	return 0;
}

void iso_kernel_close(struct iso_kernel *k)
{
	(void)k;
}

int iso_kernel_lock(struct iso_kernel *k, const char *listed, struct iso_error *e)
{
	(void)k;
	(void)listed;
	if (getenv("FAKE_NOT_LOCKED"))
		return iso_error_set(e, -EEXIST, "guard", "list it",
				     "the BPF program 7, foreign, of uid 0, is not listed");
	return 0;
}

int iso_kernel_release(struct iso_kernel *k)
{
	(void)k;
	return 0;
}

static const struct iso_guard_object fake_objects[] = {
	{.kind = ISO_OBJECT_MAP, .id = 17, .name = "iso_rules"},
	{.kind = ISO_OBJECT_LINK, .id = 18, .name = "iso_bpf"},
};
static const struct iso_found fake_found = {
	.id = 7, .uid = 0, .tag = {0xab, 0xcd}, .name = "sixteen_letters_"};

int iso_kernel_guard(struct iso_kernel *k, struct iso_guard_status *ret)
{
	(void)k;
	*ret = (struct iso_guard_status){
		.state = ISO_GUARD_LOCKED,
		.refused = 3,
		.objects = fake_objects,
		.object_count = 2,
		.found = &fake_found,
		.found_count = 1,
	};
	return 0;
}

/* Never readable: what the ring would say is consumed in every round. */
int iso_kernel_ring_fd(const struct iso_kernel *k)
{
	static int pipes[2] = {-1, -1};

	(void)k;
	if (pipes[0] < 0 && pipe2(pipes, O_CLOEXEC) < 0)
		return -1;
	return pipes[0];
}

static struct iso_sandbox broken; /* what is asked about the one with `broken_id` */
static int broken_answer;
static uint64_t broken_id;
static unsigned whole_looks; /* that it is still whole for: its command has started by then */

static bool breaks(const char *word)
{
	return strcmp(word, "torn") == 0 || strcmp(word, "unlabelled") == 0 ||
	       strcmp(word, "unanswered") == 0;
}

int iso_kernel_ask_sandbox(struct iso_kernel *k, uint64_t sandbox, struct iso_sandbox *ret)
{
	(void)k;
	*ret = (struct iso_sandbox){.tasks = 1};
	if (sandbox != broken_id || (whole_looks && whole_looks--))
		return 0;
	*ret = broken;
	return broken_answer;
}

int iso_kernel_ask_account(struct iso_kernel *k, uint64_t sandbox, struct iso_account *ret)
{
	(void)k;
	(void)sandbox;
	*ret = (struct iso_account){0};
	return 0;
}

int iso_kernel_ask_tally(struct iso_kernel *k, uint64_t sandbox, struct iso_tally *ret)
{
	(void)k;
	(void)sandbox;
	*ret = (struct iso_tally){0};
	return 0;
}

static struct iso_event denial;
static bool denied;

/* In the loop's thread, as the ring is read there. */
static void deny(uint64_t sandbox)
{
	denial = (struct iso_event){.time = 1,
				    .sandbox = sandbox,
				    .sequence = 1,
				    .exec = 2,
				    .kind = ISO_EVENT_FILE,
				    .hook = ISO_HOOK_file_open,
				    .reason = ISO_REASON_NO_RULE,
				    .error = EACCES,
				    .wanted = ISO_READ,
				    .pid = 100,
				    .tid = 100,
				    .ns_pid = 2,
				    .path = {.length = 11, .area = "/etc/shadow"}};
	denied = true;
}

int iso_kernel_ring_consume(struct iso_kernel *k, iso_kernel_event_fn fn, void *context)
{
	(void)k;
	if (!denied)
		return 0;
	denied = false;
	fn(context, &denial, sizeof denial);
	return 1;
}

int iso_kernel_ask_exec(struct iso_kernel *k, uint64_t sandbox, int pid, uint64_t *ret)
{
	(void)k;
	(void)sandbox;
	(void)pid;
	(void)ret;
	return -ESRCH;
}

const struct iso_feature *iso_features(size_t *ret_count)
{
	static const struct iso_feature rows[] = {
		{"kernel-btf", "types", "boot another kernel", true, true, 0},
		{"lsm-bpf", "BPF as a security module", "see isoctl doctor", true, false, -ENOENT},
	};

	*ret_count = sizeof rows / sizeof *rows;
	return rows;
}

/* ------------------------------------------------------------------------------ sandbox */

struct iso_sandbox_handle {
	int control;
	pid_t init;
	uint64_t sandbox;
	bool oom, stays, violates, started;
	uint8_t digest[ISO_POLICY_DIGEST];
};

int iso_sandbox_listener(const struct iso_sandbox_handle *h)
{
	(void)h;
	return -1;
}

int iso_notify_take(int listener, iso_look_fn look, void *context, struct iso_refused_call *ret)
{
	(void)listener;
	(void)look;
	(void)context;
	(void)ret;
	return -EPIPE;
}

static void say(int control, enum iso_init_message_kind kind, int value, const char *text)
{
	struct iso_init_message m = {.kind = kind, .value = value, .pid = 2};

	strncpy(m.text, text, sizeof m.text - 1);
	if (send(control, &m, sizeof m, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static void run_entry(const struct iso_sandbox_request *r, int control)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGTERM, SIG_DFL);
		for (int i = 0; i < 3; i++)
			if (dup2(r->stdio[i] >= 0 ? r->stdio[i] : open("/dev/null", O_RDWR), i) < 0)
				_exit(126);
		close_range(3, ~0u, 0);
		execvpe(r->argv[0], r->argv, r->environment);
		_exit(127);
	}
	for (int i = 0; i < 3; i++)
		if (r->stdio[i] >= 0)
			close(r->stdio[i]);
	say(control, ISO_INIT_STARTED, 0, "");
	while (waitpid(pid, &status, 0) < 0)
		;
	say(control, ISO_INIT_ENDED, status, "");
}

/* What isoinit would do, in a process of its own. */
static void be_init(const struct iso_sandbox_request *r, int control)
{
	const char *word = r->argv[0];
	char go;

	/* As isoinit: nothing of isod's stays open, least of all the other ends of the pipes. */
	for (int fd = 3; fd < 1024; fd++)
		if (fd != control && fd != r->stdio[0] && fd != r->stdio[1] && fd != r->stdio[2])
			close(fd);
	setpgid(0, 0);
	signal(SIGTERM, SIG_IGN);
	if (recv(control, &go, 1, 0) <= 0)
		_exit(0);
	if (strcmp(word, "lost") == 0 || strcmp(word, "oom") == 0) {
		say(control, ISO_INIT_STARTED, 0, "");
		_exit(0);
	}
	if (strcmp(word, "not-there") == 0 || strcmp(word, "not-allowed") == 0) {
		say(control, ISO_INIT_EXEC_FAILED, strcmp(word, "not-there") ? EACCES : ENOENT, "");
		say(control, ISO_INIT_ENDED, 127 << 8, "");
		_exit(0);
	}
	if (strcmp(word, "wall") == 0) {
		say(control, ISO_INIT_STARTED, 0, "");
		say(control, ISO_INIT_WALL, 1000, "");
		say(control, ISO_INIT_ENDED, SIGTERM, "");
		_exit(0);
	}
	if (strcmp(word, "survivor") == 0 || strcmp(word, "stays") == 0) {
		say(control, ISO_INIT_STARTED, 0, "");
		say(control, ISO_INIT_SURVIVOR, 0, "daemon");
		say(control, ISO_INIT_ENDED, 0, "");
		_exit(0);
	}
	if (strcmp(word, "violates") == 0 || breaks(word)) {
		say(control, ISO_INIT_STARTED, 0, "");
		pause();
	}
	run_entry(r, control);
	_exit(0);
}

static int refuse_setup(const struct iso_sandbox_request *r, struct iso_error *e)
{
	const char *word = r->argv[0];

	if (strcmp(word, "fail-setup") == 0)
		return iso_error_set(e, -ENOMEM, "cgroup", "free memory", "cannot make: %m");
	if (strcmp(word, "fail-snapshot") == 0)
		return iso_error_set(e, -EXDEV, "snapshot", "mend the link", "a link leaves: %m");
	if (strcmp(word, "slow-setup") == 0) {
		struct pollfd p = {.fd = r->cancel_fd, .events = POLLIN};

		poll(&p, 1, 20000);
		return iso_error_set(e, -ECANCELED, "cgroup", NULL, "told to give up");
	}
	return 0;
}

int iso_sandbox_create(const struct iso_sandbox_request *r, struct iso_sandbox_handle **ret,
		       struct iso_error *e)
{
	struct iso_sandbox_handle *h;
	int pair[2], result = refuse_setup(r, e);

	if (result < 0)
		return result;
	h = calloc(1, sizeof *h);
	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	memcpy(h->digest, r->policy->digest, sizeof h->digest);
	h->control = pair[0];
	h->oom = strcmp(r->argv[0], "oom") == 0;
	h->stays = strcmp(r->argv[0], "stays") == 0;
	h->violates = strcmp(r->argv[0], "violates") == 0;
	h->sandbox = r->sandbox;
	if (breaks(r->argv[0])) {
		broken = (struct iso_sandbox){.tasks = 2};
		broken.flags = strcmp(r->argv[0], "torn") == 0 ? ISO_SB_TORN : 0;
		broken.label_failed = strcmp(r->argv[0], "unlabelled") == 0;
		broken_answer = strcmp(r->argv[0], "unanswered") == 0 ? -EIO : 0;
		broken_id = r->sandbox;
		whole_looks = 4;
	}
	fcntl(h->control, F_SETFL, O_NONBLOCK);
	h->init = fork();
	if (h->init == 0) {
		close(pair[0]);
		be_init(r, pair[1]);
	}
	close(pair[1]);
	*ret = h;
	return 0;
}

int iso_sandbox_control_fd(const struct iso_sandbox_handle *h)
{
	return h->control;
}

int iso_sandbox_receive(struct iso_sandbox_handle *h, struct iso_init_message *ret)
{
	ssize_t n = recv(h->control, ret, sizeof *ret, 0);

	h->started |= n > 0 && ret->kind == ISO_INIT_STARTED;
	return n < 0 ? -errno : n > 0;
}

int iso_sandbox_start(struct iso_sandbox_handle *h)
{
	if (h->violates)
		deny(h->sandbox);
	return send(h->control, "g", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int iso_sandbox_terminate(struct iso_sandbox_handle *h)
{
	return kill(-h->init, SIGTERM) < 0 ? -errno : 0;
}

int iso_sandbox_signal(struct iso_sandbox_handle *h, int sig)
{
	return kill(-h->init, sig) < 0 ? -errno : 0;
}

int iso_sandbox_kill(struct iso_sandbox_handle *h)
{
	return kill(-h->init, SIGKILL) < 0 ? -errno : 0;
}

uint64_t iso_sandbox_cgroup_id(const struct iso_sandbox_handle *h)
{
	(void)h;
	return 42;
}

int iso_sandbox_usage(struct iso_sandbox_handle *h, struct iso_sandbox_usage *ret)
{
	*ret = (struct iso_sandbox_usage){.memory_peak = 1 << 20,
					  .oom_kills = h->oom && h->started};
	return 0;
}

const uint8_t *iso_sandbox_policy_digest(const struct iso_sandbox_handle *h)
{
	return h->digest;
}

int iso_sandbox_destroy(struct iso_sandbox_handle *h, struct iso_error *e)
{
	int r = h->stays ? iso_error_set(e, -EBUSY, "cgroup", NULL, "it stays") : 0;

	kill(-h->init, SIGKILL);
	waitpid(h->init, NULL, 0);
	close(h->control);
	free(h);
	return r;
}

/* ------------------------------------------------------------------------------ the agent */

int iso_isoinit_open(int *ret, struct iso_error *e)
{
	(void)e;
	*ret = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return 0;
}

static int serve(struct fake_agent *a, long member_gid, int ready)
{
	static struct iso_daemon d;
	char run[96], state[96], log[96], ceiling[96];
	struct iso_daemon_options o = {.run_directory = run,
				       .state_directory = state,
				       .log_directory = log,
				       .ceiling = ceiling,
				       .private_fd = -1};
	struct iso_error e = {0};
	int r;

	snprintf(run, sizeof run, "%s/run", a->directory);
	snprintf(state, sizeof state, "%s/state", a->directory);
	snprintf(log, sizeof log, "%s/log", a->directory);
	snprintf(ceiling, sizeof ceiling, "%s/ceiling.json", a->directory);
	signal(SIGPIPE, SIG_IGN);
	r = iso_daemon_prepare(&d, &o, &e);
	d.member_gid = member_gid;
	if (r == 0)
		r = iso_daemon_bind(&d, a->socket, &e);
	if (r == 0 && member_gid >= 0)
		chmod(a->socket, 0666); /* the daemon's own check is what is tested */
	if (r < 0)
		fprintf(stderr, "%s: %s\n", e.step, e.message);
	else if (write(ready, "r", 1) == 1)
		r = iso_daemon_serve(&d);
	iso_daemon_free(&d);
	return r < 0;
}

void fake_agent_start(struct fake_agent *a, long member_gid)
{
	int p[2];
	char byte;

	strcpy(a->directory, "/tmp/isoctl-agent-XXXXXX");
	if (!mkdtemp(a->directory) || chmod(a->directory, 0755) < 0 || pipe2(p, O_CLOEXEC) < 0)
		abort();
	snprintf(a->socket, sizeof a->socket, "%s/socket", a->directory);
	a->pid = fork();
	if (a->pid == 0)
		exit(serve(a, member_gid, p[1]));
	close(p[1]);
	if (read(p[0], &byte, 1) != 1)
		abort();
	close(p[0]);
}

struct iso_client *fake_agent_join(const struct fake_agent *a)
{
	struct iso_client_options o = {.socket = a->socket};
	struct iso_client *c = NULL;
	struct iso_failure f = {0};

	if (iso_client_open(&o, &c, &f)) {
		fprintf(stderr, "cannot join %s: %s\n", a->socket, f.error.message);
		abort();
	}
	return c;
}

int fake_agent_end(struct fake_agent *a)
{
	char command[128];
	int status = 0;

	kill(a->pid, SIGTERM);
	while (waitpid(a->pid, &status, 0) < 0)
		;
	snprintf(command, sizeof command, "rm -rf '%s'", a->directory);
	if (system(command) != 0)
		return -1;
	return status;
}

char *fake_manifest(const char *task, const char *limits, const char *more)
{
	char *text = NULL;

	if (asprintf(&text,
		     "{\"manifest_version\": 1, \"task\": {\"id\": \"%s\"},"
		     "\"host\": {\"profile\": \"execute\", \"lock_at_creation\": true},"
		     "\"filesystem\": {}, \"network\": {}, \"inference\": {},"
		     "\"process\": {\"no_new_privileges\": true, \"setuid\": \"deny\","
		     "\"stdin\": \"inherit\", \"limits\": {\"cpus\": 1, \"memory\": "
		     "\"64MiB\", \"pids\": 8, \"files\": 64}},"
		     "\"limits\": {%s}%s}",
		     task, limits, more) < 0)
		abort();
	return text;
}
