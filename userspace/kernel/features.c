/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "kernel/internal.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

/* The probes: 0 when present, else a negative errno. */

static int probe_btf(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) ? -errno : 0;
}

static int probe_lsm(void)
{
	ISO_AUTO_FREE char *list = NULL;
	int r = iso_read_file(AT_FDCWD, "/sys/kernel/security/lsm", 4096, &list, NULL);

	if (r)
		return r;
	for (char *save, *name = strtok_r(list, ",\n", &save); name;
	     name = strtok_r(NULL, ",\n", &save))
		if (!strcmp(name, "bpf"))
			return 0;
	return -ENOENT;
}

/* `return 0` as lsm/file_open: the smallest program of the type that everything here needs. */
static int probe_load_lsm(void)
{
	const struct bpf_insn body[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_LSM_MAC);
	struct btf *btf = btf__load_vmlinux_btf();
	int id, fd;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, "bpf_lsm_file_open", BTF_KIND_FUNC);
	btf__free(btf);
	if (id < 0)
		return id;
	options.attach_btf_id = (__u32)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_LSM, "iso_probe", "GPL", body, 2, &options);
	if (fd == -EPERM && iso_guard_of_another())
		return 0; /* of an agent that lives: it could be done, and now is refused to others
			   */
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int probe_ftrace(void)
{
	ISO_AUTO_FREE char *value = NULL;
	int r = iso_read_file(AT_FDCWD, "/proc/sys/kernel/ftrace_enabled", 64, &value, NULL);

	if (r)
		return r;
	return value[0] == '1' ? 0 : -ENODATA;
}

static int probe_cgroup2(void)
{
	static const char *const needed[] = {"memory", "pids", "cpu"};
	ISO_AUTO_FREE char *list = NULL;
	struct statfs fs;
	int r;

	if (statfs(CGROUP_ROOT, &fs))
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return -ENODEV;
	r = iso_read_file(AT_FDCWD, CGROUP_ROOT "/cgroup.controllers", 4096, &list, NULL);
	if (r)
		return r;
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		const char *at = strstr(list, needed[i]);
		size_t n = strlen(needed[i]);

		/* "cpu" is also the beginning of "cpuset" */
		while (at && at[n] != ' ' && at[n] != '\n' && at[n] != '\0')
			at = strstr(at + 1, needed[i]);
		if (!at)
			return -ENOENT;
	}
	return 0;
}

static int probe_cgroup_kill(void)
{
	ISO_AUTO_FREE char *release = NULL;
	int r = iso_read_file(AT_FDCWD, "/proc/sys/kernel/osrelease", 256, &release, NULL);
	long major, minor;
	char *end;

	if (r)
		return r;
	major = strtol(release, &end, 10);
	minor = *end == '.' ? strtol(end + 1, NULL, 10) : -1;
	if (minor < 0)
		return -EINVAL;
	return major > 5 || (major == 5 && minor >= 14) ? 0 : -ENOSYS;
}

static int probe_userns(void)
{
	ISO_AUTO_FREE char *value = NULL;
	int r = iso_read_file(AT_FDCWD, "/proc/sys/user/max_user_namespaces", 64, &value, NULL);

	if (r)
		return r;
	return strcmp(value, "0\n") ? 0 : -ENOSPC;
}

/* The iterator that looks through the loaded programs. */
static int probe_scan(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, "bpf_iter_bpf_prog", BTF_KIND_FUNC);
	btf__free(btf);
	return id < 0 ? id : 0;
}

static int probe_mount_api(void)
{
	int fd = (int)syscall(SYS_open_tree, -EBADF, "", 0);

	if (fd >= 0)
		close(fd);
	if (fd < 0 && errno == ENOSYS)
		return -ENOSYS;
	if (syscall(SYS_mount_setattr, -EBADF, "", 0, NULL, 0) && errno == ENOSYS)
		return -ENOSYS;
	return 0;
}

static int probe_seccomp(void)
{
	__u32 action = SECCOMP_RET_USER_NOTIF;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) ? -errno : 0;
}

static int probe_memfd(void)
{
	ISO_AUTO_CLOSE int fd = memfd_create("iso-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_WRITE) ? -errno : 0;
}

#define ROWS_MAX 160

static struct iso_feature rows[ROWS_MAX];
static size_t row_count;

static void add(const char *name, const char *sentence, const char *remedy, bool required, int r)
{
	if (row_count == ROWS_MAX)
		return;
	rows[row_count++] = (struct iso_feature){
		.name = name,
		.sentence = sentence,
		.remedy = remedy,
		.required = required,
		.present = r == 0,
		.error = r,
	};
}

/* LSM hooks are seen in BTF as bpf_lsm_<name>; the reporting probes hang on VFS functions. */
static int probe_hook(struct btf *btf, const char *name)
{
	static const char *const functions[][2] = {
		{"absent", "do_filp_open"},
		{"absent", "do_file_open"}, /* its name from 7.0 on */
		{"read_only", "mnt_want_write"},
		{"sysctl", "__cgroup_bpf_run_filter_sysctl"}, /* CONFIG_CGROUP_BPF */
	};
	char symbol[64];
	int found;

	if (!btf)
		return -ENOENT;
	snprintf(symbol, sizeof symbol, "bpf_lsm_%s", name);
	found = btf__find_by_name_kind(btf, symbol, BTF_KIND_FUNC);
	for (size_t i = 0; i < sizeof functions / sizeof *functions && found <= 0; i++)
		if (!strcmp(functions[i][0], name))
			found = btf__find_by_name_kind(btf, functions[i][1], BTF_KIND_FUNC);
	return found > 0 ? 0 : -ENOENT;
}

static void probe_all(void)
{
	const char *newer = "decided by an older hook or by seccomp on this kernel";
	struct btf *btf;

#define ISO_FEATURE(name, required, probe, sentence, remedy) \
	add(name, sentence, remedy, required, probe());
#include "kernel/features.def"
#undef ISO_FEATURE
	btf = btf__load_vmlinux_btf();
#define ALL(hook, operation)                                                                \
	add("hook-" #hook, operation, "boot Linux 6.1 or newer, built with the hook", true, \
	    probe_hook(btf, #hook));
#define NEWER(hook, operation) add("hook-" #hook, operation, newer, false, probe_hook(btf, #hook));
#define NONE(hook, operation)
#define ISO_HOOK(number, hook, category, presence, operation) presence(hook, operation)
#include "iso_hooks.def"
#undef ISO_HOOK
#undef ALL
#undef NEWER
#undef NONE
	btf__free(btf);
}

const struct iso_feature *iso_features(size_t *ret_count)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, probe_all);
	*ret_count = row_count;
	return rows;
}
