/* SPDX-License-Identifier: BSD-2-Clause */
/* What an agent holds before it serves: folders, the host's lock, isoinit, the kernel side,
 * sockets. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "common/log.h"
#include "isod/daemon.h"
#include "manifest/ceiling.h"
#include "run/interfaces.h"

/* The one before is detaching its programs: a service waits for that, a caller's own isod is asked
 * again by its caller. */
#define LOCK_PATIENCE_MS    30000
#define PRIVATE_PATIENCE_MS 2000

/* ------------------------------------------------------------------------------ folders */

static int open_directory(const char *path, mode_t mode, int *ret, struct iso_error *e)
{
	ISO_AUTO_CLOSE int fd = -1;
	struct stat st;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return iso_error_set(e, -errno, "folder", "make its parent folder",
				     "cannot make %s: %m", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return iso_error_set(e, -errno, "folder", NULL, "cannot open %s: %m", path);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return iso_error_set(e, -EPERM, "folder", "chown root, chmod go-w",
				     "%s can be changed by others than root", path);
	/* Callers must reach the socket, whatever the mask was when the folder was made. */
	if (fchmod(fd, mode) < 0)
		return iso_error_set(e, -errno, "folder", NULL, "cannot set the mode of %s: %m",
				     path);
	*ret = iso_take_fd(&fd);
	return 0;
}

/*
 * One agent a host: the kernel side says so too, later and less clearly. A private isod that is
 * about to end holds the lock for a moment longer.
 */
static int take_host(struct iso_daemon *d, int patience_ms, struct iso_error *e)
{
	d->lock_fd =
		openat(d->run_fd, "agent.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock_fd < 0)
		return iso_error_set(e, -errno, "lock", NULL, "cannot open agent.lock: %m");
	for (int ms = 0; flock(d->lock_fd, LOCK_EX | LOCK_NB) < 0; ms += 20) {
		if (errno != EWOULDBLOCK)
			return iso_error_set(e, -errno, "lock", NULL, "cannot lock: %m");
		if (ms >= patience_ms)
			return iso_error_set(e, -EBUSY, "lock", "use its socket, or end it",
					     "another isod holds this host");
		usleep(20 * 1000);
	}
	return 0;
}

static void read_machine_id(struct iso_daemon *d)
{
	ISO_AUTO_FREE char *text = NULL;

	if (iso_read_file(AT_FDCWD, "/etc/machine-id", 4096, &text, NULL) == 0)
		snprintf(d->machine_id, sizeof d->machine_id, "%.32s", text);
	d->machine_id[strspn(d->machine_id, "0123456789abcdef")] = '\0';
}

static int parse_interfaces(struct iso_daemon *d, struct iso_error *e)
{
	unsigned line = 0;
	int r = iso_idl_parse(iso_interface_agent, &d->agent, &line);

	if (r == 0)
		r = iso_idl_parse(iso_interface_service, &d->service, &line);
	if (r < 0)
		return iso_error_set(e, r, "interface", NULL, "line %u of an interface: %m", line);
	return 0;
}

static void raise_limits(void)
{
	struct rlimit files;

	/* Every run holds some ten descriptors, every connection up to 253 for a moment. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* systemd sets it for the service; this is for an isod that runs by itself. */
	if (iso_write_file(AT_FDCWD, "/proc/self/oom_score_adj", "-1000") < 0)
		iso_log_warning("cannot protect isod from the out-of-memory killer");
}

static int open_kernel(struct iso_daemon *d, const struct iso_daemon_options *o)
{
	struct iso_stream_options events = {.directory = o->log_directory};
	struct iso_error e = {0};
	int r = iso_isoinit_open(&d->host.isoinit_fd, &e);

	if (r == 0)
		r = iso_stream_new(&events, &d->host.events, &e);
	if (r < 0) {
		iso_failure_wrap(&d->refusal, ISO_CLASS_SETUP, &e);
		return r;
	}
	r = iso_kernel_open(&d->host.kernel, &e);
	if (r == 0) {
		r = iso_daemon_guard(d, &e);
		if (r < 0)
			iso_kernel_close(d->host.kernel);
	}
	if (r < 0) {
		d->host.kernel = NULL;
		iso_failure_wrap(&d->refusal, r == -EBUSY ? ISO_CLASS_BUSY : ISO_CLASS_HOST, &e);
	}
	return r;
}

/*
 * An isod that cannot enforce anything here still tells its callers so when somebody else made its
 * socket: the error has to reach the one who asks, not only the journal.
 */
int iso_daemon_prepare(struct iso_daemon *d, const struct iso_daemon_options *o,
		       struct iso_error *e)
{
	struct group *group = getgrnam("isoctl");
	int r;

	*d = (struct iso_daemon){.loop.epoll = -1,
				 .host.isoinit_fd = -1,
				 .run_fd = -1,
				 .state_fd = -1,
				 .signal_fd = -1,
				 .lock_fd = -1,
				 .ceiling_path = o->ceiling ? o->ceiling : ISO_CEILING_PATH,
				 .member_gid = group ? (long)group->gr_gid : -1};
	umask(0077);
	uname(&d->uname);
	read_machine_id(d);
	raise_limits();
	d->host.hostname = d->uname.nodename;
	d->host.kernel_release = d->uname.release;
	d->host.machine_id = d->machine_id;
	d->host.drain = iso_daemon_drain;
	d->host.changed = iso_daemon_changed;
	d->host.context = d;
	d->host.loop = &d->loop;
	d->host.workers = &d->workers;
	r = parse_interfaces(d, e);
	if (r == 0)
		r = open_directory(o->run_directory, 0755, &d->run_fd, e);
	if (r == 0)
		r = open_directory(o->state_directory, 0700, &d->state_fd, e);
	if (r == 0)
		r = take_host(d, o->private_fd >= 0 ? PRIVATE_PATIENCE_MS : LOCK_PATIENCE_MS, e);
	if (r < 0)
		return r;
	r = iso_loop_open(&d->loop);
	if (r == 0)
		r = iso_workers_open(&d->workers, &d->loop);
	if (r < 0)
		return iso_error_set(e, r, "loop", NULL, "cannot make the event loop: %m");
	open_kernel(d, o);
	return 0;
}

/* ------------------------------------------------------------------------------ sockets */

static void accept_ready(struct iso_source *source, uint32_t events)
{
	struct iso_listener *l = (struct iso_listener *)source;

	(void)events;
	for (int i = 0; i < 16; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		iso_connection_new(l->daemon, fd, false);
	}
}

int iso_daemon_listen(struct iso_daemon *d, int fd)
{
	struct iso_listener *l = &d->listeners[d->listener_count];
	int flags = fcntl(fd, F_GETFL), r;

	if (d->listener_count == ISO_LISTENERS_MAX)
		return -E2BIG;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	*l = (struct iso_listener){.source.ready = accept_ready, .daemon = d, .fd = fd};
	r = iso_loop_add(&d->loop, fd, EPOLLIN, &l->source);
	if (r == 0)
		d->listener_count++;
	return r;
}

/* Somebody who answers keeps the name; what a dead one left behind is replaced. */
static int claim_name(const struct sockaddr_un *address)
{
	ISO_AUTO_CLOSE int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (probe < 0)
		return -errno;
	if (connect(probe, (const struct sockaddr *)address, sizeof *address) == 0)
		return -EADDRINUSE;
	if (errno == ECONNREFUSED && unlink(address->sun_path) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int iso_daemon_bind(struct iso_daemon *d, const char *path, struct iso_error *e)
{
	ISO_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof address.sun_path)
		return iso_error_set(e, -ENAMETOOLONG, "socket", NULL, "%s: name too long", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	r = fd < 0 ? -errno : claim_name(&address);
	if (r == 0) {
		mask = umask(0177);
		if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
			r = -errno;
		umask(mask);
	}
	if (r == 0 && d->member_gid >= 0 &&
	    (chown(path, 0, (gid_t)d->member_gid) < 0 || chmod(path, 0660) < 0))
		r = -errno;
	if (r == 0 && listen(fd, 128) < 0)
		r = -errno;
	if (r == 0)
		r = iso_daemon_listen(d, fd);
	if (r < 0)
		return iso_error_set(e, r, "socket", NULL, "cannot listen on %s: %m", path);
	iso_take_fd(&fd);
	memcpy(d->socket_path, path, strlen(path) + 1);
	return 0;
}
