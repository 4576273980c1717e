/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct iso_tamper guard_tampers[GUARD_TAMPERS];
struct guard_answers *guard_answers;

static int keep(void *context, const void *data, size_t size)
{
	size_t *n = context;

	if (size == sizeof *guard_tampers && *n < GUARD_TAMPERS)
		memcpy(&guard_tampers[(*n)++], data, size);
	return 0;
}

size_t guard_read(void)
{
	size_t n = 0;

	iso_kernel_ring_consume(rig_kernel, keep, &n);
	return n;
}

bool guard_lock(void)
{
	struct iso_error e = {};
	int r = iso_kernel_lock(rig_kernel, GUARD_NO_LIST, &e);

	guard_read();
	return CHECK(!r, "cannot lock: %s: %s", strerror(-r), e.message);
}

bool guard_release(void)
{
	int r = iso_kernel_release(rig_kernel);

	guard_read();
	return CHECK(!r, "cannot release: %s", strerror(-r));
}

int guard_answer(long result)
{
	int error = result < 0 ? errno : 0;

	if (guard_answers->count < 4096)
		guard_answers->errors[guard_answers->count++] = error;
	return error;
}

static bool attack(void (*body)(void), bool inherits)
{
	int status;
	pid_t pid;

	if (!guard_answers) {
		guard_answers = mmap(NULL, sizeof *guard_answers, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (!CHECK(guard_answers != MAP_FAILED, "no memory to share"))
			return false;
	}
	guard_answers->count = 0;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		guard_answers->pid = getpid();
		if (!inherits)
			close_range(3, ~0u, 0);
		body();
		_exit(0);
	}
	status = rig_wait(pid);
	return CHECK(pid > 0 && status == 0, "the attacker did not come to its end: %x",
		     (unsigned)status);
}

bool guard_outside(void (*body)(void))
{
	return attack(body, false);
}

bool guard_inheriting(void (*body)(void))
{
	return attack(body, true);
}

bool guard_all(const char *what, int count, int want)
{
	if (!CHECK(guard_answers->count == count, "%s: %d answers, not %d", what,
		   guard_answers->count, count))
		return false;
	for (int i = 0; i < count; i++)
		if (!CHECK(guard_answers->errors[i] == want, "%s: answer %d is %d (%s), not %d",
			   what, i, guard_answers->errors[i], strerror(guard_answers->errors[i]),
			   want))
			return false;
	return true;
}

bool guard_told(const char *what, size_t count, uint32_t hook, uint32_t object)
{
	size_t n = guard_read();

	if (!CHECK(n == count, "%s: %zu attempts are told of, not %zu", what, n, count))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct iso_tamper *t = &guard_tampers[i];

		if (!CHECK(t->hook == hook && t->object == object && t->error == EPERM &&
				   t->pid == (uint32_t)guard_answers->pid && !t->uid &&
				   !t->sandbox && !strcmp(t->exe, "iso-kernel-test") &&
				   t->comm[0] && t->time,
			   "%s: attempt %zu: hook %u object %u error %d pid %u of %d uid %u by %s",
			   what, i, t->hook, t->object, t->error, t->pid, guard_answers->pid,
			   t->uid, t->exe))
			return false;
	}
	return true;
}
