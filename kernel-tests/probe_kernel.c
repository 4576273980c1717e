/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces of the kernel, with arguments that work: outside a sandbox each does its work. */
#include "probe.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <mqueue.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/io.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/shm.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static int make_map(char **w)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	(void)w;
	return probe_errno(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, 128));
}

static int count_events(char **w)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .exclude_kernel = 1};

	(void)w;
	return probe_errno(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static int add_key(char **w)
{
	(void)w;
	return probe_errno(
		syscall(SYS_add_key, "user", "isoctl", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

static int session_keyring(char **w)
{
	(void)w;
	return probe_errno(
		syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1, 0, 0));
}

/* To what it says already. */
static int set_clock(char **w)
{
	struct timespec now;

	(void)w;
	if (clock_gettime(CLOCK_REALTIME, &now))
		return CANNOT;
	return probe_errno(clock_settime(CLOCK_REALTIME, &now));
}

static int adjust_clock(char **w)
{
	struct timex t = {};

	(void)w;
	return probe_errno(syscall(SYS_adjtimex, &t));
}

static int read_log(char **w)
{
	char text[256];

	(void)w;
	return probe_errno(klogctl(3, text, sizeof text));
}

static int shared_memory(char **w)
{
	int id = shmget(IPC_PRIVATE, 4096, 0600), e;

	(void)w;
	if (id < 0)
		return errno;
	e = shmat(id, NULL, 0) == (void *)-1 ? errno : 0;
	shmctl(id, IPC_RMID, NULL);
	return e;
}

static int message(char **w)
{
	struct {
		long type;
		char text;
	} m = {1, 'x'};
	int id = msgget(IPC_PRIVATE, 0600), e;

	(void)w;
	if (id < 0)
		return errno;
	e = probe_errno(msgsnd(id, &m, 1, IPC_NOWAIT));
	msgctl(id, IPC_RMID, NULL);
	return e;
}

static int message_queue(char **w)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 16};
	mqd_t q = mq_open("/iso-probe", O_CREAT | O_RDWR | O_CLOEXEC, 0600, &attr);

	(void)w;
	if (q < 0)
		return errno;
	mq_unlink("/iso-probe");
	return 0;
}

static int watch_all(char **w)
{
	int fd = (int)syscall(SYS_fanotify_init, 0, 0);

	if (fd < 0)
		return errno;
	return probe_errno(
		fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN, AT_FDCWD, w[0]));
}

static int load_module_file(char **w)
{
	int fd = open(w[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? CANNOT : probe_errno(syscall(SYS_finit_module, fd, "", 0));
}

static int load_module(char **w)
{
	char image[64] = "no module";

	(void)w;
	return probe_errno(syscall(SYS_init_module, image, sizeof image, ""));
}

static int swap_on(char **w)
{
	return probe_errno(swapon(w[0], 0));
}

static int set_hostname(char **w)
{
	(void)w;
	return probe_errno(sethostname("iso", 3));
}

static int sync_quotas(char **w)
{
	(void)w;
	return probe_errno(quotactl(QCMD(Q_SYNC, 1), NULL, 0, NULL));
}

/* Ctrl-Alt-Del becomes a signal. */
static int reboot_key(char **w)
{
	(void)w;
	return probe_errno(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
				   LINUX_REBOOT_CMD_CAD_OFF, NULL));
}

/* A capability for what is executed next: permitted, inheritable, ambient. */
static int raise_ambient(char **w)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	(void)w;
	if (syscall(SYS_capget, &head, data))
		return CANNOT;
	data[0].permitted |= 1u << CAP_SYS_ADMIN;
	data[0].inheritable |= 1u << CAP_SYS_ADMIN;
	if (syscall(SYS_capset, &head, data))
		return errno;
	return probe_errno(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0));
}

static int fault_descriptor(char **w)
{
	(void)w;
	return probe_errno(syscall(SYS_userfaultfd, O_CLOEXEC));
}

static int account(char **w)
{
	char entry[8];

	(void)w;
	if (syscall(SYS_acct, NULL))
		return errno;
	return probe_errno(syscall(SYS_modify_ldt, 0, entry, sizeof entry));
}

static int io_ports(char **w)
{
	(void)w;
	return probe_errno(iopl(3));
}

const struct probe_verb probe_kernel_verbs[] = {
	{"make-map", make_map},
	{"count-events", count_events},
	{"add-key", add_key},
	{"session-keyring", session_keyring},
	{"set-clock", set_clock},
	{"adjust-clock", adjust_clock},
	{"read-log", read_log},
	{"shared-memory", shared_memory},
	{"message", message},
	{"message-queue", message_queue},
	{"fanotify", watch_all},
	{"load-module-file", load_module_file},
	{"load-module", load_module},
	{"swap-on", swap_on},
	{"set-hostname", set_hostname},
	{"sync-quotas", sync_quotas},
	{"reboot-key", reboot_key},
	{"raise-ambient", raise_ambient},
	{"fault-descriptor", fault_descriptor},
	{"account", account},
	{"io-ports", io_ports},
	{NULL, NULL},
};
