/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The installer's state machine: what it takes, in which order, from whom. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "kernel/internal.h"
#include "rig.h"

static void begin_arguments(void)
{
	char path[64];
	int group = rig_new_cgroup(path), other = open("/tmp", O_RDONLY | O_CLOEXEC), file;
	char procs[80];

	snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
	file = open(procs, O_RDONLY | O_CLOEXEC);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, rig_new_id(), -1, 0, 1), -EBADF);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, rig_new_id(), 1 << 20, 0, 1), -EBADF);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, rig_new_id(), other, 0, 1), -EBADF);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, rig_new_id(), file, 0, 1), -EBADF);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, 0, group, 0, 1), -EINVAL);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, rig_new_id(), group, 0, 0), -EINVAL);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, rig_new_id(), group, ISO_SB_TORN, 1), -EINVAL);
	close(file);
	close(other);
	close(group);
	rmdir(path);
}

/* Where requests of io_uring cannot be told apart nobody has a ring. */
static void begin_with_rings(void)
{
	char path[64];
	int group = rig_new_cgroup(path);
	uint64_t id = rig_new_id();
	bool shown = rig_kernel->uring;

	CHECK(shown, "requests are not shown on this kernel");
	rig_kernel->uring = false;
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, id, group, ISO_SB_URING, 1), -EOPNOTSUPP);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, id), -ENOENT);
	rig_kernel->uring = shown;
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, id, group, ISO_SB_URING, 1), 0);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, id), 0);
	close(group);
	rmdir(path);
}

static void begin_twice(void)
{
	struct rig r = {};
	char path[64];
	int other = rig_new_cgroup(path);

	REQUIRE(rig_begin(&r, 0, RIG_RATE), "no sandbox");
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, r.id, other, 0, 1), -EEXIST);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, rig_new_id(), r.cgroup_fd, 0, 1), -EEXIST);
	/* neither left anything behind */
	rig_end(&r);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, r.id, other, 0, 1), 0);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, r.id), 0);
	close(other);
	rmdir(path);
}

static void begin_populated(void)
{
	char path[64];
	int group = rig_new_cgroup(path), gate[2] = {-1, -1};
	uint64_t id = rig_new_id();
	pid_t pid;
	char c;

	REQUIRE(!pipe2(gate, O_CLOEXEC), "no pipe");
	pid = rig_clone_into(group);
	if (!pid) {
		close(gate[1]);
		_exit(read(gate[0], &c, 1) == 0 ? 0 : 1);
	}
	REQUIRE(pid > 0, "cannot clone into %s: %s", path, strerror(errno));
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, id, group, 0, 1), -EBUSY);
	close(gate[0]);
	close(gate[1]);
	rig_wait(pid);
	rig_emptied(path);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, id, group, 0, 1), 0);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, id), 0);
	close(group);
	rmdir(path);
}

static void begin_with_children(void)
{
	char path[64], child[80];
	int group = rig_new_cgroup(path);
	uint64_t id = rig_new_id();

	snprintf(child, sizeof child, "%s/below", path);
	REQUIRE(rig_directory(child), "no child cgroup");
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, id, group, 0, 1), -EBUSY);
	CHECK_EQUAL(rmdir(child), 0);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, id, group, 0, 1), 0);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, id), 0);
	close(group);
	rmdir(path);
}

/* Every addition to `id`, which must all be answered alike. */
static void additions_answer(uint64_t id, int want)
{
	int fd = open("/tmp", O_PATH | O_CLOEXEC),
	    file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	CHECK_EQUAL(iso_kernel_launcher(rig_kernel, id, file), want);
	CHECK_EQUAL(iso_kernel_add_rule(rig_kernel, id, fd, ISO_READ, 90), want);
	CHECK_EQUAL(iso_kernel_add_name(rig_kernel, id, fd, "name", 91), want);
	CHECK_EQUAL(iso_kernel_add_absent(rig_kernel, id, "/absent", 92), want);
	CHECK_EQUAL(iso_kernel_seal(rig_kernel, id), want);
	close(file);
	close(fd);
}

static void nothing_without_begin(void)
{
	uint64_t id = rig_new_id(), n;
	struct iso_sandbox sb;
	uint32_t rights, rule;
	int fd = open("/tmp", O_PATH | O_CLOEXEC);

	additions_answer(id, -ENOENT);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, id), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_sandbox(rig_kernel, id, &sb), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_rule(rig_kernel, id, fd, &rights, &rule), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_name(rig_kernel, id, fd, "name", &rule), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_absent(rig_kernel, id, "/absent", &rule), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_counter(rig_kernel, ISO_COUNT_MAX, &n), -ENOENT);
	close(fd);
}

static void rule_arguments(void)
{
	struct rig r = {};
	int fd = open("/tmp", O_PATH | O_CLOEXEC);
	uint32_t rights = 0, rule = 0;

	REQUIRE(rig_begin(&r, 0, RIG_RATE), "no sandbox");
	CHECK_EQUAL(iso_kernel_add_rule(rig_kernel, r.id, fd, ISO_READ, 0), -EINVAL);
	CHECK_EQUAL(iso_kernel_add_rule(rig_kernel, r.id, fd, ISO_RIGHTS_ALL + 1, 1), -EINVAL);
	CHECK_EQUAL(iso_kernel_add_rule(rig_kernel, r.id, -1, ISO_READ, 1), -EBADF);
	CHECK_EQUAL(iso_kernel_add_name(rig_kernel, r.id, fd, "name", 0), -EINVAL);
	CHECK_EQUAL(iso_kernel_add_name(rig_kernel, r.id, -1, "name", 1), -EBADF);
	CHECK_EQUAL(iso_kernel_add_absent(rig_kernel, r.id, "/absent", 0), -EINVAL);
	CHECK_EQUAL(iso_kernel_launcher(rig_kernel, r.id, -1), -EBADF);
	CHECK_EQUAL(rig_counts(&r).rules, 0);
	CHECK_EQUAL(iso_kernel_add_rule(rig_kernel, r.id, fd, ISO_READ, 7), 0);
	CHECK_EQUAL(iso_kernel_add_rule(rig_kernel, r.id, fd, ISO_RIGHTS_ALL, 8), -EEXIST);
	CHECK_EQUAL(iso_kernel_add_name(rig_kernel, r.id, fd, "name", 9), 0);
	CHECK_EQUAL(iso_kernel_add_name(rig_kernel, r.id, fd, "name", 10), -EEXIST);
	CHECK_EQUAL(iso_kernel_add_absent(rig_kernel, r.id, "/absent", 11), 0);
	CHECK_EQUAL(iso_kernel_add_absent(rig_kernel, r.id, "/absent", 12), -EEXIST);
	CHECK_EQUAL(rig_counts(&r).rules, 3);
	CHECK_EQUAL(iso_kernel_ask_rule(rig_kernel, r.id, fd, &rights, &rule), 0);
	CHECK(rights == ISO_READ && rule == 7, "rule %u with rights %u", rule, rights);
	CHECK_EQUAL(iso_kernel_ask_name(rig_kernel, r.id, fd, "name", &rule), 0);
	CHECK_EQUAL(rule, 9);
	CHECK_EQUAL(iso_kernel_ask_name(rig_kernel, r.id, fd, "names", &rule), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_absent(rig_kernel, r.id, "/absent", &rule), 0);
	CHECK_EQUAL(rule, 11);
	close(fd);
	rig_end(&r);
}

static void seal_needs_one_task_and_rules(void)
{
	struct rig r = {};
	pid_t second;
	int gate[2] = {-1, -1};
	char c;

	REQUIRE(rig_begin(&r, 0, RIG_RATE) && rig_rule(&r, "/", ISO_RIGHTS_ALL, RIG_BASE),
		"no sandbox");
	CHECK_EQUAL(iso_kernel_seal(rig_kernel, r.id), -EBUSY); /* no task */
	REQUIRE(rig_launch(&r) && !pipe2(gate, O_CLOEXEC), "no launcher");
	second = rig_clone_into(r.cgroup_fd);
	if (!second) {
		close(gate[1]);
		_exit(read(gate[0], &c, 1) == 0 ? 0 : 1);
	}
	CHECK_EQUAL(iso_kernel_seal(rig_kernel, r.id), -EBUSY); /* two */
	CHECK_EQUAL(rig_counts(&r).state, ISO_STATE_BUILDING);
	close(gate[0]);
	close(gate[1]);
	rig_wait(second);
	CHECK(rig_tasks(&r, 1), "the second task is still counted");
	CHECK_EQUAL(iso_kernel_seal(rig_kernel, r.id), 0);
	CHECK_EQUAL(rig_counts(&r).state, ISO_STATE_SEALED);
	rig_end(&r);

	REQUIRE(rig_begin(&r, 0, RIG_RATE) && rig_launch(&r), "no sandbox");
	CHECK_EQUAL(iso_kernel_seal(rig_kernel, r.id), -EBUSY); /* no rule */
	rig_end(&r);
}

/* The first process alone, before it is isoinit: nothing may be sealed around the builder. */
static void seal_needs_isoinit(void)
{
	struct rig r = {};
	int gate[2] = {-1, -1};
	pid_t builder;
	char c;

	REQUIRE(rig_begin(&r, 0, RIG_RATE) && rig_rule(&r, "/", ISO_RIGHTS_ALL, RIG_BASE) &&
			!pipe2(gate, O_CLOEXEC),
		"no sandbox");
	builder = rig_clone_into(r.cgroup_fd);
	if (!builder) {
		close(gate[1]);
		_exit(read(gate[0], &c, 1) == 0 ? 0 : 1);
	}
	CHECK_EQUAL(iso_kernel_confirm(rig_kernel, r.id), 0);
	CHECK_EQUAL(iso_kernel_seal(rig_kernel, r.id), -EBUSY);
	close(gate[0]);
	close(gate[1]);
	rig_wait(builder);
	rig_end(&r);
}

static void sealed_takes_nothing(void)
{
	struct rig r = {};

	REQUIRE(rig_prepare(&r, 0, RIG_RATE) && rig_seal(&r), "no sandbox");
	CHECK_EQUAL(rig_counts(&r).state, ISO_STATE_SEALED);
	additions_answer(r.id, -EEXIST);
	CHECK_EQUAL(rig_ask(&r, "open /etc/passwd r"), 0);
	CHECK_EQUAL(rig_counts(&r).state, ISO_STATE_USED);
	additions_answer(r.id, -EEXIST);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, r.id, r.cgroup_fd, 0, 1), -EBUSY);
	CHECK_EQUAL(rig_counts(&r).rules, 1);
	rig_end(&r);
}

static void remove_waits_for_the_last_task(void)
{
	struct rig r = {};

	REQUIRE(rig_prepare(&r, 0, RIG_RATE), "no sandbox");
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, r.id), -EBUSY);
	REQUIRE(rig_seal(&r), "not sealed");
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, r.id), -EBUSY);
	CHECK_EQUAL(rig_ask(&r, "open /etc/passwd r"), 0);
	CHECK_EQUAL(iso_kernel_remove(rig_kernel, r.id), -EBUSY);
	rig_end(&r);
}

static void removal_leaves_nothing(void)
{
	int fd = open("/usr", O_PATH | O_CLOEXEC);
	uint32_t rights, rule;
	struct iso_sandbox sb;
	struct rig a = {}, b = {};

	REQUIRE(rig_begin(&a, 0, RIG_RATE) && rig_begin(&b, 0, RIG_RATE), "no sandboxes");
	REQUIRE(rig_rule(&a, "/usr", ISO_READ, 1) && rig_rule(&b, "/usr", ISO_EXEC, 2) &&
			rig_name(&a, "/usr", "name", 3) && rig_name(&b, "/usr", "name", 4),
		"no rules");
	CHECK_EQUAL(iso_kernel_add_absent(rig_kernel, a.id, "/absent", 5), 0);
	rig_end(&a);
	CHECK_EQUAL(iso_kernel_ask_sandbox(rig_kernel, a.id, &sb), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_rule(rig_kernel, a.id, fd, &rights, &rule), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_name(rig_kernel, a.id, fd, "name", &rule), -ENOENT);
	CHECK_EQUAL(iso_kernel_ask_absent(rig_kernel, a.id, "/absent", &rule), -ENOENT);
	/* the other one's rules on the same object stay */
	CHECK_EQUAL(iso_kernel_ask_rule(rig_kernel, b.id, fd, &rights, &rule), 0);
	CHECK(rights == ISO_EXEC && rule == 2, "rule %u with rights %u", rule, rights);
	CHECK_EQUAL(iso_kernel_ask_name(rig_kernel, b.id, fd, "name", &rule), 0);
	CHECK_EQUAL(rule, 4);
	rig_end(&b);
	close(fd);
}

static void a_number_can_be_used_again(void)
{
	struct rig r = {}, again;

	REQUIRE(rig_prepare(&r, 0, RIG_RATE) && rig_seal(&r), "no sandbox");
	rig_end(&r);
	memset(&again, 0, sizeof again);
	again.commands = again.answers = again.go = -1;
	again.id = r.id;
	again.cgroup_fd = rig_new_cgroup(again.cgroup);
	CHECK_EQUAL(iso_kernel_begin(rig_kernel, again.id, again.cgroup_fd, 0, RIG_RATE), 0);
	CHECK_EQUAL(rig_counts(&again).state, ISO_STATE_BUILDING);
	CHECK_EQUAL(rig_counts(&again).rules, 0);
	rig_end(&again);
}

#define MANY 10000u

/* The policy's own bound; all of it goes with the sandbox. */
static void ten_thousand_rules(void)
{
	uint32_t rights, rule;
	char path[64];
	struct rig r = {};
	int fd = -1;

	REQUIRE(rig_tree() && rig_begin(&r, 0, RIG_RATE), "no sandbox");
	for (uint32_t i = 1; i <= MANY; i++) {
		snprintf(path, sizeof path, RIG_TREE "/%u", i);
		fd = open(path, O_CREAT | O_RDONLY | O_CLOEXEC, 0600);
		if (!CHECK(!iso_kernel_add_rule(rig_kernel, r.id, fd, ISO_READ, i), "rule %u", i))
			break;
		close(fd);
	}
	CHECK_EQUAL(rig_counts(&r).rules, MANY);
	fd = open(RIG_TREE "/5000", O_PATH | O_CLOEXEC);
	CHECK_EQUAL(iso_kernel_ask_rule(rig_kernel, r.id, fd, &rights, &rule), 0);
	CHECK_EQUAL(rule, 5000);
	rig_end(&r);
	CHECK_EQUAL(iso_kernel_ask_rule(rig_kernel, r.id, fd, &rights, &rule), -ENOENT);
	close(fd);
}

/* ---------------------------------------------------------------------------- who may call */

static int in_child(int (*body)(void))
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(body());
	status = rig_wait(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static uint64_t child_id;

/* A fork of the agent holds its descriptors and is not the agent. */
static int child_adds(void)
{
	int fd = open("/tmp", O_PATH | O_CLOEXEC);

	return -iso_kernel_add_rule(rig_kernel, child_id, fd, ISO_READ, 1);
}

static int child_seals(void)
{
	return -iso_kernel_seal(rig_kernel, child_id);
}

static int child_removes(void)
{
	return -iso_kernel_remove(rig_kernel, child_id);
}

static int child_begins(void)
{
	char path[64];

	return -iso_kernel_begin(rig_kernel, rig_new_id(), rig_new_cgroup(path), 0, 1);
}

static int child_claims(void)
{
	return -iso_kernel_claim(rig_kernel);
}

static void others_may_not_call(void)
{
	struct rig r = {};

	REQUIRE(rig_begin(&r, 0, RIG_RATE), "no sandbox");
	child_id = r.id;
	CHECK_EQUAL(in_child(child_adds), EPERM);
	CHECK_EQUAL(in_child(child_seals), EPERM);
	CHECK_EQUAL(in_child(child_removes), EPERM);
	CHECK_EQUAL(in_child(child_begins), EPERM);
	CHECK_EQUAL(in_child(child_claims), EBUSY);
	CHECK_EQUAL(iso_kernel_claim(rig_kernel), 0); /* the agent is the agent */
	rig_end(&r);
}

static void maps_are_frozen(void)
{
	static char value[4096];
	struct bpf_map *map;
	uint64_t key[4] = {1};
	unsigned n = 0;

	bpf_object__for_each_map (map, rig_kernel->skeleton->obj) {
		const char *name = bpf_map__name(map);
		int fd = bpf_map__fd(map);

		if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF || strstr(name, ".rodata"))
			continue;
		n++;
		errno = 0;
		CHECK(bpf_map_update_elem(fd, key, value, BPF_ANY) && errno == EPERM,
		      "%s can be written: %s", name, strerror(errno));
		errno = 0;
		CHECK(bpf_map_delete_elem(fd, key) && errno == EPERM, "%s: delete: %s", name,
		      strerror(errno));
		errno = 0;
		/* 6.1: frozen already; later kernels find no right to write first */
		CHECK(bpf_map_freeze(fd) && (errno == EPERM || errno == EBUSY),
		      "%s is not frozen: %s", name, strerror(errno));
	}
	CHECK(n > 5, "%u maps", n);
}

const struct iso_case rig_installer_cases[] = {
	{"begin-arguments", begin_arguments},
	{"begin-with-rings", begin_with_rings},
	{"begin-twice", begin_twice},
	{"begin-populated", begin_populated},
	{"begin-with-children", begin_with_children},
	{"nothing-without-begin", nothing_without_begin},
	{"rule-arguments", rule_arguments},
	{"seal-needs-one-task-and-rules", seal_needs_one_task_and_rules},
	{"seal-needs-isoinit", seal_needs_isoinit},
	{"sealed-takes-nothing", sealed_takes_nothing},
	{"remove-waits-for-the-last-task", remove_waits_for_the_last_task},
	{"removal-leaves-nothing", removal_leaves_nothing},
	{"number-used-again", a_number_can_be_used_again},
	{"ten-thousand-rules", ten_thousand_rules},
	{"others-may-not-call", others_may_not_call},
	{"maps-are-frozen", maps_are_frozen},
};
const size_t rig_installer_count = sizeof rig_installer_cases / sizeof *rig_installer_cases;
