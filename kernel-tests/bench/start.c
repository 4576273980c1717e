/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iso-bench-start BIN: what it takes to start `true` in a sandbox, from the call to the command's
 * first instruction, and to the end of the call. Prints, a line each:
 *
 *	info NAME VALUE
 *	start SCENE exec|whole NANOSECONDS       the cheapest of its rounds
 *
 * Scenes: native (fork and execute), bubblewrap with full flags, isoctl seal through a running
 *isod. Runs in a guest under icount (tools/bench), where nanoseconds are instructions and waits.
 *Exit status: 0 measured, 1 not (standard error says why).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/io.h"
#include "common/log.h"

#define ROUNDS	 8
#define SOCKET	 "/run/isoctl/io.isoctl.Agent"
#define COMMAND	 "/usr/local/lib/iso-bench-true"
#define MANIFEST "/tmp/iso-bench-start.json"
#define PATIENCE 600u /* tenths of a second for isod to load the BPF object */

static const char manifest[] =
	"{\"manifest_version\": 1, \"task\": {\"id\": \"start\"},"
	" \"host\": {\"profile\": \"execute\", \"runtime\": \"kernel\", \"lock_at_creation\": true},"
	" \"filesystem\": {\"root\": {\"host\": [\"/usr\", \"/bin\", \"/lib\", \"/lib64\"]},"
	"  \"scratch\": [{\"path\": \"/tmp\", \"size\": \"8MiB\", \"inodes\": 64}]},"
	" \"network\": {},"
	" \"process\": {\"execute\": [\"/usr\"], \"no_new_privileges\": true, \"setuid\": \"deny\","
	"  \"daemons\": \"deny\","
	"  \"limits\": {\"cpus\": 1, \"memory\": \"96MiB\", \"pids\": 16, \"files\": 64}},"
	" \"inference\": {}, \"limits\": {\"wall_time\": \"60s\", \"log_bytes\": \"64KiB\"}}";

/* The same kinds of separation as the manifest's, by the flags that bubblewrap has for them. */
static const char *const bubblewrap[] = {"/usr/bin/bwrap",
					 "--unshare-all",
					 "--die-with-parent",
					 "--new-session",
					 "--cap-drop",
					 "ALL",
					 "--clearenv",
					 "--ro-bind",
					 "/usr",
					 "/usr",
					 "--symlink",
					 "usr/bin",
					 "/bin",
					 "--symlink",
					 "usr/lib",
					 "/lib",
					 "--symlink",
					 "usr/lib64",
					 "/lib64",
					 "--proc",
					 "/proc",
					 "--dev",
					 "/dev",
					 "--tmpfs",
					 "/tmp",
					 "--",
					 COMMAND,
					 "clock",
					 NULL};
static const char *const native[] = {COMMAND, "clock", NULL};
static char isoctl[256];
static const char *const seal[] = {isoctl, "seal",  "--quiet", MANIFEST,
				   "--",   COMMAND, "clock",   NULL};

static const struct scene {
	const char *name;
	const char *const *argv;
} scenes[] = {{"native", native}, {"bubblewrap", bubblewrap}, {"isoctl", seal}};

static char *const environment[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Starts argv with its standard output on fd; a negative errno or the pid. */
static pid_t start(const char *const *argv, int out)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	r = posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return r ? -r : pid;
}

/* One run: when the command began and when the call ended, from its beginning. */
static int run(const struct scene *s, uint64_t *exec, uint64_t *whole)
{
	unsigned long long at = 0;
	int ends[2], status;
	char text[32] = "";
	uint64_t began;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	began = now();
	pid = start(s->argv, ends[1]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	*whole = now() - began;
	close(ends[1]);
	if (read(ends[0], text, sizeof text - 1) <= 0 || sscanf(text, "%llu", &at) != 1 ||
	    at < began)
		status = -1;
	close(ends[0]);
	*exec = at - began;
	return status ? -EPROTO : 0;
}

static int measure(const struct scene *s)
{
	uint64_t exec = 0, whole = 0, best_exec = UINT64_MAX, best_whole = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		int r = run(s, &exec, &whole);

		if (r) {
			iso_log_error("%s: round %d did not do what it should", s->name, i);
			return r;
		}
		best_exec = exec < best_exec ? exec : best_exec;
		best_whole = whole < best_whole ? whole : best_whole;
	}
	printf("start %s exec %llu\nstart %s whole %llu\n", s->name, (unsigned long long)best_exec,
	       s->name, (unsigned long long)best_whole);
	return 0;
}

static bool answers(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;

	close(fd);
	return ok;
}

/* isod, when it answers; a negative errno. */
static pid_t start_agent(const char *bin)
{
	char path[256];
	const char *const argv[] = {path, NULL};
	const struct timespec tenth = {.tv_nsec = 100000000};
	pid_t pid;

	snprintf(path, sizeof path, "%s/isod", bin);
	pid = start(argv, 2);
	for (unsigned int i = 0; pid > 0 && i < PATIENCE && !answers(); i++) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return -ECHILD;
		nanosleep(&tenth, NULL); /* lint-allow(sleeps): a measurement, no test */
	}
	return pid > 0 && !answers() ? -ETIMEDOUT : pid;
}

static int write_manifest(void)
{
	int fd = open(MANIFEST, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), r;

	if (fd < 0)
		return -errno;
	r = iso_write_all(fd, manifest, sizeof manifest - 1);
	close(fd);
	return r;
}

int main(int argc, char **argv)
{
	struct utsname host;
	pid_t agent;
	int r;

	iso_log_setup("iso-bench-start", ISO_LOG_INFO);
	if (argc != 2 || uname(&host)) {
		iso_log_error("usage: iso-bench-start BIN (see tools/bench --help)");
		return 1;
	}
	snprintf(isoctl, sizeof isoctl, "%s/isoctl", argv[1]);
	printf("info release %s\n", host.release);
	r = write_manifest();
	agent = r ? r : start_agent(argv[1]);
	if (agent < 0) {
		iso_log_error("isod does not start: %s", strerror(-agent));
		return 1;
	}
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes && !r; i++)
		r = measure(&scenes[i]);
	kill(agent, SIGTERM);
	waitpid(agent, NULL, 0);
	return r ? 1 : 0;
}
