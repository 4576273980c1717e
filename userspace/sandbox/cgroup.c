/* SPDX-License-Identifier: BSD-2-Clause */
/* The sandbox's cgroup: made empty, limited, read back, and ended. */
#include "sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"

#define CPU_PERIOD_USEC 100000u

struct limit {
	const char *file;
	const char *manifest; /* the field it comes from */
	char text[48];
};

static size_t make_limits(const struct iso_manifest *m, struct limit l[8])
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t quota = m->process.limits.cpus_milli * (CPU_PERIOD_USEC / 1000);
	size_t n = 0;

#define ROW(f, m, ...)                                              \
	do {                                                        \
		l[n].file = f;                                      \
		l[n].manifest = m;                                  \
		snprintf(l[n].text, sizeof l[n].text, __VA_ARGS__); \
		n++;                                                \
	} while (0)
	/* the kernel rounds down to whole pages: so do we, to read back what we wrote */
	ROW("memory.max", "/process/limits/memory", "%" PRIu64,
	    m->process.limits.memory / page * page);
	ROW("memory.swap.max", "/process/limits/memory", "0");
	ROW("memory.oom.group", "/process/limits/memory", "1");
	ROW("pids.max", "/process/limits/pids", "%" PRIu64, m->process.limits.pids);
	ROW("cpu.max", "/process/limits/cpus", "%" PRIu64 " %u", quota, CPU_PERIOD_USEC);
#undef ROW
	return n;
}

static bool is_optional(const char *file, int r)
{
	/* a kernel without swap accounting has nothing to bound: there is no swap to go to */
	return r == -ENOENT && !strcmp(file, "memory.swap.max") && access("/proc/swaps", F_OK) < 0;
}

static int check_limit(struct iso_build *b, const struct limit *l, enum iso_step step)
{
	ISO_AUTO_FREE char *text = NULL;
	int r = iso_read_file(b->h->cgroup_fd, l->file, 4096, &text, NULL);

	if (r < 0)
		return is_optional(l->file, r) ? 0
					       : iso_error_set(b->e, r, iso_step_word(step), NULL,
							       "cannot read %s back: %m", l->file);
	text[strcspn(text, "\n")] = '\0';
	if (!strcmp(text, l->text))
		return 0;
	return iso_error_set(b->e, -EIO, iso_step_word(step), "see who else writes to this cgroup",
			     "%s reads \"%s\" after \"%s\" (%s) was written", l->file, text,
			     l->text, l->manifest);
}

static int set_limits(struct iso_build *b)
{
	struct limit l[8];
	size_t n = make_limits(b->q->manifest, l);

	ISO_FAULT_POINT(b, LIMITS);
	if (b->seams->no_limits)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int r = iso_write_file(b->h->cgroup_fd, l[i].file, l[i].text);

		if (r < 0 && !is_optional(l[i].file, r))
			return iso_step_error(b, r, LIMITS, "see isoctl doctor",
					      "cannot set %s to %s (%s): %m", l[i].file, l[i].text,
					      l[i].manifest);
		r = check_limit(b, &l[i], ISO_STEP_LIMITS);
		if (r < 0)
			return r;
	}
	return 0;
}

int iso_cgroup_check_limits(struct iso_build *b)
{
	struct limit l[8];
	size_t n = make_limits(b->q->manifest, l);
	int r = 0;

	if (b->seams->no_limits)
		return 0;
	for (size_t i = 0; i < n && r == 0; i++)
		r = check_limit(b, &l[i], ISO_STEP_READ_BACK);
	return r;
}

int iso_cgroup_make(struct iso_build *b)
{
	struct iso_sandbox_handle *h = b->h;
	struct stat st;
	int r;

	ISO_FAULT_POINT(b, CGROUP);
	r = iso_cgroup_root(b->seams, &h->cgroup_parent, b->e);
	if (r < 0)
		return r;
	if (mkdirat(h->cgroup_parent, h->name, 0755) < 0) {
		r = -errno;
		/* not ours to remove later */
		iso_close_fd(&h->cgroup_parent);
		return iso_step_error(b, r, CGROUP, "free memory, or end other sandboxes",
				      "cannot make the cgroup %s: %m", h->name);
	}
	h->cgroup_fd =
		openat(h->cgroup_parent, h->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (h->cgroup_fd < 0 || fstat(h->cgroup_fd, &st) < 0)
		return iso_step_error(b, -errno, CGROUP, NULL, "cannot open the cgroup %s: %m",
				      h->name);
	h->cgroup_id = st.st_ino;
	return set_limits(b);
}

static int populated(int events, bool *ret)
{
	char text[256];
	ssize_t n = pread(events, text, sizeof text - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	*ret = !strstr(text, "populated 0");
	return 0;
}

int iso_cgroup_end(int cgroup_fd, int timeout_ms)
{
	ISO_AUTO_CLOSE int events = openat(cgroup_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	uint64_t until = iso_now_ns() + (uint64_t)timeout_ms * 1000000;
	bool alive = true;
	int r;

	if (events < 0)
		return -errno;
	for (;;) {
		struct pollfd p = {.fd = events, .events = POLLPRI};

		r = populated(events, &alive);
		if (r < 0 || !alive)
			return r;
		/* again each turn: a frozen or a just moved task is met by the next one */
		r = iso_write_file(cgroup_fd, "cgroup.kill", "1");
		if (r < 0)
			return r;
		poll(&p, 1, 20);
		if (iso_now_ns() >= until)
			return -ETIMEDOUT;
	}
}
