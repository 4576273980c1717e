/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where sandboxes' cgroups go. A cgroup that systemd delegated to isod (Delegate=yes) is used as
 * it is meant to be: isod moves itself into a child, so that the controllers can be enabled for the
 * sandboxes beside it. Without one, /sys/fs/cgroup/isoctl.slice is made.
 */
#include "sandbox/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <linux/magic.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "sandbox/raw.h"

#define CGROUP_MOUNT "/sys/fs/cgroup"
#define SLICE	     "isoctl.slice"
#define AGENT	     "agent"

static const char *const controllers[] = {"memory", "pids", "cpu"};

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		if ((p == text || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\n' || !p[n]))
			return true;
	return false;
}

/* Makes the controllers available to the children of this directory. */
static int enable_controllers(int fd, const char *what, struct iso_error *e)
{
	ISO_AUTO_FREE char *have = NULL, *on = NULL;
	int r = iso_read_file(fd, "cgroup.controllers", 4096, &have, NULL);

	if (r == 0)
		r = iso_read_file(fd, "cgroup.subtree_control", 4096, &on, NULL);
	if (r < 0 || !have || !on)
		return iso_error_set(e, r, "cgroup", NULL, "cannot read the controllers of %s: %m",
				     what);
	for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++) {
		char text[16];

		if (!has_word(have, controllers[i]))
			return iso_error_set(e, -EOPNOTSUPP, "cgroup",
					     "boot with cgroup v2 alone: "
					     "systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all",
					     "the cgroup v2 controller %s is not available in %s",
					     controllers[i], what);
		if (has_word(on, controllers[i]))
			continue;
		snprintf(text, sizeof text, "+%s", controllers[i]);
		r = iso_write_file(fd, "cgroup.subtree_control", text);
		if (r < 0)
			return iso_error_set(
				e, r, "cgroup",
				"run isod in a delegated cgroup of its own (Delegate=yes)",
				"cannot enable the controller %s in %s: %m", controllers[i], what);
	}
	return 0;
}

/* Delegated to root, that is: what a user was given, that user could still change. */
static bool is_delegated(int fd)
{
	char value[8];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0 || st.st_uid != 0 || st.st_mode & 022)
		return false;
	n = fgetxattr(fd, "user.delegate", value, sizeof value);
	if (n < 0)
		n = fgetxattr(fd, "trusted.delegate", value, sizeof value);
	return n == 1 && value[0] == '1';
}

/* isod's own cgroup v2, relative to the mount; "" for the root. */
static int own_path(char *out, size_t size)
{
	ISO_AUTO_FREE char *text = NULL;
	const char *line;
	int r = iso_read_file(AT_FDCWD, "/proc/self/cgroup", 65536, &text, NULL);

	if (r < 0)
		return r;
	line = strncmp(text, "0::/", 4) ? strstr(text, "\n0::/") : text;
	if (!line)
		return -ENOENT;
	line = strchr(line, '/') + 1;
	r = snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
	return r < (int)size ? 0 : -ENAMETOOLONG;
}

/*
 * Opens the delegated cgroup that isod is in, or in a child of (DelegateSubgroup=, or our own
 * `agent` after a restart): *ret_inside says that it must move out of the way first. -ENOENT: none.
 */
static int open_delegated(int mount, char path[PATH_MAX], bool *ret_inside)
{
	int r = own_path(path, PATH_MAX);

	for (int level = 0; r == 0 && level < 2 && *path; level++) {
		char *slash = strrchr(path, '/');
		int fd = iso_openat2(mount, path, O_RDONLY | O_DIRECTORY, 0, ISO_RESOLVE_BENEATH);

		if (fd < 0)
			return fd;
		*ret_inside = level == 0;
		if (is_delegated(fd))
			return fd;
		close(fd);
		*(slash ? slash : path) = '\0';
	}
	return r < 0 ? r : -ENOENT;
}

static int make_dir(int parent, const char *name)
{
	int fd;

	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/*
 * What an isod that was killed has left: isoinit has ended its sandbox, and the directory stayed.
 * One that still lives refuses to go (EBUSY), and systemd's own units are not ours.
 */
static void sweep(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ISO_AUTO_CLOSEDIR DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    !strcmp(entry->d_name, AGENT) ||
		    (dot && (!strcmp(dot, ".service") || !strcmp(dot, ".slice") ||
			     !strcmp(dot, ".scope"))))
			continue;
		unlinkat(fd, entry->d_name, AT_REMOVEDIR);
	}
}

static int find_root(int *ret_fd, struct iso_error *e)
{
	ISO_AUTO_CLOSE int mount = open(CGROUP_MOUNT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ISO_AUTO_CLOSE int fd = -1;
	char path[PATH_MAX];
	bool inside = false;
	struct statfs s;
	int r;

	if (mount < 0 || fstatfs(mount, &s) < 0 || s.f_type != CGROUP2_SUPER_MAGIC)
		return iso_error_set(e, -EOPNOTSUPP, "cgroup",
				     "boot with cgroup v2 alone: "
				     "systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all",
				     CGROUP_MOUNT " is not a cgroup v2 hierarchy");
	fd = open_delegated(mount, path, &inside);
	if (fd >= 0) {
		ISO_AUTO_CLOSE int agent = inside ? make_dir(fd, AGENT) : -1;

		r = !inside ? 0 : agent < 0 ? agent : iso_write_file(agent, "cgroup.procs", "0");
		if (r < 0)
			return iso_error_set(e, r, "cgroup", NULL,
					     "cannot move into " CGROUP_MOUNT "/%s/" AGENT ": %m",
					     path);
	} else if (fd != -ENOENT) {
		return iso_error_set(e, fd, "cgroup", NULL, "cannot open isod's own cgroup: %m");
	} else {
		r = enable_controllers(mount, CGROUP_MOUNT, e);
		if (r < 0)
			return r;
		snprintf(path, sizeof path, SLICE);
		fd = make_dir(mount, SLICE);
		if (fd < 0)
			return iso_error_set(e, fd, "cgroup", NULL, "cannot make %s: %m", path);
	}
	r = enable_controllers(fd, path, e);
	if (r < 0)
		return r;
	sweep(fd);
	*ret_fd = iso_take_fd(&fd);
	return 0;
}

int iso_cgroup_root(const struct iso_sandbox_seams *seams, int *ret_fd, struct iso_error *e)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int root = -1; /* for the life of the process */
	int r = 0, fd;

	if (seams->cgroup_root) {
		fd = open(seams->cgroup_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return iso_error_set(e, -errno, "cgroup", NULL, "cannot open %s: %m",
					     seams->cgroup_root);
		if (!seams->no_limits)
			r = enable_controllers(fd, seams->cgroup_root, e);
		if (r < 0) {
			close(fd);
			return r;
		}
		*ret_fd = fd;
		return 0;
	}
	pthread_mutex_lock(&lock);
	if (root < 0)
		r = find_root(&root, e);
	fd = root;
	pthread_mutex_unlock(&lock);
	if (r < 0)
		return r;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return iso_error_set(e, -errno, "cgroup", NULL, "cannot keep the cgroup: %m");
	*ret_fd = fd;
	return 0;
}
