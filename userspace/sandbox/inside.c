/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first process of a sandbox, from clone3 to the exec of isoinit. A fork of one thread of isod:
 * it allocates nothing, takes no lock, and ends at the first thing that is not as it should be,
 * saying which. Until isod has seen its label in the kernel it does nothing at all.
 */
#include "sandbox/internal.h"

#include <grp.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "sandbox/raw.h"

struct inside {
	const struct iso_inside *in;
	int proc;
	int null;
};

static void fail(const struct inside *s, enum iso_step step, int error, const char *text)
	__attribute__((noreturn));

static void fail(const struct inside *s, enum iso_step step, int error, const char *text)
{
	struct iso_wire w = {
		.magic = ISO_WIRE_MAGIC,
		.kind = ISO_WIRE_FAILED,
		.value = error,
		.step = step,
	};

	memcpy(w.text, text, strnlen(text, sizeof w.text - 1));
	send(s->in->control, &w, sizeof w, MSG_NOSIGNAL);
	_exit(70);
}

static void begin(const struct inside *s, enum iso_step step)
{
	if (s->in->fault == step)
		fail(s, step, EIO, "fault injected");
}

/* isod has seen the label in the kernel and written the id maps when it says GO. */
static void wait_for_ids(const struct inside *s)
{
	struct iso_wire w;
	ssize_t n;

	do
		n = recv(s->in->control, &w, sizeof w, 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof w || w.magic != ISO_WIRE_MAGIC || w.kind != ISO_WIRE_GO)
		_exit(70);
}

static void enter_namespaces(const struct inside *s)
{
	begin(s, ISO_STEP_NAMESPACE);
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		fail(s, ISO_STEP_NAMESPACE, errno, "the ids of the slot");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		fail(s, ISO_STEP_NAMESPACE, errno, "dumpable");
	umask(0);
	/* not in clone3: there it would show isod's cgroup as the root, not the sandbox's */
	if (unshare(CLONE_NEWCGROUP) < 0)
		fail(s, ISO_STEP_NAMESPACE, errno, "cgroup namespace");
	if (sethostname(s->in->hostname, strlen(s->in->hostname)) < 0 || setdomainname("", 0) < 0)
		fail(s, ISO_STEP_NAMESPACE, errno, "host name");
}

static void raise_loopback(const struct inside *s)
{
	struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd;

	begin(s, ISO_STEP_LOOPBACK);
	if (!s->in->loopback)
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &r) < 0)
		fail(s, ISO_STEP_LOOPBACK, errno, "the loopback interface");
	close(fd);
}

/*
 * Before the host's /proc is out of sight: the kernel mounts one in a user namespace only beside a
 * whole one. Its group is inside gid 0: isoinit sees all processes, the task its own.
 */
static void make_proc(struct inside *s)
{
	int fs;

	begin(s, ISO_STEP_PROC);
	fs = fsopen("proc", FSOPEN_CLOEXEC);
	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "hidepid", "invisible", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "gid", "0", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		fail(s, ISO_STEP_PROC, errno, "/proc");
	s->proc = fsmount(fs, FSMOUNT_CLOEXEC,
			  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (s->proc < 0)
		fail(s, ISO_STEP_PROC, errno, "/proc (is something mounted over the host's?)");
	close(fs);
}

/* The new root is put over the old one, takes its place, and the old one goes. */
static void change_root(const struct inside *s)
{
	int old;

	begin(s, ISO_STEP_PIVOT);
	old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (old < 0 || iso_attach(s->in->root_mount, old) < 0 || fchdir(s->in->root_mount) < 0)
		fail(s, ISO_STEP_PIVOT, errno, "the new root");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		fail(s, ISO_STEP_PIVOT, errno, "pivot_root (isod's root must be a mount point)");
	if (fchdir(old) < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		fail(s, ISO_STEP_PIVOT, errno, "the old root");
	close(old);
}

static int open_inside(const struct inside *s, const char *path, bool follow)
{
	return iso_openat2(
		s->in->root_mount, path[1] ? path + 1 : ".", O_PATH | (follow ? 0 : O_NOFOLLOW), 0,
		RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (follow ? 0 : RESOLVE_NO_SYMLINKS));
}

static void attach(const struct inside *s, int fd, const char *path)
{
	int r, target;

	begin(s, ISO_STEP_MOUNT);
	target = open_inside(s, path, false);
	r = target < 0 ? target : iso_attach(fd, target);
	if (r < 0)
		fail(s, ISO_STEP_MOUNT, -r, path);
	close(target);
}

/* A copy of what `from` is on, put over `target`. */
static int cover(int from, int target, uint64_t attributes)
{
	int r, fd = iso_clone_mount(from, true);

	if (fd < 0)
		return fd;
	r = attributes ? iso_mount_attr(fd, AT_RECURSIVE, attributes, 0, 0) : 0;
	if (r == 0)
		r = iso_attach(fd, target);
	close(fd);
	return r;
}

static bool is_missing(int r)
{
	return r == -ENOENT || r == -ENOTDIR;
}

static void mask(const struct inside *s, const char *path)
{
	int from, r, target = open_inside(s, path, false);
	struct stat st;

	begin(s, ISO_STEP_MASK);
	if (is_missing(target))
		return;
	if (target < 0 || fstat(target, &st) < 0)
		fail(s, ISO_STEP_MASK, target < 0 ? -target : errno, path);
	from = open_inside(s, S_ISDIR(st.st_mode) ? "/" ISO_MASK_DIR : "/" ISO_MASK_FILE, false);
	r = from < 0 ? from : cover(from, target, MOUNT_ATTR_RDONLY);
	if (r < 0)
		fail(s, ISO_STEP_MASK, -r, path);
	close(from);
	close(target);
}

static void onto_itself(const struct inside *s, const struct iso_op *op, enum iso_step step,
			uint64_t attributes)
{
	int r, fd = open_inside(s, op->path, op->follow);
	struct stat st;

	begin(s, step);
	if (is_missing(fd) && op->may_be_missing)
		return;
	/* isod looks again, and says it better: the rule's own step comes next */
	if (fd == -ELOOP)
		return;
	if (fd < 0 || fstat(fd, &st) < 0)
		fail(s, step, fd < 0 ? -fd : errno, op->path);
	/* a link cannot be written to, and no mount can cover it */
	r = S_ISLNK(st.st_mode) ? 0 : cover(fd, fd, attributes);
	if (r < 0)
		fail(s, step, -r, op->path);
	close(fd);
}

static void run_ops(const struct inside *s)
{
	for (size_t i = 0; i < s->in->op_count; i++) {
		const struct iso_op *op = &s->in->ops[i];

		switch (op->kind) {
		case ISO_MOUNT_ATTACH:
			attach(s, op->fd, op->path);
			break;
		case ISO_MOUNT_PROC:
			attach(s, s->proc, op->path);
			break;
		case ISO_MOUNT_MASK:
			mask(s, op->path);
			break;
		case ISO_MOUNT_RDONLY:
			onto_itself(s, op, ISO_STEP_MASK, MOUNT_ATTR_RDONLY);
			break;
		case ISO_MOUNT_PIN:
			onto_itself(s, op, ISO_STEP_PIN, 0);
			break;
		case ISO_MOUNT_PROTECT:
			onto_itself(s, op, ISO_STEP_PROTECT, MOUNT_ATTR_RDONLY);
			break;
		}
	}
}

static void close_root(const struct inside *s)
{
	int r;

	begin(s, ISO_STEP_READONLY_ROOT);
	if (unlinkat(s->in->root_mount, ISO_MASK_FILE, 0) < 0 ||
	    unlinkat(s->in->root_mount, ISO_MASK_DIR, AT_REMOVEDIR) < 0)
		fail(s, ISO_STEP_READONLY_ROOT, errno, "the covers of /proc");
	r = iso_mount_attr(s->in->root_mount, 0, MOUNT_ATTR_RDONLY, 0, 0);
	if (r < 0)
		fail(s, ISO_STEP_READONLY_ROOT, -r, "/");
}

static void open_null(struct inside *s)
{
	begin(s, ISO_STEP_STDIO);
	s->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (s->null < 0)
		fail(s, ISO_STEP_STDIO, errno, "/dev/null");
}

static void place(const struct inside *s, int fd, int target)
{
	if (dup2(fd, target) < 0)
		fail(s, ISO_STEP_DESCRIPTORS, errno, "descriptors");
}

/* Out of the way of every number that isoinit is promised. */
static int lift(const struct inside *s, int fd)
{
	int r = fcntl(fd, F_DUPFD_CLOEXEC, ISO_INIT_FD_LINKS + (int)s->in->link_count + 8);

	if (r < 0)
		fail(s, ISO_STEP_DESCRIPTORS, errno, "descriptors");
	return r;
}

static int arrange_descriptors(struct inside *s, struct iso_inside *moved)
{
	const struct iso_inside *in = s->in;
	int last = ISO_INIT_FD_LINKS + (int)in->link_count, isoinit, stdio[3];

	begin(s, ISO_STEP_DESCRIPTORS);
	*moved = *in;
	moved->control = lift(s, in->control);
	s->in = moved;
	moved->plan_fd = lift(s, in->plan_fd);
	moved->slot_fd = lift(s, in->slot_fd);
	isoinit = lift(s, in->isoinit_fd);
	for (int k = 0; k < 3; k++)
		stdio[k] = lift(s, in->stdio[k] >= 0 ? in->stdio[k] : s->null);
	/* all up before any goes down: a link's own number may be another's place */
	for (size_t k = 0; k < in->link_count; k++)
		in->links[k] = lift(s, in->links[k]);
	for (size_t k = 0; k < in->link_count; k++)
		place(s, in->links[k], ISO_INIT_FD_LINKS + (int)k);
	for (int k = 0; k < 3; k++)
		place(s, stdio[k], k);
	place(s, moved->plan_fd, ISO_INIT_FD_PLAN);
	place(s, moved->slot_fd, ISO_INIT_FD_SLOT);
	place(s, moved->control, ISO_INIT_FD_CONTROL);
	moved->control = ISO_INIT_FD_CONTROL;
	if (dup3(isoinit, last, O_CLOEXEC) < 0 || close_range((unsigned)last + 1, ~0u, 0) < 0)
		fail(s, ISO_STEP_DESCRIPTORS, errno, "descriptors");
	return last;
}

static void send_root(const struct inside *s)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), r;

	if (root < 0)
		fail(s, ISO_STEP_DESCRIPTORS, errno, "/");
	r = iso_wire_send_fd(s->in->control, ISO_WIRE_ROOT, root, 0);
	if (r < 0)
		fail(s, ISO_STEP_DESCRIPTORS, -r, "the root's descriptor");
	close(root);
}

void iso_inside_run(const struct iso_inside *in)
{
	static char name[] = "isoinit";
	char *const argv[] = {name, NULL}, *const environment[] = {NULL};
	struct inside s = {.in = in, .proc = -1, .null = -1};
	struct iso_inside moved;
	int isoinit;

	wait_for_ids(&s);
	enter_namespaces(&s);
	raise_loopback(&s);
	begin(&s, ISO_STEP_PRIVATE);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		fail(&s, ISO_STEP_PRIVATE, errno, "/");
	make_proc(&s);
	change_root(&s);
	run_ops(&s);
	close_root(&s);
	open_null(&s);
	isoinit = arrange_descriptors(&s, &moved);
	send_root(&s);
	begin(&s, ISO_STEP_EXEC);
	syscall(SYS_execveat, isoinit, "", argv, environment, AT_EMPTY_PATH);
	fail(&s, ISO_STEP_EXEC, errno, "isoinit");
}
