/* SPDX-License-Identifier: BSD-2-Clause */
#include "test_sandbox_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <linux/magic.h>

#define UNCONST(s) ((char *)(uintptr_t)(s))

static int open_isoinit(void)
{
	const char *build = getenv("ISO_BINARY_DIR");
	int in, out = memfd_create("isoinit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char path[512];
	struct stat st;

	assert_non_null(build);
	snprintf(path, sizeof path, "%s/bin/isoinit", build);
	in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0 || fstat(in, &st) < 0)
		fail_msg("cannot open %s", path);
	for (off_t left = st.st_size; left > 0;) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left);

		assert_true(n > 0);
		left -= n;
	}
	close(in);
	assert_int_equal(
		fcntl(out, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
		0);
	return out;
}

static void make_cgroup(struct fixture *f)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct statfs s;

	for (size_t i = 0; i < 2; i++) {
		if (statfs(roots[i], &s) < 0 || s.f_type != CGROUP2_SUPER_MAGIC)
			continue;
		snprintf(f->cgroup, sizeof f->cgroup, "%s/isoctl-test-%d", roots[i], (int)getpid());
		if (mkdir(f->cgroup, 0755) == 0 || errno == EEXIST)
			return;
	}
	fail_msg("no cgroup v2 hierarchy to make a cgroup in: this test needs root and one");
}

static void base_manifest(struct fixture *f)
{
	f->m.profile = ISO_PROFILE_BUILD;
	f->m.process.syscalls = ISO_SYSCALLS_STRICT;
	f->m.process.limits.memory = 256u << 20;
	f->m.process.limits.pids = 64;
	f->m.process.limits.files = 256;
	f->m.process.limits.cpus_milli = 1000;
	f->m.process.directory = UNCONST("/");
	f->m.process.home = UNCONST("/tmp");
	f->m.process.tmpdir = UNCONST("/tmp");
	f->m.process.hostname = UNCONST("task");
	f->m.process.umask = 022;
	f->m.limits.wall_ms = 60000;
	f->m.limits.stop_grace_ms = 200;
	f->m.limits.events_per_second = 200;
	f->scratch = (struct iso_scratch){.path = UNCONST("/tmp"), .size = 1 << 20, .inodes = 32};
	f->m.filesystem.scratch = &f->scratch;
	f->m.filesystem.scratch_count = 1;
}

struct iso_tree *fixture_tree(struct fixture *f, enum iso_tree_kind kind, const char *path)
{
	struct iso_tree *t = &f->trees[f->p.tree_count++];

	assert_true(f->p.tree_count < FIXTURE_TREES);
	*t = (struct iso_tree){.kind = kind, .path = path};
	return t;
}

struct iso_policy_rule *fixture_rule(struct fixture *f, enum iso_rule_kind kind, const char *path)
{
	struct iso_policy_rule *r = &f->rules[f->p.rule_count++];

	assert_true(f->p.rule_count < FIXTURE_RULES);
	*r = (struct iso_policy_rule){.kind = kind, .path = path, .pointer = "/test"};
	return r;
}

void fixture_host_tree(struct fixture *f, const char *path)
{
	size_t n = 0;
	struct stat st;

	while (f->host_fds[n] >= 0)
		n++;
	assert_int_equal(lstat(path, &st), 0);
	f->host_fds[n] =
		open(path, O_CLOEXEC | (S_ISLNK(st.st_mode) ? O_PATH | O_NOFOLLOW : O_RDONLY));
	assert_true(f->host_fds[n] >= 0);
	fixture_tree(f, ISO_TREE_HOST, path)->executable = true;
}

void fixture_input(struct fixture *f)
{
	struct iso_tree *t = fixture_tree(f, ISO_TREE_INPUT, "/work");

	t->writable = t->executable = true;
	f->input.source = f->source;
	f->input.target = UNCONST("/work");
	f->input.size = 4 << 20;
	f->input.inodes = 64;
	f->input.writable = true;
	f->m.filesystem.inputs = &f->input;
	f->m.filesystem.input_count = 1;
	f->input_fd = open(f->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->input_fd >= 0);
}

void fixture_source(struct fixture *f, const char *path, const char *text)
{
	char full[512];
	int fd;

	snprintf(full, sizeof full, "%s/%s", f->source, path);
	for (char *p = full + strlen(f->source) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

int fixture_setup(void **state)
{
	static char *const environment[] = {UNCONST("PATH=/usr/bin:/bin"), UNCONST("LANG=C"), NULL};
	static const char *const host[] = {"/usr", "/bin", "/lib", "/lib64"};
	static uint64_t next = 1;
	struct fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	if (getuid() != 0)
		fail_msg("this test needs root");
	for (size_t i = 0; i < FIXTURE_TREES; i++)
		f->host_fds[i] = -1;
	base_manifest(f);
	make_cgroup(f);
	f->isoinit = open_isoinit();
	f->input_fd = -1;
	assert_int_equal(pipe2(f->cancel, O_CLOEXEC), 0);
	snprintf(f->slots, sizeof f->slots, "/tmp/isoctl-test-slots-%d", (int)getpid());
	snprintf(f->source, sizeof f->source, "/tmp/isoctl-test-XXXXXX");
	assert_non_null(mkdtemp(f->source));
	assert_int_equal(chmod(f->source, 0755), 0);
	for (size_t i = 0; i < sizeof host / sizeof *host; i++)
		fixture_host_tree(f, host[i]);
	fixture_tree(f, ISO_TREE_ETC, "/etc");
	fixture_tree(f, ISO_TREE_PROC, "/proc");
	fixture_tree(f, ISO_TREE_DEV, "/dev");
	fixture_tree(f, ISO_TREE_SCRATCH, "/tmp")->writable = true;
	f->p.trees = f->trees;
	f->p.rules = f->rules;
	f->p.manifest = &f->m;
	snprintf(f->name, sizeof f->name, "run-%d-%u", (int)getpid(), (unsigned)next);
	f->seams = (struct iso_sandbox_seams){
		.cgroup_root = f->cgroup, .no_limits = true, .no_kernel = true, .slots = f->slots};
	f->q = (struct iso_sandbox_request){
		.manifest = &f->m,
		.policy = &f->p,
		.sandbox = next++,
		.name = f->name,
		.host_fds = f->host_fds,
		.input_fds = &f->input_fd,
		.environment = environment,
		.stdio = {-1, -1, -1},
		.isoinit_fd = f->isoinit,
		.cancel_fd = f->cancel[0],
	};
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *w)
{
	(void)st;
	(void)type;
	(void)w;
	return remove(path);
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; f->host_fds[i] >= 0; i++)
		close(f->host_fds[i]);
	if (f->input_fd >= 0)
		close(f->input_fd);
	close(f->isoinit);
	close(f->cancel[0]);
	close(f->cancel[1]);
	rmdir(f->cgroup);
	unlink(f->slots);
	nftw(f->source, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

int fixture_create(struct fixture *f, struct iso_sandbox_handle **ret)
{
	static char *const nothing[] = {UNCONST("true"), NULL};

	if (!f->q.argv)
		f->q.argv = nothing;
	f->q.deadline_ns = iso_now_ns() + 30000000000ull;
	return iso_sandbox_create_seamed(&f->q, &f->seams, ret, &f->e);
}

static void take_message(const struct iso_init_message *m, struct outcome *o)
{
	switch (m->kind) {
	case ISO_INIT_STARTED:
		o->started = true;
		break;
	case ISO_INIT_EXEC_FAILED:
		o->exec_error = m->value;
		memcpy(o->stage, m->text, sizeof o->stage);
		break;
	case ISO_INIT_SURVIVOR:
		o->survivors++;
		memcpy(o->survivor, m->text, sizeof o->survivor);
		break;
	case ISO_INIT_WALL:
		o->wall = m->value;
		break;
	case ISO_INIT_ENDED:
		o->status = m->value;
		break;
	case ISO_INIT_LISTENER:
		break;
	case ISO_INIT_UNANSWERED:
		o->unanswered = true;
		break;
	}
}

static uint64_t no_exec(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
	return 0;
}

static void take_refused(int *listener, struct outcome *o)
{
	struct iso_refused_call call;
	int r = iso_notify_take(*listener, no_exec, NULL, &call);

	assert_true(r == 0 || r == 1 || r == -EPIPE);
	if (r == 1) {
		o->refused++;
		o->call = call;
	} else if (r == -EPIPE) {
		*listener = -1;
	}
}

static void take_output(int fd, struct outcome *o)
{
	ssize_t n = read(fd, o->out + o->size, sizeof o->out - 1 - o->size);

	if (n > 0)
		o->size += (size_t)n;
	o->out[o->size] = '\0';
}

void fixture_collect(struct iso_sandbox_handle *h, int out, struct outcome *o)
{
	struct iso_init_message m;
	int r = -EAGAIN, listener = -1;

	memset(o, 0, sizeof *o);
	o->status = -1;
	while (r != 0) {
		struct pollfd p[3] = {{.fd = iso_sandbox_control_fd(h), .events = POLLIN},
				      {.fd = out, .events = POLLIN},
				      {.fd = listener, .events = POLLIN}};

		assert_true(poll(p, 3, 60000) > 0);
		if (p[2].revents)
			take_refused(&listener, o);
		if (p[1].revents & POLLIN)
			take_output(out, o);
		if (!p[0].revents)
			continue;
		r = iso_sandbox_receive(h, &m);
		assert_true(r >= 0);
		if (r == 1)
			take_message(&m, o);
		if (r == 1 && m.kind == ISO_INIT_LISTENER)
			listener = iso_sandbox_listener(h);
	}
	for (struct pollfd p = {.fd = out, .events = POLLIN};
	     out >= 0 && poll(&p, 1, 0) > 0 && p.revents & POLLIN;)
		take_output(out, o);
}

int fixture_run(struct fixture *f, char *const *argv, struct outcome *o)
{
	struct iso_sandbox_handle *h = NULL;
	int out[2], r;

	f->q.argv = argv;
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	f->q.stdio[1] = f->q.stdio[2] = out[1];
	r = fixture_create(f, &h);
	close(out[1]);
	if (r == 0) {
		assert_int_equal(iso_sandbox_start(h), 0);
		fixture_collect(h, out[0], o);
		assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
	}
	close(out[0]);
	f->q.argv = NULL; /* the caller's, and perhaps gone after this */
	f->q.stdio[1] = f->q.stdio[2] = -1;
	return r;
}

int fixture_shell(struct fixture *f, const char *script, struct outcome *o)
{
	char *const argv[] = {UNCONST("sh"), UNCONST("-c"), UNCONST(script), NULL};
	int r = fixture_run(f, argv, o);

	if (r < 0)
		print_message("create: %s: %s\n", f->e.step, f->e.message);
	return r;
}

int fixture_leftovers(const struct fixture *f)
{
	DIR *d = opendir(f->cgroup);
	struct dirent *entry;
	int n = 0;

	assert_non_null(d);
	while ((entry = readdir(d)))
		n += entry->d_type == DT_DIR && entry->d_name[0] != '.';
	closedir(d);
	return n;
}

int fixture_open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}
