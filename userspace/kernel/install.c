/* SPDX-License-Identifier: BSD-2-Clause */
/* One call of the installer or of the query program each: struct iso_command in, struct iso_inquiry
 * in and out. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "kernel/internal.h"
#include "policy/policy.h"

#define RETRIES	 200
#define RETRY_NS 1000000L

/*
 * Negative errno of the call itself, else the program's own answer. What the program leaves in its
 * context comes back in ctx_in; a ctx_out is refused for this type (net/bpf/test_run.c).
 */
static int run(const struct bpf_program *program, void *context, __u32 size)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context, .ctx_size_in = size);

	if (bpf_prog_test_run_opts(bpf_program__fd(program), &options))
		return -errno;
	return (int)options.retval;
}

int iso_kernel_install(struct iso_kernel *k, struct iso_command *c)
{
	return run(k->skeleton->progs.iso_installer, c, sizeof *c);
}

int iso_kernel_ask(struct iso_kernel *k, struct iso_inquiry *c)
{
	return run(k->skeleton->progs.iso_query, c, sizeof *c);
}

static int install(struct iso_kernel *k, struct iso_command c)
{
	return iso_kernel_install(k, &c);
}

/*
 * Tasks are counted down when the kernel frees them, an RCU grace period after they ended; -EBUSY
 * may pass within milliseconds, so it is tried again for a bounded time.
 */
static int install_patiently(struct iso_kernel *k, struct iso_command c)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	int r = -EBUSY;

	for (int i = 0; i < RETRIES && r == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		r = install(k, c);
	}
	return r;
}

int iso_kernel_claim(struct iso_kernel *k)
{
	return install(k, (struct iso_command){.op = ISO_OP_CLAIM});
}

int iso_kernel_begin(struct iso_kernel *k, uint64_t sandbox, int cgroup_fd, uint32_t flags,
		     uint32_t events_per_second)
{
	if (flags & ISO_SB_URING && !k->uring)
		return -EOPNOTSUPP;
	return install(k, (struct iso_command){.op = ISO_OP_BEGIN,
					       .fd = cgroup_fd,
					       .sandbox = sandbox,
					       .arg = flags,
					       .value = events_per_second});
}

int iso_kernel_launcher(struct iso_kernel *k, uint64_t sandbox, int memfd)
{
	return install(
		k, (struct iso_command){.op = ISO_OP_LAUNCHER, .fd = memfd, .sandbox = sandbox});
}

int iso_kernel_add_rule(struct iso_kernel *k, uint64_t sandbox, int fd, uint32_t rights,
			uint32_t rule)
{
	return install(k, (struct iso_command){.op = ISO_OP_RULE,
					       .fd = fd,
					       .sandbox = sandbox,
					       .arg = rights,
					       .rule = rule});
}

int iso_kernel_add_name(struct iso_kernel *k, uint64_t sandbox, int parent_fd, const char *name,
			uint32_t rule)
{
	return install(k, (struct iso_command){.op = ISO_OP_NAME,
					       .fd = parent_fd,
					       .sandbox = sandbox,
					       .value = iso_name_hash(name, strlen(name)),
					       .rule = rule});
}

int iso_kernel_add_absent(struct iso_kernel *k, uint64_t sandbox, const char *path, uint32_t rule)
{
	return install(k, (struct iso_command){.op = ISO_OP_ABSENT,
					       .sandbox = sandbox,
					       .value = iso_name_hash(path, strlen(path)),
					       .rule = rule});
}

int iso_kernel_seal(struct iso_kernel *k, uint64_t sandbox)
{
	return install_patiently(k, (struct iso_command){.op = ISO_OP_SEAL, .sandbox = sandbox});
}

int iso_kernel_remove(struct iso_kernel *k, uint64_t sandbox)
{
	return install_patiently(k, (struct iso_command){.op = ISO_OP_REMOVE, .sandbox = sandbox});
}

int iso_kernel_ask_sandbox(struct iso_kernel *k, uint64_t sandbox, struct iso_sandbox *ret)
{
	struct iso_inquiry c = {.op = ISO_ASK_SANDBOX, .sandbox = sandbox};
	int r = iso_kernel_ask(k, &c);

	if (!r)
		*ret = c.answer;
	return r;
}

int iso_kernel_ask_account(struct iso_kernel *k, uint64_t sandbox, struct iso_account *ret)
{
	struct iso_inquiry c = {.op = ISO_ASK_ACCOUNT, .sandbox = sandbox};
	int r = iso_kernel_ask(k, &c);

	if (!r)
		*ret = c.account;
	return r;
}

/* The account last: what it says was collapsed by then, the window has counted by then at most. */
int iso_kernel_ask_tally(struct iso_kernel *k, uint64_t sandbox, struct iso_tally *ret)
{
	struct iso_inquiry c = {.op = ISO_ASK_WINDOW, .sandbox = sandbox};

	for (c.arg = 0; c.arg < ISO_WINDOW / ISO_WINDOW_PART; c.arg++) {
		int r = iso_kernel_ask(k, &c);

		if (r)
			return r;
		memcpy(&ret->window[c.arg * ISO_WINDOW_PART], c.window, sizeof c.window);
	}
	return iso_kernel_ask_account(k, sandbox, &ret->account);
}

int iso_kernel_confirm(struct iso_kernel *k, uint64_t sandbox)
{
	struct iso_sandbox sb;
	int r = iso_kernel_ask_sandbox(k, sandbox, &sb);

	if (r)
		return r;
	return sb.tasks == 1 && !sb.label_failed ? 0 : -ESRCH;
}

int iso_kernel_ask_rule(struct iso_kernel *k, uint64_t sandbox, int fd, uint32_t *ret_rights,
			uint32_t *ret_rule)
{
	struct iso_inquiry c = {.op = ISO_ASK_RULE, .sandbox = sandbox, .fd = fd};
	int r = iso_kernel_ask(k, &c);

	if (r)
		return r;
	*ret_rights = c.arg;
	*ret_rule = c.rule;
	return 0;
}

int iso_kernel_ask_name(struct iso_kernel *k, uint64_t sandbox, int parent_fd, const char *name,
			uint32_t *ret_rule)
{
	struct iso_inquiry c = {.op = ISO_ASK_NAME,
				.sandbox = sandbox,
				.fd = parent_fd,
				.value = iso_name_hash(name, strlen(name))};
	int r = iso_kernel_ask(k, &c);

	if (!r)
		*ret_rule = c.rule;
	return r;
}

int iso_kernel_ask_absent(struct iso_kernel *k, uint64_t sandbox, const char *path,
			  uint32_t *ret_rule)
{
	struct iso_inquiry c = {.op = ISO_ASK_ABSENT,
				.sandbox = sandbox,
				.value = iso_name_hash(path, strlen(path))};
	int r = iso_kernel_ask(k, &c);

	if (!r)
		*ret_rule = c.rule;
	return r;
}

int iso_kernel_ask_exec(struct iso_kernel *k, uint64_t sandbox, int pid, uint64_t *ret)
{
	ISO_AUTO_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct iso_label label;

	if (pidfd < 0)
		return -errno;
	/* the one question that no query program can answer: 6.1 has no task by its number there */
	if (bpf_map_lookup_elem(bpf_map__fd(k->skeleton->maps.iso_labels), &pidfd, &label))
		return errno == ENOENT ? -ESRCH : -errno;
	if (label.sandbox != sandbox)
		return -ESRCH;
	*ret = label.exec;
	return 0;
}

int iso_kernel_ask_counter(struct iso_kernel *k, uint32_t counter, uint64_t *ret)
{
	struct iso_inquiry c = {.op = ISO_ASK_COUNTER, .arg = counter};
	int r = iso_kernel_ask(k, &c);

	if (!r)
		*ret = c.value;
	return r;
}

const int *iso_kernel_link_fds(const struct iso_kernel *k, size_t *ret_count)
{
	*ret_count = k->link_count;
	return k->link_fds;
}
