/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reverse guard: each attack by a root process outside, first while the guard is open, where it
 * succeeds, then while it is locked.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard.h"
#include "kernel/internal.h"

static struct iso_guard_status status;

static bool know(void)
{
	return CHECK(!iso_kernel_guard(rig_kernel, &status) && status.object_count > 100,
		     "%zu objects are guarded", status.object_count);
}

static int count(uint32_t kind)
{
	int n = 0;

	for (size_t i = 0; i < status.object_count; i++)
		n += status.objects[i].kind == kind;
	return n;
}

/* Locks and releases once, so that what is ours is known. */
static bool begin(void)
{
	return guard_lock() && know() && guard_release();
}

static long call(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof *attr);
}

/* ---------------------------------------------------------------------------- by id */

static uint32_t kind_asked, flags_asked;
static int command_asked;

static void get_by_id(void)
{
	for (size_t i = 0; i < status.object_count; i++) {
		union bpf_attr attr = {};
		long fd;

		if (status.objects[i].kind != kind_asked)
			continue;
		attr.map_id = status.objects[i].id;
		attr.open_flags = flags_asked;
		fd = call(command_asked, &attr);
		guard_answer(fd);
		if (fd >= 0)
			close((int)fd);
	}
}

static void by_id(const char *what, uint32_t kind, int command, uint32_t flags)
{
	int n;

	REQUIRE(begin(), "not locked");
	n = count(kind);
	kind_asked = kind;
	command_asked = command;
	flags_asked = flags;
	guard_read();
	CHECK(n > 0 && guard_outside(get_by_id) && guard_all(what, n, 0), "%s: open", what);
	CHECK(guard_read() == 0, "%s: told of while open", what);
	REQUIRE(guard_lock(), "not locked");
	CHECK(guard_outside(get_by_id) && guard_all(what, n, EPERM) &&
		      guard_told(what, (size_t)n, ISO_HOOK_bpf, kind),
	      "%s: locked", what);
	CHECK(guard_tampers[0].id && guard_tampers[0].command == (uint32_t)command,
	      "%s: id %u command %u", what, guard_tampers[0].id, guard_tampers[0].command);
	guard_release();
}

static void maps_by_id(void)
{
	by_id("read and write", ISO_OBJECT_MAP, BPF_MAP_GET_FD_BY_ID, 0);
	by_id("read-only", ISO_OBJECT_MAP, BPF_MAP_GET_FD_BY_ID, BPF_F_RDONLY);
}

static void programs_by_id(void)
{
	by_id("programs", ISO_OBJECT_PROGRAM, BPF_PROG_GET_FD_BY_ID, 0);
}

static void links_by_id(void)
{
	by_id("links", ISO_OBJECT_LINK, BPF_LINK_GET_FD_BY_ID, 0);
}

/* ---------------------------------------------------------------------------- by path */

#define PINS RIG_TREE "/bpf"

static void get_map_by_path(void)
{
	LIBBPF_OPTS(bpf_obj_get_opts, o, .file_flags = BPF_F_RDONLY);

	guard_answer(bpf_obj_get(PINS "/map"));
	guard_answer(bpf_obj_get_opts(PINS "/map", &o));
}

static void get_program_by_path(void)
{
	guard_answer(bpf_obj_get(PINS "/program"));
}

/* Nothing of ours is pinned, and who pins it before keeps the lock from closing: the agent does. */
static void by_path(void)
{
	REQUIRE(rig_tree() && rig_directory(PINS) && !mount("bpf", PINS, "bpf", 0, NULL),
		"no file system for pins: %s", strerror(errno));
	for (int locked = 0; locked < 2; locked++) {
		if (locked)
			REQUIRE(guard_lock(), "not locked");
		REQUIRE(!bpf_obj_pin(bpf_map__fd(rig_kernel->skeleton->maps.iso_ring),
				     PINS "/map") &&
				!bpf_obj_pin(bpf_program__fd(rig_kernel->skeleton->progs.iso_query),
					     PINS "/program"),
			"not pinned: %s", strerror(errno));
		guard_read();
		CHECK(guard_outside(get_map_by_path) && guard_all("map", 2, locked ? EPERM : 0),
		      "map: %s", locked ? "locked" : "open");
		guard_told("map", locked ? 2 : 0, ISO_HOOK_bpf_map, ISO_OBJECT_MAP);
		CHECK(!locked || !strcmp(guard_tampers[0].name, "iso_ring"), "name %s",
		      guard_tampers[0].name);
		CHECK(guard_outside(get_program_by_path) &&
			      guard_all("program", 1, locked ? EPERM : 0),
		      "program: %s", locked ? "locked" : "open");
		guard_told("program", (size_t)locked, ISO_HOOK_bpf_prog, ISO_OBJECT_PROGRAM);
		CHECK(!unlink(PINS "/map") && !unlink(PINS "/program"), "pins stay");
	}
	guard_release();
	umount2(PINS, MNT_DETACH);
}

/* ---------------------------------------------------------------------------- descriptors */

static int pair[2];

static int receive(int from)
{
	char byte, room[CMSG_SPACE(sizeof(int))] = {};
	struct iovec v = {&byte, 1};
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c;
	int fd;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof fd)) {
		errno = m.msg_flags & MSG_CTRUNC ? EPERM : EBADMSG;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

static bool send_fd(int to, int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof fd)] = {};
	struct iovec v = {&byte, 1};
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	return sendmsg(to, &m, 0) == 1;
}

static void receive_one(void)
{
	int fd = receive(pair[1]);

	guard_answer(fd);
	if (fd >= 0)
		close(fd);
}

/* Each kind of descriptor, and one that is nobody's. */
static void sent(const char *what, int fd, uint32_t object, bool locked)
{
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "no pair");
	CHECK(send_fd(pair[0], fd), "%s: cannot send: %s", what, strerror(errno));
	guard_read();
	CHECK(guard_inheriting(receive_one) && guard_all(what, 1, locked && object ? EPERM : 0),
	      "%s: %s", what, locked ? "locked" : "open");
	guard_told(what, locked && object, ISO_HOOK_file_receive, object);
	close(pair[0]);
	close(pair[1]);
}

static void descriptors_are_not_received(void)
{
	int map = bpf_map__fd(rig_kernel->skeleton->maps.iso_ring);
	int program = bpf_program__fd(rig_kernel->skeleton->progs.iso_query);
	int other = open("/dev/null", O_RDWR | O_CLOEXEC), link = -1;

	REQUIRE(begin(), "not locked");
	for (size_t i = 0; i < status.object_count; i++)
		if (status.objects[i].kind == ISO_OBJECT_LINK)
			link = status.objects[i].fd;
	for (int locked = 0; locked < 2; locked++) {
		if (locked)
			REQUIRE(guard_lock(), "not locked");
		sent("map", map, ISO_OBJECT_MAP, locked);
		sent("program", program, ISO_OBJECT_PROGRAM, locked);
		sent("link", link, ISO_OBJECT_LINK, locked);
		sent("other", other, 0, locked);
	}
	/* the agent gets its own back */
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "no pair");
	CHECK(send_fd(pair[0], map), "cannot send");
	other = receive(pair[1]);
	CHECK(other >= 0, "the agent may not receive: %s", strerror(errno));
	close(other);
	close(pair[0]);
	close(pair[1]);
	guard_release();
}

static void map_it(void)
{
	void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED,
			bpf_map__fd(rig_kernel->skeleton->maps.iso_ring), 0);

	guard_answer(at == MAP_FAILED ? -1 : 0);
}

/* A descriptor that was inherited gives no mapping; and no write, the map being frozen. */
static void kept_descriptors_are_of_no_use(void)
{
	int map = bpf_map__fd(rig_kernel->skeleton->maps.iso_ring);
	void *at;

	guard_read();
	CHECK(guard_inheriting(map_it) && guard_all("mapping", 1, 0), "open");
	REQUIRE(guard_lock(), "not locked");
	CHECK(guard_inheriting(map_it) && guard_all("mapping", 1, EPERM) &&
		      guard_told("mapping", 1, ISO_HOOK_mmap_file, ISO_OBJECT_MAP),
	      "locked");
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, map, 0);
	CHECK(at != MAP_FAILED, "the agent may not map: %s", strerror(errno));
	munmap(at, 4096);
	guard_release();
}

/* ---------------------------------------------------------------------------- links */

/* Only the one at the cgroup can be detached: by a descriptor, which is refused by id. */
static void links_cannot_be_detached(void)
{
	int at_cgroups = 0;

	REQUIRE(begin(), "not locked");
	for (size_t i = 0; i < status.object_count; i++) {
		struct bpf_link_info info = {};
		int fd = status.objects[i].fd;
		__u32 size = sizeof info;

		if (status.objects[i].kind != ISO_OBJECT_LINK)
			continue;

		REQUIRE(!bpf_obj_get_info_by_fd(fd, &info, &size), "no information");
		if (info.type == BPF_LINK_TYPE_CGROUP) {
			at_cgroups++;
			continue;
		}
		CHECK(info.type == BPF_LINK_TYPE_TRACING ||
			      info.type == BPF_LINK_TYPE_RAW_TRACEPOINT,
		      "link %u is of type %u", info.id, info.type);
		CHECK(bpf_link_detach(fd) && errno == EOPNOTSUPP, "link %u: detach: %s", info.id,
		      strerror(errno));
		CHECK(bpf_link_update(fd, bpf_program__fd(rig_kernel->skeleton->progs.iso_query),
				      NULL) &&
			      errno == EINVAL,
		      "link %u: update: %s", info.id, strerror(errno));
	}
	CHECK_EQUAL(at_cgroups, 1);
}

static void detach_no_link(void)
{
	guard_answer(bpf_link_detach(-1));
}

/* By command: what the number means is looked up after the hook. */
static void nobody_detaches_links(void)
{
	guard_read();
	CHECK(guard_outside(detach_no_link) && guard_all("detach", 1, EBADF), "open");
	REQUIRE(guard_lock(), "not locked");
	CHECK(guard_outside(detach_no_link) && guard_all("detach", 1, EPERM) &&
		      guard_told("detach", 1, ISO_HOOK_bpf, ISO_OBJECT_LINK),
	      "locked");
	guard_release();
}

/* ---------------------------------------------------------------------------- trampolines */

#define SYSCTL "/proc/sys/kernel/ftrace_enabled"

static int opened_before = -1;

static void write_to(int fd, const char *value)
{
	guard_answer(write(fd, value, strlen(value)));
}

/* 1, as it is: what is refused is the write. */
static void write_sysctl(void)
{
	int fd = open(SYSCTL, O_WRONLY | O_CLOEXEC);

	write_to(opened_before, "1\n");
	write_to(fd, "1\n");
	close(fd);
	fd = open(RIG_TREE "/proc/sys/kernel/ftrace_enabled", O_WRONLY | O_CLOEXEC);
	write_to(fd, "1\n");
	close(fd);
	fd = open(RIG_TREE "/bound", O_WRONLY | O_CLOEXEC);
	write_to(fd, "1\n");
	close(fd);
}

static void write_other_sysctl(void)
{
	int fd = open("/proc/sys/kernel/domainname", O_WRONLY | O_CLOEXEC);

	write_to(fd, "(none)\n");
}

static void trampolines_stay(void)
{
	REQUIRE(rig_tree() && rig_directory(RIG_TREE "/proc") && rig_file(RIG_TREE "/bound"),
		"no tree");
	REQUIRE(!mount("proc", RIG_TREE "/proc", "proc", 0, NULL) &&
			!mount(SYSCTL, RIG_TREE "/bound", NULL, MS_BIND, NULL),
		"no mounts: %s", strerror(errno));
	opened_before = open(SYSCTL, O_WRONLY | O_CLOEXEC);
	guard_read();
	CHECK(guard_inheriting(write_sysctl) && guard_all("sysctl", 4, 0), "open");
	REQUIRE(guard_lock(), "not locked");
	CHECK(guard_inheriting(write_sysctl) && guard_all("sysctl", 4, EPERM) &&
		      guard_told("sysctl", 4, ISO_HOOK_sysctl, ISO_OBJECT_SYSCTL),
	      "locked");
	CHECK(guard_outside(write_other_sysctl) && guard_all("another", 1, 0), "another");
	CHECK(write(opened_before, "1\n", 2) < 0 && errno == EPERM, "the agent may write it");
	guard_release();
	close(opened_before);
	umount2(RIG_TREE "/bound", MNT_DETACH);
	umount2(RIG_TREE "/proc", MNT_DETACH);
}

/* ---------------------------------------------------------------------------- accounts */

#define MANY 4000

static void flood(void)
{
	for (int i = 0; i < MANY; i++) {
		union bpf_attr attr = {.map_id = status.objects[0].id};

		guard_answer(call(BPF_MAP_GET_FD_BY_ID, &attr));
	}
}

/* Each is refused and numbered; those that are not told leave a hole; a sandbox loses nothing. */
static void a_flood_takes_nothing(void)
{
	uint64_t before;
	struct iso_account a;
	struct rig r = {};
	size_t n;

	REQUIRE(begin() && rig_tree() && rig_file(RIG_TREE "/closed") &&
			rig_prepare(&r, 0, RIG_RATE) && rig_rule(&r, RIG_TREE "/closed", 0, 2) &&
			rig_seal(&r),
		"no sandbox");
	REQUIRE(guard_lock(), "not locked");
	CHECK(!iso_kernel_guard(rig_kernel, &status), "no status");
	before = status.refused;
	CHECK(guard_outside(flood) && guard_all("flood", MANY, EPERM), "locked");
	n = guard_read();
	CHECK(n > 0 && n < MANY, "%zu attempts are told of", n);
	for (size_t i = 1; i < n; i++)
		if (!CHECK(guard_tampers[i].sequence > guard_tampers[i - 1].sequence, "sequence"))
			break;
	CHECK(!iso_kernel_guard(rig_kernel, &status), "no status");
	CHECK_EQUAL(status.refused - before, MANY);
	CHECK_EQUAL(rig_ask(&r, "flood " RIG_TREE "/closed 100"), EACCES);
	a = rig_account(&r);
	CHECK_EQUAL(a.emitted + a.collapsed, 100);
	CHECK_EQUAL(a.lost_rate + a.lost_full, 0);
	rig_end(&r);
	guard_release();
}

const struct iso_case rig_guard_cases[] = {
	{"maps-by-id", maps_by_id},
	{"programs-by-id", programs_by_id},
	{"links-by-id", links_by_id},
	{"by-path", by_path},
	{"descriptors-are-not-received", descriptors_are_not_received},
	{"kept-descriptors-are-of-no-use", kept_descriptors_are_of_no_use},
	{"links-cannot-be-detached", links_cannot_be_detached},
	{"nobody-detaches-links", nobody_detaches_links},
	{"trampolines-stay", trampolines_stay},
	{"guard-flood", a_flood_takes_nothing},
};
const size_t rig_guard_count = sizeof rig_guard_cases / sizeof *rig_guard_cases;
