/* SPDX-License-Identifier: BSD-2-Clause */
#include "isoinit/isoinit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/securebits.h>

/* Changes the entry command's user, and signals processes of that user: nothing else. */
#define KEPT_CAPS ((1u << CAP_SETUID) | (1u << CAP_SETGID) | (1u << CAP_KILL))

#define SECUREBITS                                                              \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED | \
	 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |                \
	 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static void drop_privileges(struct iso_init *i)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	memset(caps, 0, sizeof caps);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0) < 0)
		iso_report_fatal(i, "securebits", errno);
	/* The bounding set only matters to an exec, and what isoinit forks has no claim to any. */
	for (unsigned c = 0; c < 64; c++)
		if (prctl(PR_CAPBSET_READ, c, 0, 0, 0) == 1 &&
		    prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0)
			iso_report_fatal(i, "bounding set", errno);
	caps[0].permitted = caps[0].effective = KEPT_CAPS;
	if (syscall(SYS_capset, &head, caps) < 0)
		iso_report_fatal(i, "capabilities", errno);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		iso_report_fatal(i, "no-new-privileges", errno);
}

/* The plan stays mapped; the descriptor goes when its number is needed (entry.c). */
static void read_plan(struct iso_init *i)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	char **pointers;
	struct stat st;
	size_t n, size;
	void *data;

	if (fcntl(ISO_INIT_FD_PLAN, F_GET_SEALS) != seals)
		iso_report_fatal(i, "plan seals", EPERM);
	if (fstat(ISO_INIT_FD_PLAN, &st) < 0)
		iso_report_fatal(i, "plan", errno);
	if (st.st_size <= 0 || st.st_size > (off_t)ISO_PLAN_SIZE_MAX)
		iso_report_fatal(i, "plan size", EINVAL);
	size = (size_t)st.st_size;
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, ISO_INIT_FD_PLAN, 0);
	if (data == MAP_FAILED)
		iso_report_fatal(i, "plan", errno);
	n = iso_plan_pointers(data, size);
	if (!n)
		iso_report_fatal(i, "plan header", EINVAL);
	pointers = mmap(NULL, n * sizeof *pointers, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pointers == MAP_FAILED)
		iso_report_fatal(i, "plan", errno);
	if (iso_plan_decode(data, size, pointers, n, &i->plan) < 0)
		iso_report_fatal(i, "plan", EINVAL);
}

static void open_everything(struct iso_init *i)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		iso_report_fatal(i, "signals", errno);
	sigemptyset(&all);
	sigaddset(&all, SIGCHLD);
	i->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	i->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (i->signals < 0 || i->timer < 0)
		iso_report_fatal(i, "signals", errno);
	i->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (i->proc < 0)
		iso_report_fatal(i, "/proc", errno);
	i->children = openat(i->proc, "thread-self/children", O_RDONLY | O_CLOEXEC);
	if (i->children < 0)
		iso_report_fatal(i, "/proc/thread-self/children", errno);
}

static void wait_for_go(void)
{
	struct iso_wire w;
	ssize_t n;

	do
		n = recv(ISO_INIT_FD_CONTROL, &w, sizeof w, 0);
	while (n < 0 && errno == EINTR);
	/* Nothing runs yet: whatever is not a GO is the end of it. */
	if (n != (ssize_t)sizeof w || w.magic != ISO_WIRE_MAGIC || w.kind != ISO_WIRE_GO)
		_exit(0);
}

static void start_timer(struct iso_init *i)
{
	uint64_t ms = i->plan.header.wall_ms;
	struct itimerspec t = {
		.it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000},
	};

	if (timerfd_settime(i->timer, 0, &t, NULL) < 0)
		iso_report_fatal(i, "wall limit", errno);
}

int main(void)
{
	struct iso_init i = {.children = -1, .proc = -1, .exec_status = -1, .listener = -1};
	int r;

	/* Started by hand: nothing to do, and no descriptor to trust. */
	if (getpid() != 1)
		return 2;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		iso_report_fatal(&i, "dumpable", errno);
	prctl(PR_SET_NAME, "isoinit", 0, 0, 0);
	/* the entry command's exec closes them; whatever is opened from here on says so itself */
	if (close_range(ISO_INIT_FD_CONTROL, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		iso_report_fatal(&i, "descriptors", errno);
	read_plan(&i);
	open_everything(&i);
	drop_privileges(&i);
	iso_report(&i, ISO_WIRE_READY, 0, 0, NULL, true);
	wait_for_go();
	start_timer(&i);
	r = iso_entry_start(&i);
	if (r < 0)
		iso_report_fatal(&i, "fork", -r);
	/* nobody would answer: better an end than a task without its events */
	if (i.listener >= 0 && !iso_listener_send(&i))
		iso_report_fatal(&i, "listener", EIO);
	iso_supervise(&i);
}
