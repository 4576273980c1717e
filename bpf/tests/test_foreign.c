/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs of somebody else: those that get hold of a map, and those that decide. Both breaches are
 * shown where the guard is open, so that what the lock refuses is what works without it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attack.skel.h"
#include "guard.h"
#include "kernel/internal.h"

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Loads the program of that name, with the victim in place of its own map when one is given. */
static struct attack_bpf *load(const char *name, int victim)
{
	struct attack_bpf *a = attack_bpf__open();
	int r;

	if (!a)
		return NULL;
	libbpf_set_print(print_nothing);
	bpf_program__set_autoload(bpf_object__find_program_by_name(a->obj, name), true);
	r = victim >= 0 ? bpf_map__reuse_fd(a->maps.victim, victim) : 0;
	if (!r)
		r = attack_bpf__load(a);
	if (r) {
		attack_bpf__destroy(a);
		errno = -r;
		return NULL;
	}
	return a;
}

static int run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, o);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &o) ? -errno : (int)o.retval;
}

static int new_victim(void)
{
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "victim", 4, 8, 1, NULL);
}

static uint32_t map_id(int fd)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof info;

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}

/* ---------------------------------------------------------------------------- bypass 33 */

static uint32_t wanted_id;

static void read_only_descriptor(void)
{
	LIBBPF_OPTS(bpf_get_fd_by_id_opts, o, .open_flags = BPF_F_RDONLY);

	guard_answer(bpf_map_get_fd_by_id_opts(wanted_id, &o));
}

/*
 * A frozen map, a read-only descriptor of it, a program that is loaded with that: the map is
 * written. So no map of ours gives one.
 */
static void a_read_only_descriptor_writes(void)
{
	LIBBPF_OPTS(bpf_get_fd_by_id_opts, o, .open_flags = BPF_F_RDONLY);
	int victim = new_victim(), read_only;
	struct iso_guard_status status;
	struct iso_error e = {};
	struct attack_bpf *a;
	__u64 value = 0;
	__u32 zero = 0;
	int r;

	REQUIRE(victim >= 0 && !bpf_map_freeze(victim), "no frozen map");
	CHECK(bpf_map_update_elem(victim, &zero, &value, 0) && errno == EPERM, "not frozen");
	read_only = bpf_map_get_fd_by_id_opts(map_id(victim), &o);
	REQUIRE(read_only >= 0, "no read-only descriptor: %s", strerror(errno));
	a = load("attack_write", read_only);
	REQUIRE(a, "not loaded: %s", strerror(errno));
	CHECK_EQUAL(run(a->progs.attack_write), 0);
	CHECK(!bpf_map_lookup_elem(victim, &zero, &value) && value == 4711,
	      "the breach is not there: %llu", (unsigned long long)value);
	attack_bpf__destroy(a);
	close(read_only);

	/* the same against a map of ours, from before the lock: the lock is refused and says why */
	REQUIRE(guard_lock() && !iso_kernel_guard(rig_kernel, &status) && guard_release(),
		"not locked");
	for (size_t i = 0; i < status.object_count; i++)
		if (!strcmp(status.objects[i].name, "iso_counters"))
			wanted_id = status.objects[i].id;
	read_only = bpf_map_get_fd_by_id_opts(wanted_id, &o);
	REQUIRE(read_only >= 0, "no descriptor while open: %s", strerror(errno));
	a = load("attack_write", read_only);
	close(read_only);
	REQUIRE(a, "not loaded: %s", strerror(errno));
	r = iso_kernel_lock(rig_kernel, GUARD_NO_LIST, &e);
	CHECK(r == -EEXIST && strstr(e.message, "attack_write"), "lock answers %d: %s", r,
	      e.message);
	attack_bpf__destroy(a);

	/* and after it there is no descriptor */
	REQUIRE(guard_lock(), "not locked");
	CHECK(guard_outside(read_only_descriptor) && guard_all("read-only", 1, EPERM) &&
		      guard_told("read-only", 1, ISO_HOOK_bpf, ISO_OBJECT_MAP),
	      "locked");
	CHECK(!strcmp(guard_tampers[0].comm, "iso-kernel-test") && guard_tampers[0].id == wanted_id,
	      "%s, map %u", guard_tampers[0].comm, guard_tampers[0].id);
	guard_release();
	close(victim);
}

/* ---------------------------------------------------------------------------- loading */

static void load_all(void)
{
	static const char *const names[] = {"attack_guard", "attack_skip", "attack_lsm",
					    "attack_sysctl"};

	for (size_t i = 0; i < 4; i++) {
		struct attack_bpf *a = load(names[i], -1);

		guard_answer(a ? 0 : -1);
		attack_bpf__destroy(a);
	}
}

static void load_observer(void)
{
	struct attack_bpf *a = load("attack_observe", -1);
	struct bpf_link *link = a ? bpf_program__attach(a->progs.attack_observe) : NULL;

	guard_answer(link ? 0 : -1);
	bpf_link__destroy(link);
	attack_bpf__destroy(a);
}

static void deciding_programs_are_not_loaded(void)
{
	guard_read();
	CHECK(guard_outside(load_all) && guard_all("deciding", 4, 0), "open");
	REQUIRE(guard_lock(), "not locked");
	CHECK(guard_outside(load_all) && guard_all("deciding", 4, EPERM), "locked");
	CHECK(guard_read() >= 4 && guard_tampers[0].object == ISO_OBJECT_FOREIGN &&
		      guard_tampers[0].reason == ISO_REASON_FOREIGN &&
		      guard_tampers[0].command == BPF_PROG_LOAD,
	      "object %u reason %u command %u", guard_tampers[0].object, guard_tampers[0].reason,
	      guard_tampers[0].command);
	CHECK(guard_outside(load_observer) && guard_all("observer", 1, 0), "an observer");
	guard_release();
}

/* ---------------------------------------------------------------------------- sysctl */

#define DOMAIN "/proc/sys/kernel/domainname"

static int write_domain(void)
{
	int fd = open(DOMAIN, O_WRONLY | O_CLOEXEC), error;

	error = write(fd, "(none)\n", 7) == 7 ? 0 : errno;
	close(fd);
	return error;
}

/* Neither descriptor is one: open, the kernel says so. What is refused is the kind. */
static void attach_sysctl(void)
{
	guard_answer(bpf_prog_attach(-1, -1, BPF_CGROUP_SYSCTL, BPF_F_ALLOW_MULTI));
	guard_answer(bpf_link_create(-1, -1, BPF_CGROUP_SYSCTL, NULL));
}

static void attach_device(void)
{
	guard_answer(bpf_prog_attach(-1, -1, BPF_CGROUP_DEVICE, BPF_F_ALLOW_MULTI));
	guard_answer(bpf_link_create(-1, -1, BPF_CGROUP_DEVICE, NULL));
}

/* Two programs at the root cgroup: what the first refuses the second takes back. */
static void a_later_program_takes_back(void)
{
	int root = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct attack_bpf *first = load("attack_refuse", -1), *second = load("attack_sysctl", -1);
	struct bpf_link *refuses, *takes_back;

	REQUIRE(first && second && root >= 0, "not loaded: %s", strerror(errno));
	CHECK_EQUAL(write_domain(), 0);
	refuses = bpf_program__attach_cgroup(first->progs.attack_refuse, root);
	CHECK_EQUAL(write_domain(), EPERM);
	takes_back = bpf_program__attach_cgroup(second->progs.attack_sysctl, root);
	CHECK(write_domain() == 0, "the breach is not there");
	bpf_link__destroy(takes_back);
	bpf_link__destroy(refuses);
	attack_bpf__destroy(first);
	attack_bpf__destroy(second);
	close(root);

	guard_read();
	CHECK(guard_outside(attach_sysctl) && guard_all("attach", 2, EBADF), "open");
	REQUIRE(guard_lock(), "not locked");
	CHECK(guard_outside(attach_sysctl) && guard_all("attach", 2, EPERM) &&
		      guard_told("attach", 2, ISO_HOOK_bpf, ISO_OBJECT_FOREIGN),
	      "locked");
	CHECK(guard_outside(attach_device) && guard_all("another kind", 2, EBADF), "another kind");
	guard_release();
}

/* ---------------------------------------------------------------------------- bypass 34 */

static void write_list(const char *path, const struct iso_found *f)
{
	char line[64];
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	iso_found_line(f, line);
	CHECK(write(fd, line, strlen(line)) == (ssize_t)strlen(line) && write(fd, "\n", 1) == 1,
	      "no list");
	close(fd);
}

static struct attack_bpf *skip;

/* By both ways; what is asked for is attached if it is answered with a descriptor. */
static void attach_skip(void)
{
	int fd = bpf_program__fd(skip->progs.attack_skip);

	guard_answer(bpf_link_create(fd, 0, BPF_MODIFY_RETURN, NULL));
	guard_answer(bpf_raw_tracepoint_open(NULL, fd));
}

#define LIST RIG_TREE "/foreign-programs"

/*
 * A program that is loaded before the lock and attached after it: fmod_ret on the hook's caller,
 * which returns 1, and the hook's programs are not run. First against a guard of our own.
 */
static void loaded_before_attached_after(void)
{
	struct attack_bpf *own = load("attack_guard", -1);
	struct iso_guard_status status;
	struct bpf_link *guard, *link;
	struct iso_error e = {};
	int victim, fd, r;

	skip = load("attack_skip", -1);
	victim = new_victim();
	REQUIRE(own && skip && victim >= 0, "not loaded: %s", strerror(errno));
	guard = bpf_program__attach(own->progs.attack_guard);
	wanted_id = map_id(victim);
	CHECK(bpf_map_get_fd_by_id(wanted_id) < 0 && errno == EPERM, "no guard of our own");
	link = bpf_program__attach(skip->progs.attack_skip);
	fd = bpf_map_get_fd_by_id(wanted_id);
	CHECK(fd >= 0, "the breach is not there: %s", strerror(errno));
	close(fd);
	bpf_link__destroy(link);
	bpf_link__destroy(guard);
	attack_bpf__destroy(own);

	/* loaded, and not listed: not locked, with number, name and owner */
	r = iso_kernel_lock(rig_kernel, GUARD_NO_LIST, &e);
	CHECK(r == -EEXIST && strstr(e.message, "attack_skip") && strstr(e.message, "uid 0") &&
		      strstr(e.remedy, ISO_FOREIGN_PATH),
	      "lock answers %d: %s (%s)", r, e.message, e.remedy);
	CHECK(!iso_kernel_guard(rig_kernel, &status) && status.found_count == 1 &&
		      strstr(e.message, status.found[0].name),
	      "%zu programs are found", status.found_count);

	/* listed: locked, and attached by nobody */
	REQUIRE(rig_tree() && status.found_count == 1, "no list");
	write_list(LIST, &status.found[0]);
	r = iso_kernel_lock(rig_kernel, LIST, &e);
	REQUIRE(!r, "lock answers %d: %s", r, e.message);
	guard_read();
	CHECK(guard_inheriting(attach_skip) && guard_all("attach", 2, EPERM) &&
		      guard_told("attach", 2, ISO_HOOK_bpf, ISO_OBJECT_FOREIGN),
	      "locked");
	guard_release();

	/* a list that others can write is none */
	CHECK(!chmod(LIST, 0666), "chmod");
	CHECK_EQUAL(iso_kernel_lock(rig_kernel, LIST, &e), -EPERM);
	CHECK(!chmod(LIST, 0600) && !chown(LIST, 1000, 0), "chown");
	CHECK_EQUAL(iso_kernel_lock(rig_kernel, LIST, &e), -EPERM);
	attack_bpf__destroy(skip);
	CHECK(guard_lock() && guard_release(), "not locked afterwards");
	close(victim);
}

int rig_hold_foreign(void)
{
	struct attack_bpf *a = load("attack_lsm", -1);
	char c;

	if (!a)
		return 1;
	puts("held");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	attack_bpf__destroy(a);
	return 0;
}

const struct iso_case rig_foreign_cases[] = {
	{"read-only-descriptor-writes", a_read_only_descriptor_writes},
	{"deciding-programs-are-not-loaded", deciding_programs_are_not_loaded},
	{"a-later-program-takes-back", a_later_program_takes_back},
	{"loaded-before-attached-after", loaded_before_attached_after},
};
const size_t rig_foreign_count = sizeof rig_foreign_cases / sizeof *rig_foreign_cases;
