/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guard's life as the agent drives it (bpf/lock.bpf.h): name what is ours, close, get what
 * stays anew and drop every other descriptor, scan, compare with what the operator lists, lock.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "kernel/internal.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
#define STEP	    "guard"
#define RETRIES	    200
#define RETRY_NS    1000000L
#define FOUND_MAX   1024u

/* ------------------------------------------------------------------------------ sysctl */

/* On the root of the hierarchy, or a process outside of what is mounted there would be free. */
int iso_guard_attach(struct iso_kernel *k, struct iso_error *e)
{
	ISO_AUTO_CLOSE int root = open(CGROUP_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct bpf_link **link = &k->skeleton->links.iso_sysctl;
	struct stat st;

	if (root < 0 || fstat(root, &st))
		return iso_error_set(e, -errno, STEP, NULL, "cannot open " CGROUP_ROOT ": %m");
	if (st.st_ino != 1)
		return iso_error_set(e, -EXDEV, STEP, "run isod outside a container",
				     CGROUP_ROOT " is not the root of the cgroups");
	*link = bpf_program__attach_cgroup(k->skeleton->progs.iso_sysctl, root);
	if (!*link)
		return iso_error_set(e, -errno, STEP, "run: isoctl doctor",
				     "cannot guard kernel.ftrace_enabled: %m");
	return 0;
}

/* Who may list programs and gets no descriptor of one of them is refused by a guard. */
bool iso_guard_of_another(void)
{
	__u32 id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0 && errno == EPERM)
			return true;
		if (fd >= 0)
			close(fd);
	}
	return false;
}

/* ------------------------------------------------------------------------------ what is ours */

static int map_info(int fd, struct bpf_map_info *info)
{
	__u32 size = sizeof *info;

	memset(info, 0, sizeof *info);
	return bpf_obj_get_info_by_fd(fd, info, &size) ? -errno : 0;
}

static int prog_info(int fd, struct bpf_prog_info *info)
{
	__u32 size = sizeof *info;

	return bpf_obj_get_info_by_fd(fd, info, &size) ? -errno : 0;
}

static int link_info(int fd, struct bpf_link_info *info)
{
	__u32 size = sizeof *info;

	memset(info, 0, sizeof *info);
	return bpf_obj_get_info_by_fd(fd, info, &size) ? -errno : 0;
}

static struct iso_guard_object *add(struct iso_kernel *k, uint32_t kind, int fd, uint32_t id,
				    const char *name)
{
	struct iso_guard_object *o;

	if (k->object_count == ISO_GUARD_OBJECTS)
		return NULL;
	o = &k->objects[k->object_count++];
	*o = (struct iso_guard_object){.kind = kind, .fd = fd, .id = id};
	snprintf(o->name, sizeof o->name, "%s", name);
	return o;
}

/* A program holds each of its maps once. */
static int count_users(struct iso_kernel *k, int fd)
{
	__u32 ids[64];
	struct bpf_prog_info info = {.nr_map_ids = 64, .map_ids = (__u64)(uintptr_t)ids};
	int r = prog_info(fd, &info);

	for (__u32 i = 0; r == 0 && i < info.nr_map_ids && i < 64; i++)
		for (size_t n = 0; n < k->object_count; n++)
			if (k->objects[n].kind == ISO_OBJECT_MAP && k->objects[n].id == ids[i])
				k->objects[n].holders++;
	return r;
}

/* isod writes through these programs, reads the ring, and asks labels by pidfd. */
static bool stays(const struct iso_kernel *k, int fd)
{
	const struct iso_bpf *s = k->skeleton;

	return fd == bpf_map__fd(s->maps.iso_ring) || fd == bpf_map__fd(s->maps.iso_labels) ||
	       fd == bpf_program__fd(s->progs.iso_installer) ||
	       fd == bpf_program__fd(s->progs.iso_query) ||
	       fd == bpf_program__fd(s->progs.iso_scan);
}

static int list_maps(struct iso_kernel *k)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, k->skeleton->obj) {
		int fd = bpf_map__fd(map), r;
		struct bpf_map_info info;

		r = map_info(fd, &info);
		if (r < 0)
			return r;
		if (!add(k, ISO_OBJECT_MAP, fd, info.id, info.name))
			return -E2BIG;
	}
	return 0;
}

static int list_programs(struct iso_kernel *k)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, k->skeleton->obj) {
		int fd = bpf_program__fd(program), r;
		struct bpf_prog_info info = {0};

		if (fd < 0)
			continue; /* of another kernel */
		r = prog_info(fd, &info);
		if (r == 0)
			r = count_users(k, fd);
		if (r < 0)
			return r;
		if (!add(k, ISO_OBJECT_PROGRAM, fd, info.id, info.name))
			return -E2BIG;
	}
	return 0;
}

static int list_links(struct iso_kernel *k)
{
	struct bpf_link **links = (struct bpf_link **)(void *)&k->skeleton->links;

	for (size_t i = 0; i < sizeof k->skeleton->links / sizeof *links; i++) {
		struct iso_guard_object *o;
		struct bpf_link_info info;
		int r;

		if (!links[i])
			continue;
		r = link_info(bpf_link__fd(links[i]), &info);
		if (r < 0)
			return r;
		o = add(k, ISO_OBJECT_LINK, bpf_link__fd(links[i]), info.id, "");
		if (!o)
			return -E2BIG;
		o->kept = true;
		for (size_t n = 0; n < k->object_count; n++) {
			struct iso_guard_object *p = &k->objects[n];

			if (p->kind != ISO_OBJECT_PROGRAM || p->id != info.prog_id)
				continue;
			p->holders++;
			memcpy(o->name, p->name, sizeof o->name);
		}
	}
	return 0;
}

static int tell(struct iso_kernel *k, struct iso_guard_object *o)
{
	struct iso_command c = {.op = ISO_OP_GUARD, .fd = o->fd, .arg = o->kind};

	o->kept = o->kept || stays(k, o->fd);
	o->holders += o->kept;
	/* the call that locks holds what it runs */
	o->holders += o->fd == bpf_program__fd(k->skeleton->progs.iso_installer);
	c.value = o->holders;
	c.rule = o->kept;
	return iso_kernel_install(k, &c);
}

static int name_ours(struct iso_kernel *k)
{
	int r;

	if (k->object_count)
		return 0; /* after a release: the kernel side still knows */
	k->objects = calloc(ISO_GUARD_OBJECTS, sizeof *k->objects);
	if (!k->objects)
		return -ENOMEM;
	r = list_maps(k);
	if (r == 0)
		r = list_programs(k);
	if (r == 0)
		r = list_links(k);
	for (size_t i = 0; r == 0 && i < k->object_count; i++)
		r = tell(k, &k->objects[i]);
	if (r < 0)
		k->object_count = 0;
	return r;
}

/* ------------------------------------------------------------------------------ descriptors */

static int open_again(const struct iso_guard_object *o)
{
	int fd;

	if (o->kind == ISO_OBJECT_MAP)
		fd = bpf_map_get_fd_by_id(o->id);
	else if (o->kind == ISO_OBJECT_PROGRAM)
		fd = bpf_prog_get_fd_by_id(o->id);
	else
		fd = bpf_link_get_fd_by_id(o->id);
	return fd < 0 ? -errno : fd;
}

/* libbpf has mapped what is constant; it will unmap the range itself. */
static int unmap(const struct iso_kernel *k)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, k->skeleton->obj) {
		size_t n = 0, page = (size_t)sysconf(_SC_PAGESIZE);
		const void *at = bpf_map__initial_value(map, &n);

		n = (n + page - 1) / page * page;
		if (at && mmap((void *)(uintptr_t)at, n, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return -errno;
	}
	return 0;
}

/*
 * The numbers stay, libbpf knows them; what they mean changes. What is kept is a new descriptor
 * that nobody else can have a copy of, everything else is nothing.
 */
static int renew(struct iso_kernel *k)
{
	ISO_AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int r = null < 0 ? -errno : unmap(k);

	ring_buffer__free(k->ring);
	k->ring = NULL;
	for (size_t i = 0; r == 0 && i < k->object_count; i++) {
		ISO_AUTO_CLOSE int fresh = -1;

		if (k->objects[i].kept) {
			fresh = open_again(&k->objects[i]);
			if (fresh < 0)
				return fresh;
		}
		if (dup3(fresh < 0 ? null : fresh, k->objects[i].fd, O_CLOEXEC) < 0)
			r = -errno;
	}
	return r;
}

/* ------------------------------------------------------------------------------ the scan */

static int read_found(struct iso_kernel *k, int fd)
{
	const size_t size = FOUND_MAX * sizeof *k->found;
	size_t got = 0;
	ssize_t n;

	free(k->found);
	k->found_count = 0;
	k->found = calloc(1, size);
	if (!k->found)
		return -ENOMEM;
	while ((n = read(fd, (char *)k->found + got, size - got)) > 0)
		got += (size_t)n;
	if (n < 0)
		return -errno;
	if (got == size || got % sizeof *k->found)
		return -E2BIG;
	k->found_count = got / sizeof *k->found;
	return 0;
}

static int scan(struct iso_kernel *k)
{
	struct bpf_link *link = bpf_program__attach_iter(k->skeleton->progs.iso_scan, NULL);
	int fd, r;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	r = fd < 0 ? -errno : read_found(k, fd);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return r;
}

static bool names_unlisted(const struct iso_kernel *k, const char *listed, struct iso_error *e)
{
	char line[64], owner[16];

	for (size_t i = 0; i < k->found_count; i++) {
		const struct iso_found *f = &k->found[i];

		iso_found_line(f, line);
		snprintf(owner, sizeof owner, "%u", f->uid);
		if (f->intruder) {
			iso_error_set(
				e, -EEXIST, STEP, "end the process that loaded it, or reboot",
				"the BPF program %u, %.16s, of uid %s, uses the enforcement's "
				"own maps or replaces one of its programs",
				f->id, f->name, owner);
			return true;
		}
		if (iso_found_listed(f, listed))
			continue;
		iso_error_set(
			e, -EEXIST, STEP,
			"end what loaded it, or list its name and tag, as root, in " ISO_FOREIGN_PATH
			" (see isod(8))",
			"the BPF program %u, %.16s, of uid %s, can change what sandboxes are "
			"refused, and is not listed: %s",
			f->id, f->name, owner, line);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------------------ locking */

static const char *object_word(uint32_t kind)
{
	static const char *const words[] = {
#define ISO_OBJECT(number, name, word) [number] = (word),
#include "iso_objects.def"
#undef ISO_OBJECT
	};

	return kind && kind < sizeof words / sizeof *words ? words[kind] : "object";
}

static const char *object_name(const struct iso_kernel *k, uint32_t kind, uint32_t id)
{
	for (size_t i = 0; i < k->object_count; i++)
		if (k->objects[i].kind == kind && k->objects[i].id == id)
			return k->objects[i].name;
	return "?";
}

/* What this process has just let go of is counted for some moments. */
static int lock_patiently(struct iso_kernel *k, struct iso_error *e)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	struct iso_command c;
	int r = -EBUSY;

	for (int i = 0; i < RETRIES && r == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		c = (struct iso_command){.op = ISO_OP_LOCK, .value = k->found_count};
		r = iso_kernel_install(k, &c);
	}
	if (r == -EBUSY)
		return iso_error_set(e, r, STEP, "end the process that has it, or reboot",
				     "somebody else has a descriptor of the enforcement's %s %s",
				     object_word(c.arg), object_name(k, c.arg, c.rule));
	return r < 0 ? iso_error_set(e, r, STEP, NULL, "the guard cannot be locked: %m") : 0;
}

static int trampolines_on(struct iso_error *e)
{
	ISO_AUTO_FREE char *value = NULL;
	int r = iso_read_file(AT_FDCWD, "/proc/sys/kernel/ftrace_enabled", 64, &value, NULL);

	if (r == 0 && value[0] != '1')
		r = -ENODATA;
	return r < 0 ? iso_error_set(e, r, STEP, "sysctl kernel.ftrace_enabled=1",
				     "kernel.ftrace_enabled is not 1: no BPF program enforces")
		     : 0;
}

static int lock(struct iso_kernel *k, const char *path, struct iso_error *e)
{
	ISO_AUTO_FREE char *listed = NULL;
	struct iso_command c = {.op = ISO_OP_CLOSE};
	int r = name_ours(k);

	if (r == 0)
		r = iso_kernel_install(k, &c);
	if (r < 0)
		return iso_error_set(e, r, STEP, NULL, "the guard cannot be closed: %m");
	r = trampolines_on(e);
	if (r < 0)
		return r;
	r = iso_found_list(path, &listed, e);
	if (r < 0)
		return r;
	r = renew(k);
	if (r < 0)
		return iso_error_set(e, r, STEP, NULL,
				     "cannot get the descriptors that stay anew: %m");
	r = scan(k);
	if (r < 0)
		return iso_error_set(e, r, STEP, NULL,
				     "cannot look through the loaded BPF programs: %m");
	if (names_unlisted(k, listed, e))
		return -EEXIST;
	return lock_patiently(k, e);
}

int iso_kernel_lock(struct iso_kernel *k, const char *listed, struct iso_error *e)
{
	int r = lock(k, listed ? listed : ISO_FOREIGN_PATH, e);

	if (r < 0)
		iso_kernel_release(k);
	return r;
}

int iso_kernel_release(struct iso_kernel *k)
{
	struct iso_command c = {.op = ISO_OP_RELEASE};

	return iso_kernel_install(k, &c);
}

static int figure(struct iso_kernel *k, uint32_t which, uint64_t *ret)
{
	struct iso_inquiry c = {.op = ISO_ASK_GUARD, .arg = which};
	int r = iso_kernel_ask(k, &c);

	if (r == 0)
		*ret = c.value;
	return r;
}

int iso_kernel_guard(struct iso_kernel *k, struct iso_guard_status *ret)
{
	struct iso_guard_status s = {.objects = k->objects,
				     .object_count = k->object_count,
				     .found = k->found,
				     .found_count = k->found_count};
	uint64_t state = 0;
	int r = figure(k, ISO_FIGURE_STATE, &state);

	if (r == 0)
		r = figure(k, ISO_FIGURE_SINCE, &s.since);
	if (r == 0)
		r = figure(k, ISO_FIGURE_REFUSED, &s.refused);
	if (r < 0)
		return r;
	s.state = (uint32_t)state;
	*ret = s;
	return 0;
}
