/* SPDX-License-Identifier: BSD-2-Clause */
/* open -> choose variants -> load -> freeze -> attach -> claim, one way back. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "kernel/internal.h"
#include "kernel/kernel.h"

#define DOCTOR "run: isoctl doctor"

#define GUARD_PAUSE_NS 100000000L
#define GUARD_PAUSES   300 /* 30 s */

/* The verifier's log comes as one text of many lines. */
static int say(enum libbpf_print_level level, const char *format, va_list args)
{
	ISO_AUTO_FREE char *text = NULL;

	if (level != LIBBPF_WARN || vasprintf(&text, format, args) < 0)
		return 0;
	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		iso_log_debug("libbpf: %s", line);
	return 0;
}

/* The first required row that is missing, or NULL. */
static const struct iso_feature *first_missing(void)
{
	size_t count;
	const struct iso_feature *rows = iso_features(&count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].required && !rows[i].present)
			return &rows[i];
	return NULL;
}

static bool has_hook(const struct btf *btf, const char *name)
{
	char symbol[64];

	snprintf(symbol, sizeof symbol, "bpf_lsm_%s", name);
	return btf__find_by_name_kind(btf, symbol, BTF_KIND_FUNC) > 0;
}

/* Number of arguments of a hook on this kernel, or -1. */
static int hook_arguments(const struct btf *btf, const char *name)
{
	const struct btf_type *t;
	char symbol[64];
	int id;

	snprintf(symbol, sizeof symbol, "bpf_lsm_%s", name);
	id = btf__find_by_name_kind(btf, symbol, BTF_KIND_FUNC);
	if (id <= 0)
		return -1;
	t = btf__type_by_id(btf, (__u32)id);
	t = t ? btf__type_by_id(btf, t->type) : NULL;
	return t ? btf_vlen(t) : -1;
}

/* A function that was renamed: `now` hangs on the new name, `before` on the old one. */
static void choose_by_name(const struct btf *btf, const char *name, struct bpf_program *now,
			   struct bpf_program *before)
{
	bool renamed = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;

	bpf_program__set_autoload(now, renamed);
	bpf_program__set_autoload(before, !renamed);
}

/* What a kernel may be built without; install.c refuses sandboxes that need it. */
static bool choose_uring(struct iso_bpf *skeleton, const struct btf *btf)
{
	bool there = btf__find_by_name_kind(btf, "io_issue_sqe", BTF_KIND_FUNC) > 0;

	bpf_program__set_autoload(skeleton->progs.iso_ring_begins, there);
	bpf_program__set_autoload(skeleton->progs.iso_ring_ends, there);
	return there;
}

/* Hooks that not every kernel has, and those whose arguments changed (iso_compat.bpf.h). */
static void choose(struct iso_bpf *skeleton, const struct btf *btf)
{
	struct bpf_program *program;
	bool idmap = hook_arguments(btf, "inode_setattr") == 3;

	bpf_object__for_each_program (program, skeleton->obj) {
		const char *section = bpf_program__section_name(program);
		const char *slash = strchr(section, '/');

		if (slash && (!strncmp(section, "lsm", 3) || !strncmp(section, "?lsm", 4)))
			bpf_program__set_autoload(program, has_hook(btf, slash + 1));
	}
	bpf_program__set_autoattach(skeleton->progs.iso_scan, false); /* guard.c: for each lock */
	bpf_program__set_autoload(skeleton->progs.iso_inode_setattr, idmap);
	bpf_program__set_autoload(skeleton->progs.iso_setattr_61, !idmap);
	choose_by_name(btf, "do_file_open", skeleton->progs.iso_absent_72,
		       skeleton->progs.iso_absent);
	choose_by_name(btf, "mnt_get_write_access", skeleton->progs.iso_write_access,
		       skeleton->progs.iso_write_access_61);
}

/* The ring stays writable: its consumer writes the position it has read to. */
static int freeze(struct iso_bpf *skeleton, struct iso_error *e)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, skeleton->obj) {
		if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF ||
		    strstr(bpf_map__name(map), ".rodata"))
			continue;
		if (bpf_map_freeze(bpf_map__fd(map)))
			return iso_error_set(e, -errno, "kernel", DOCTOR,
					     "cannot freeze the BPF map %s: %m",
					     bpf_map__name(map));
	}
	return 0;
}

static int collect_links(struct iso_kernel *k)
{
	size_t count = sizeof k->skeleton->links / sizeof(struct bpf_link *);
	struct bpf_link **links = (struct bpf_link **)(void *)&k->skeleton->links;

	k->link_fds = calloc(count, sizeof *k->link_fds);
	if (!k->link_fds)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (links[i])
			k->link_fds[k->link_count++] = bpf_link__fd(links[i]);
	return 0;
}

static int load(struct iso_kernel *k, struct iso_error *e)
{
	struct btf *btf;
	int r;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(say);
	k->skeleton = iso_bpf__open();
	if (!k->skeleton)
		return iso_error_set(e, -errno, "kernel", DOCTOR, "cannot open the BPF object: %m");
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return iso_error_set(e, -errno, "kernel", DOCTOR,
				     "cannot read the kernel's BTF: %m");
	choose(k->skeleton, btf);
	k->uring = choose_uring(k->skeleton, btf);
	btf__free(btf);
	r = iso_bpf__load(k->skeleton);
	if (r)
		return iso_error_set(e, r, "kernel",
				     "run isod with --verbose for the verifier's words",
				     "the kernel refuses the BPF object: %m");
	r = freeze(k->skeleton, e);
	if (r)
		return r;
	r = iso_bpf__attach(k->skeleton);
	if (r)
		return iso_error_set(e, r, "kernel", DOCTOR, "cannot attach the BPF programs: %m");
	r = iso_guard_attach(k, e);
	return r < 0 ? r : collect_links(k);
}

/*
 * An agent that died leaves its guard behind, in force as long as an isoinit holds it: it refuses
 * what decides, ours too. Those sandboxes are ending, as their agent is gone.
 */
static int wait_for_guard(struct iso_error *e)
{
	const struct timespec pause = {.tv_nsec = GUARD_PAUSE_NS};

	for (int i = 0; iso_guard_of_another(); i++) {
		if (i == GUARD_PAUSES)
			return iso_error_set(e, -EBUSY, "guard", "wait, or end what runs in them",
					     "sandboxes of an agent that died are still ending");
		nanosleep(&pause, NULL);
	}
	return 0;
}

int iso_kernel_open(struct iso_kernel **ret, struct iso_error *e)
{
	const struct iso_feature *missing;
	struct iso_kernel *k;
	int r = wait_for_guard(e);

	if (r < 0)
		return r;
	missing = first_missing();
	if (missing)
		return iso_error_set(e, -EOPNOTSUPP, "features", missing->remedy,
				     "this host lacks %s (%s)", missing->name, missing->sentence);
	k = calloc(1, sizeof *k);
	if (!k)
		return -ENOMEM;
	r = load(k, e);
	if (!r) {
		r = iso_kernel_claim(k);
		if (r)
			iso_error_set(e, r, "kernel", "only one isod can be the agent",
				      "cannot become the agent: %m");
	}
	if (r) {
		iso_kernel_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

void iso_kernel_close(struct iso_kernel *k)
{
	if (!k)
		return;
	ring_buffer__free(k->ring);
	iso_bpf__destroy(k->skeleton);
	free(k->link_fds);
	free(k->objects);
	free(k->found);
	free(k);
}
