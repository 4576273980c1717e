/* SPDX-License-Identifier: BSD-2-Clause */
#include "isoctl/features.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "run/client.h"
#include "run/sibling.h"

#define OUTPUT_MAX (1u << 20)
#define STEP	   "features"

static int ask_agent(const char *socket, json_t **ret, struct iso_failure *f)
{
	const struct iso_client_options o = {.socket = socket};
	struct iso_client *client = NULL;
	json_t *reply = NULL;
	int r = iso_client_open(&o, &client, f);

	if (r == 0)
		r = iso_client_call(client, "Features", json_object(), &reply, f);
	iso_client_free(client);
	if (r < 0)
		return r;
	*ret = json_incref(json_object_get(reply, "features"));
	json_decref(reply);
	return 0;
}

static pid_t start(int program, int output)
{
	static char name[] = "isod", option[] = "--features", path[] = "PATH=/usr/sbin:/usr/bin";
	char *const argv[] = {name, option, NULL}, *const environment[] = {path, NULL};
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (dup2(output, STDOUT_FILENO) >= 0)
		syscall(SYS_execveat, program, "", argv, environment, AT_EMPTY_PATH);
	_exit(127);
}

static int run_sibling(json_t **ret, struct iso_failure *f)
{
	ISO_AUTO_CLOSE int program = -1, from = -1;
	ISO_AUTO_FREE char *text = NULL;
	struct iso_error e = {0};
	int p[2], r, status = 0;
	pid_t pid;

	r = iso_sibling_open("isod", &program, NULL, &e);
	if (r < 0) {
		iso_failure_wrap(f, ISO_CLASS_AGENT, &e);
		return r;
	}
	if (pipe2(p, O_CLOEXEC) < 0)
		return iso_failure_set(f, ISO_CLASS_AGENT, -errno, STEP, NULL, "pipe: %m");
	from = p[0];
	pid = start(program, p[1]);
	close(p[1]);
	if (pid < 0)
		return iso_failure_set(f, ISO_CLASS_AGENT, -errno, STEP, NULL, "fork: %m");
	r = iso_read_all(from, OUTPUT_MAX, &text, NULL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret = r == 0 && status == 0 ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	if (!json_is_array(*ret)) {
		json_decref(*ret);
		return iso_failure_set(f, ISO_CLASS_AGENT, -EIO, STEP,
				       "apt-get install libbpf1 libseccomp2 libjansson4 libssl3 "
				       "libsystemd0",
				       "isod --features does not run here");
	}
	return 0;
}

int isoctl_features(const char *socket, json_t **ret, struct iso_failure *f)
{
	int r = ask_agent(socket, ret, f);

	/* The agent answers when it can: its guard may refuse another program's probes. */
	if (r < 0 && !socket)
		r = run_sibling(ret, f);
	return r;
}
