/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lock itself: who keeps it from closing, in which order it goes, and what it answers to
 * others. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard.h"
#include "kernel/internal.h"

static struct iso_guard_status status;

static long call(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof *attr);
}

/* Locks and releases once, so that what is ours is known. */
static bool begin(void)
{
	return guard_lock() && guard_release() &&
	       CHECK(!iso_kernel_guard(rig_kernel, &status), "no status");
}

/* ---------------------------------------------------------------------------- who was there before
 */

/* With `how` in force the lock is refused with `want` and names it; without, it is not. */
static void lock_refused(const char *how, int want, const char *name)
{
	struct iso_error e = {};
	int r = iso_kernel_lock(rig_kernel, GUARD_NO_LIST, &e);

	CHECK(r == want, "%s: lock answers %d (%s), not %d", how, r, e.message, want);
	CHECK(strstr(e.message, name), "%s: \"%s\" does not name %s", how, e.message, name);
	CHECK(e.remedy[0], "%s: no remedy", how);
	CHECK(!iso_kernel_guard(rig_kernel, &status) && status.state == ISO_GUARD_OPEN,
	      "%s: the guard is not open", how);
}

static uint32_t id_of(uint32_t kind, const char *name)
{
	for (size_t i = 0; i < status.object_count; i++)
		if (status.objects[i].kind == kind && !strcmp(status.objects[i].name, name))
			return status.objects[i].id;
	iso_check(false, __FILE__, __LINE__, "nothing of ours is called %s", name);
	return 0;
}

static void somebody_holds_a_map(void)
{
	int fd, outer;
	__u32 zero = 0;
	void *at;

	REQUIRE(begin(), "not locked");
	fd = bpf_map_get_fd_by_id(id_of(ISO_OBJECT_MAP, "iso_rules"));
	REQUIRE(fd >= 0, "no descriptor: %s", strerror(errno));
	lock_refused("descriptor", -EBUSY, "map iso_rules");
	LIBBPF_OPTS(bpf_map_create_opts, o, .inner_map_fd = (__u32)fd);
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "outer", 4, 4, 1, &o);
	REQUIRE(outer >= 0 && !bpf_map_update_elem(outer, &zero, &fd, 0), "no map of maps: %s",
		strerror(errno));
	close(fd);
	lock_refused("map in a map", -EBUSY, "map iso_rules");
	close(outer);
	fd = bpf_map_get_fd_by_id(id_of(ISO_OBJECT_MAP, "iso_ring"));
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	REQUIRE(at != MAP_FAILED, "no mapping: %s", strerror(errno));
	close(fd);
	lock_refused("mapping", -EBUSY, "map iso_ring");
	munmap(at, 4096);
	CHECK(guard_lock() && guard_release(), "not locked afterwards");
}

static void somebody_holds_a_program(void)
{
	int fd;

	REQUIRE(begin(), "not locked");
	fd = bpf_prog_get_fd_by_id(id_of(ISO_OBJECT_PROGRAM, "iso_installer"));
	lock_refused("installer", -EBUSY, "program iso_installer");
	close(fd);
	fd = bpf_link_get_fd_by_id(id_of(ISO_OBJECT_LINK, "iso_sysctl"));
	lock_refused("link", -EBUSY, "link iso_sysctl");
	close(fd);
	CHECK(guard_lock() && guard_release(), "not locked afterwards");
}

/* ---------------------------------------------------------------------------- arguments */

static int guard_fd(int fd, uint32_t kind)
{
	struct iso_command c = {.op = ISO_OP_GUARD, .fd = fd, .arg = kind, .value = 1};

	return iso_kernel_install(rig_kernel, &c);
}

static int guard_op(uint32_t op)
{
	struct iso_command c = {.op = op};

	return iso_kernel_install(rig_kernel, &c);
}

static void others_operate(void)
{
	for (uint32_t op = ISO_OP_GUARD; op <= ISO_OP_RELEASE; op++) {
		errno = -guard_op(op);
		guard_answer(-1);
	}
}

static void guard_arguments(void)
{
	int map, file = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct rig r = {};

	REQUIRE(begin(), "not locked");
	map = bpf_map__fd(rig_kernel->skeleton->maps.iso_ring);
	CHECK_EQUAL(guard_fd(-1, ISO_OBJECT_MAP), -EBADF);
	CHECK_EQUAL(guard_fd(1 << 20, ISO_OBJECT_MAP), -EBADF);
	CHECK_EQUAL(guard_fd(file, ISO_OBJECT_MAP), -EINVAL);
	CHECK_EQUAL(guard_fd(map, ISO_OBJECT_PROGRAM), -EINVAL);
	CHECK_EQUAL(guard_fd(map, ISO_OBJECT_LINK), -EINVAL);
	CHECK_EQUAL(guard_fd(map, 0), -EINVAL);
	CHECK_EQUAL(guard_fd(map, ISO_OBJECT_FOREIGN), -EINVAL);
	CHECK_EQUAL(guard_fd(map, ~0u), -EINVAL);
	CHECK_EQUAL(guard_op(ISO_OP_LOCK), -EINVAL); /* not closing */
	CHECK_EQUAL(guard_op(ISO_OP_CLOSE), 0);
	CHECK_EQUAL(guard_op(ISO_OP_LOCK), -EINVAL); /* not scanned */
	CHECK_EQUAL(guard_fd(map, ISO_OBJECT_MAP), -EBUSY);
	CHECK_EQUAL(guard_op(ISO_OP_RELEASE), 0);
	REQUIRE(guard_lock(), "not locked");
	CHECK_EQUAL(guard_op(ISO_OP_CLOSE), -EBUSY);
	CHECK(guard_inheriting(others_operate) && guard_all("others", 4, EPERM), "others");
	REQUIRE(rig_begin(&r, 0, RIG_RATE), "no sandbox");
	CHECK_EQUAL(guard_op(ISO_OP_RELEASE), -EBUSY);
	rig_end(&r);
	CHECK(guard_release(), "not released");
	close(file);
}

static void ask_nonsense(void)
{
	union bpf_attr attr = {};

	errno = 0;
	guard_answer(syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, NULL, 0));
	guard_answer(syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, NULL, 8));
	guard_answer(syscall(SYS_bpf, BPF_PROG_LOAD, (void *)8, sizeof attr));
	guard_answer(syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, &attr, 1u << 30));
	guard_answer(syscall(SYS_bpf, -1, &attr, sizeof attr));
	guard_answer(syscall(SYS_bpf, 1 << 20, &attr, sizeof attr));
	guard_answer(call(BPF_MAP_GET_FD_BY_ID, &attr));
	attr.map_id = ~0u;
	guard_answer(call(BPF_MAP_GET_FD_BY_ID, &attr));
	guard_answer(call(BPF_PROG_GET_FD_BY_ID, &attr));
	guard_answer(call(BPF_LINK_GET_FD_BY_ID, &attr));
}

/* Hostile arguments get the kernel's own errors and nothing is refused by the guard. */
static void nonsense(void)
{
	struct guard_answers open_ones;

	guard_read();
	REQUIRE(guard_outside(ask_nonsense), "open");
	open_ones = *guard_answers;
	REQUIRE(guard_lock() && guard_outside(ask_nonsense), "locked");
	CHECK(guard_answers->count == 10, "%d answers", guard_answers->count);
	for (int i = 0; i < guard_answers->count; i++)
		CHECK(guard_answers->errors[i] && guard_answers->errors[i] == open_ones.errors[i],
		      "call %d answers %d, and %d while open", i, guard_answers->errors[i],
		      open_ones.errors[i]);
	CHECK(guard_read() == 0, "told of");
	guard_release();
}

const struct iso_case rig_lock_cases[] = {
	{"somebody-holds-a-map", somebody_holds_a_map},
	{"somebody-holds-a-program", somebody_holds_a_program},
	{"guard-arguments", guard_arguments},
	{"guard-nonsense", nonsense},
};
const size_t rig_lock_count = sizeof rig_lock_cases / sizeof *rig_lock_cases;
