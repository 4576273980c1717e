/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole sandbox with the kernel side, from a manifest's text: only on a host that can enforce
 * (label kernel, run in guests). Fails, never skips, elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox/internal.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static const char manifest_text[] =
	"{\"manifest_version\": 1,"
	" \"task\": {\"id\": \"t\", \"purpose\": \"test\"},"
	" \"host\": {\"profile\": \"build\", \"runtime\": \"kernel\", \"lock_at_creation\": true},"
	" \"filesystem\": {"
	"  \"root\": {\"host\": [\"/usr\", \"/bin\", \"/lib\", \"/lib64\"]},"
	"  \"inputs\": [{\"source\": \"/srv/input\", \"target\": \"/work\", \"access\": \"write\","
	"   \"size\": \"8MiB\", \"inodes\": 256, \"protect\": [\".git\"]}],"
	"  \"scratch\": [{\"path\": \"/tmp\", \"size\": \"4MiB\", \"inodes\": 64}],"
	"  \"deny\": [\"/usr/share/doc\"],"
	"  \"assert_absent\": [\"/root\", \"/etc/shadow\"]},"
	" \"network\": {},"
	" \"process\": {\"execute\": [\"/usr\", \"/work\"], \"no_new_privileges\": true,"
	"  \"setuid\": \"deny\", \"syscalls\": {\"profile\": \"build\"},"
	"  \"limits\": {\"cpus\": 1, \"memory\": \"256MiB\", \"pids\": 64, \"files\": 256}},"
	" \"inference\": {},"
	" \"limits\": {\"wall_time\": \"60s\", \"log_bytes\": \"1MiB\"}}";

struct host {
	struct iso_kernel *kernel;
	struct iso_manifest *m;
	struct iso_policy *p;
	int isoinit;
	int fds[16];
	int input;
	int cancel[2];
	uint64_t next;
	struct iso_error e;
	char events[32768];
};

static struct host host;

static int open_isoinit(void)
{
	const char *build = getenv("ISO_BINARY_DIR");
	int in, out = memfd_create("isoinit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char path[512];
	struct stat st;

	snprintf(path, sizeof path, "%s/bin/isoinit", build ? build : ".");
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

static void make_source(void)
{
	static const struct {
		const char *path, *text;
	} files[] = {{"/srv/input/a", "x\n"}, {"/srv/input/.git/config", "c\n"}};

	assert_true(mkdir("/srv/input", 0755) == 0 || errno == EEXIST);
	assert_true(mkdir("/srv/input/.git", 0755) == 0 || errno == EEXIST);
	for (size_t i = 0; i < 2; i++) {
		int fd = open(files[i].path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		assert_true(fd >= 0);
		assert_true(write(fd, files[i].text, strlen(files[i].text)) > 0);
		close(fd);
	}
}

static void open_host_trees(void)
{
	size_t n = 0;

	for (size_t i = 0; i < host.p->tree_count; i++) {
		const struct iso_tree *t = &host.p->trees[i];
		struct stat st;

		if (t->kind != ISO_TREE_HOST)
			continue;
		assert_int_equal(lstat(t->path, &st), 0);
		host.fds[n] = open(t->path, O_CLOEXEC | (S_ISLNK(st.st_mode) ? O_PATH | O_NOFOLLOW
									     : O_RDONLY));
		assert_true(host.fds[n++] >= 0);
	}
	host.input = open("/srv/input", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(host.input >= 0);
}

static int setup(void **state)
{
	struct iso_findings findings = {0};
	int r;

	(void)state;
	host.next = 1;
	r = iso_manifest_parse(manifest_text, strlen(manifest_text), &host.m, &findings);
	for (size_t i = 0; i < findings.count; i++)
		print_message("%s: %s\n", findings.items[i].pointer, findings.items[i].message);
	assert_int_equal(r, 0);
	assert_int_equal(iso_policy_compile(host.m, &host.p, &host.e), 0);
	make_source();
	open_host_trees();
	host.isoinit = open_isoinit();
	assert_int_equal(pipe2(host.cancel, O_CLOEXEC), 0);
	if (iso_kernel_open(&host.kernel, &host.e) < 0)
		fail_msg("kernel: %s: %s (%s)", host.e.step, host.e.message, host.e.remedy);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	iso_kernel_close(host.kernel);
	iso_policy_free(host.p);
	iso_manifest_free(host.m);
	return 0;
}

static int create(const char *script, int out, struct iso_sandbox_handle **ret)
{
	static char *const environment[] = {TEXT("PATH=/usr/bin:/bin"), NULL};
	char *const argv[] = {TEXT("sh"), TEXT("-c"), TEXT(script), NULL};
	char name[32];
	struct iso_sandbox_request q = {
		.manifest = host.m,
		.policy = host.p,
		.kernel = host.kernel,
		.sandbox = host.next,
		.name = name,
		.host_fds = host.fds,
		.input_fds = &host.input,
		.argv = argv,
		.environment = environment,
		.stdio = {-1, out, out},
		.isoinit_fd = host.isoinit,
		.cancel_fd = host.cancel[0],
		.deadline_ns = iso_now_ns() + 120000000000ull,
	};

	snprintf(name, sizeof name, "kernel-test-%u", (unsigned)host.next++);
	return iso_sandbox_create(&q, ret, &host.e);
}

static int take_event(void *context, const void *data, size_t size)
{
	const struct iso_event *v = data;
	size_t used = strlen(host.events);

	(void)context;
	if (size >= sizeof *v)
		snprintf(host.events + used, sizeof host.events - used,
			 "kind %u hook %u reason %u rule %u errno %d exec %llu %.*s\n", v->kind,
			 v->hook, v->reason, v->rule, v->error, (unsigned long long)v->exec,
			 (int)v->path.length, v->path.area + v->path.offset);
	return 0;
}

/* Runs a script; its output in out, its wait status returned. */
static int run(const char *script, char *out, size_t size)
{
	struct iso_sandbox_handle *h = NULL;
	struct iso_init_message m;
	int p[2], status = -1, r;
	size_t used = 0;

	host.events[0] = '\0';
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	r = create(script, p[1], &h);
	close(p[1]);
	if (r < 0)
		fail_msg("%s: %s (%s)", host.e.step, host.e.message, host.e.remedy);
	assert_memory_equal(iso_sandbox_policy_digest(h), host.p->digest, ISO_POLICY_DIGEST);
	assert_int_equal(iso_sandbox_start(h), 0);
	do {
		struct pollfd w = {.fd = iso_sandbox_control_fd(h), .events = POLLIN};

		poll(&w, 1, 100);
		r = iso_sandbox_receive(h, &m);
		if (r == 1 && m.kind == ISO_INIT_EXEC_FAILED)
			print_message("exec failed: %s: %s\n", m.text, strerror(m.value));
		if (r == 1 && m.kind == ISO_INIT_ENDED)
			status = m.value;
		iso_kernel_ring_consume(host.kernel, take_event, NULL);
	} while (r == 1 || r == -EAGAIN);
	for (ssize_t n; used < size - 1 && (n = read(p[0], out + used, size - 1 - used)) > 0;)
		used += (size_t)n;
	out[used] = '\0';
	close(p[0]);
	if (iso_sandbox_destroy(h, &host.e) < 0)
		fail_msg("%s: %s", host.e.step, host.e.message);
	iso_kernel_ring_consume(host.kernel, take_event, NULL);
	return status;
}

static void command_runs_sealed(void **state)
{
	char out[4096];
	int status;

	(void)state;
	status = run("echo hello; id -u; cat /work/a; exit 5", out, sizeof out);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 5)
		fail_msg("status %#x, output %s, events:\n%s", (unsigned)status, out, host.events);
	assert_string_equal(out, "hello\n1000\nx\n");
}

static void rules_hold(void **state)
{
	char out[8192];
	int status;

	(void)state;
	status =
		run("cd /work; echo new >b && cat b; mkdir d && mv b d/ && rm -r d && echo tree;"
		    "for f in .git/config .git/new; do (echo x >$f) 2>&1; done;"
		    "mv .git g 2>&1; cat /usr/share/doc/x 2>&1; ls /usr/share/doc 2>&1;"
		    "cat /proc/kcore 2>&1; cat /proc/meminfo | grep -c MemTotal;"
		    "cp /bin/true /work/t && /work/t && echo ran; cp /bin/true /tmp/t; /tmp/t 2>&1;"
		    "echo shm >/dev/shm/x && cat /dev/shm/x; echo null >/dev/null;"
		    "echo out >/dev/stderr; cat /root/x 2>&1; true",
		    out, sizeof out);
	print_message("%s\nevents:\n%s", out, host.events);
	assert_int_equal(status, 0);
	assert_non_null(strstr(out, "new\ntree\n"));
	assert_non_null(strstr(out, ".git/config: "));
	assert_non_null(strstr(out, "/usr/share/doc"));
	assert_non_null(strstr(out, "/proc/kcore: Permission denied"));
	assert_non_null(strstr(out, "\nran\n"));
	assert_non_null(strstr(out, "shm\nout\n"));
}

static void limits_are_in_the_cgroup(void **state)
{
	struct iso_sandbox_handle *h = NULL;
	struct iso_sandbox_usage u;
	char out[4096];

	(void)state;
	assert_true(run("head -c 400000000 /dev/zero | tail >/dev/null; echo $?", out,
			sizeof out) != 0);
	assert_int_equal(create("sleep 100", -1, &h), 0);
	assert_int_equal(iso_sandbox_start(h), 0);
	assert_int_equal(iso_sandbox_usage(h, &u), 0);
	assert_int_equal(iso_sandbox_destroy(h, &host.e), 0);
}

static void many_in_a_row_leave_nothing(void **state)
{
	char out[256];

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(run("echo x", out, sizeof out), 0);
		assert_string_equal(out, "x\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_runs_sealed),
		cmocka_unit_test(rules_hold),
		cmocka_unit_test(limits_are_in_the_cgroup),
		cmocka_unit_test(many_in_a_row_leave_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
