/* SPDX-License-Identifier: BSD-2-Clause */
/* The ceiling: what is read, who may write it, and each way of being wider than it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "manifest/ceiling.h"
#include "tests/manifest_file.h"

/* As wide as valid.json, no wider. */
static const char wide[] =
	"{\"ceiling_version\": 1, \"callers\": {\"users\": [\"1234\"], \"groups\": [\"4321\"]},"
	" \"input_roots\": [\"/srv\"], \"shared_kernel\": true,"
	" \"host_root\": [\"/usr\", \"/bin\", \"/lib\", \"/lib64\", \"/etc/alternatives\"],"
	" \"max_sandboxes\": 4, \"total\": {\"memory\": \"8GiB\", \"cpus\": 2},"
	" \"host\": {\"profile\": \"build\"},"
	" \"process\": {\"limits\": {\"memory\": \"1GiB\", \"cpus\": 1.5, \"pids\": 64, \"files\": 256,"
	"                            \"file_size\": \"32MiB\"},"
	"              \"syscalls\": {\"profile\": \"build\", \"allow\": [\"mbind\"]},"
	"              \"environment\": {\"pass\": [\"TERM\"]}},"
	" \"limits\": {\"wall_time\": \"10m\", \"concurrent\": 2, \"log_encoding\": \"raw\"}}";

static struct iso_ceiling *ceiling(const char *text)
{
	struct iso_ceiling *c = NULL;
	struct iso_error e = {0};
	int r = iso_ceiling_parse("ceiling.json", text, strlen(text), &c, &e);

	if (r)
		print_error("%s\n", e.message);
	assert_int_equal(r, 0);
	return c;
}

/* Checks a seed against a ceiling; the findings' codes and pointers, one after the other. */
static const char *judge(const char *text, const char *seed, uid_t uid, gid_t gid)
{
	static char out[4096];
	struct iso_ceiling *c = text ? ceiling(text) : NULL;
	struct iso_manifest *m = manifest_valid(seed);
	struct iso_findings f = {0};
	int r = iso_ceiling_check(c, m, uid, &gid, 1, &f);

	assert_int_equal(r, f.count ? -EINVAL : 0);
	out[0] = '\0';
	for (size_t i = 0; i < f.count; i++) {
		assert_true(f.items[i].line > 0);
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s %s", i ? "\n" : "",
			 f.items[i].code, f.items[i].pointer);
	}
	iso_findings_free(&f);
	iso_manifest_free(m);
	iso_ceiling_free(c);
	return out;
}

static void what_is_not_wider_passes(void **state)
{
	(void)state;
	assert_string_equal(judge(wide, "valid.json", 0, 0), "");
	assert_string_equal(judge(wide, "valid.json", 1234, 1), "");
	assert_string_equal(judge(wide, "valid.json", 1, 4321), "");
}

static void only_callers_may_seal(void **state)
{
	(void)state;
	assert_string_equal(judge(wide, "valid.json", 1235, 1), "ceiling-caller ");
}

static void without_ceiling_only_root_may(void **state)
{
	(void)state;
	assert_string_equal(judge(NULL, "valid.json", 0, 0), "");
	assert_string_equal(judge(NULL, "valid.json", 1234, 4321), "ceiling-none ");
}

static void an_empty_ceiling_permits_nothing(void **state)
{
	(void)state;
	assert_string_equal(judge("{\"ceiling_version\": 1}", "valid.json", 0, 0),
			    "ceiling-permission /host/runtime\n"
			    "ceiling-roots /filesystem/root/host/0\n"
			    "ceiling-roots /filesystem/root/host/1\n"
			    "ceiling-roots /filesystem/root/host/2\n"
			    "ceiling-roots /filesystem/root/host/3\n"
			    "ceiling-roots /filesystem/root/host/4\n"
			    "ceiling-roots /filesystem/inputs/0/source\n"
			    "ceiling-roots /filesystem/inputs/1/source");
}

static void each_bound_binds(void **state)
{
	static const char tight[] =
		"{\"ceiling_version\": 1, \"shared_kernel\": true, \"host_root\": [\"/usr\", \"/bin\","
		" \"/lib\", \"/lib64\", \"/etc/alternatives\"], \"input_roots\": [\"/srv/project\","
		" \"/srv/data\"], \"host\": {\"profile\": \"execute\"},"
		" \"process\": {\"stdin\": \"closed\", \"syscalls\": {\"profile\": \"strict\","
		" \"allow\": []}, \"environment\": {\"pass\": [\"LANG\"]},"
		" \"limits\": {\"cpus\": 1, \"memory\": \"512MiB\", \"pids\": 63, \"files\": 255,"
		" \"file_size\": \"16MiB\"}},"
		" \"limits\": {\"wall_time\": \"9m\", \"stop_grace\": \"1s\", \"log_bytes\": 1024,"
		" \"log_encoding\": \"utf-8\", \"events_per_second\": 49, \"concurrent\": 1}}";

	(void)state;
	assert_string_equal(judge(tight, "valid.json", 0, 0),
			    "ceiling-bound /host/profile\n"
			    "ceiling-bound /process/syscalls/profile\n"
			    "ceiling-bound /process/syscalls/allow/0\n"
			    "ceiling-bound /process/limits/cpus\n"
			    "ceiling-bound /process/limits/memory\n"
			    "ceiling-bound /process/limits/pids\n"
			    "ceiling-bound /process/limits/files\n"
			    "ceiling-bound /process/limits/file_size\n"
			    "ceiling-bound /process/environment/pass/0\n"
			    "ceiling-bound /limits/wall_time\n"
			    "ceiling-bound /limits/stop_grace\n"
			    "ceiling-bound /limits/log_bytes\n"
			    "ceiling-bound /limits/log_encoding\n"
			    "ceiling-bound /limits/events_per_second\n"
			    "ceiling-bound /limits/concurrent");
}

static void defaults_are_bound_too(void **state)
{
	(void)state;
	/* file_size is unlimited when absent; concurrent is then the ceiling's own */
	assert_string_equal(judge("{\"ceiling_version\": 1, \"shared_kernel\": true,"
				  " \"process\": {\"limits\": {\"file_size\": \"1GiB\"}},"
				  " \"limits\": {\"events_per_second\": 100, \"concurrent\": 1}}",
				  "minimal.json", 0, 0),
			    "ceiling-bound /process/limits/file_size\n"
			    "ceiling-bound /limits/events_per_second");
}

/* Only a ceiling allows it, and only where it says so. */
static void io_uring_is_the_operators(void **state)
{
	static const char refused[] = "ceiling-permission /process/syscalls/allow/0\n"
				      "ceiling-permission /process/syscalls/allow/1";

	(void)state;
	assert_string_equal(judge(NULL, "uring.json", 0, 0), refused);
	assert_string_equal(judge("{\"ceiling_version\": 1, \"shared_kernel\": true,"
				  " \"host_root\": [\"/usr\"]}",
				  "uring.json", 0, 0),
			    refused);
	assert_string_equal(judge("{\"ceiling_version\": 1, \"shared_kernel\": true,"
				  " \"host_root\": [\"/usr\"], \"io_uring\": true}",
				  "uring.json", 0, 0),
			    "");
}

static void values_are_read(void **state)
{
	struct iso_ceiling *c = ceiling(wide);

	(void)state;
	assert_true(c->shared_kernel);
	assert_false(c->opaque_egress);
	assert_false(c->contain_daemons);
	assert_int_equal(c->max_sandboxes, 4);
	assert_int_equal(c->max_guests, 0);
	assert_int_equal(c->total_memory, 8ull << 30);
	assert_int_equal(c->total_cpus_milli, 2000);
	assert_int_equal(c->concurrent, 2);
	assert_int_equal(c->callers.users[0], 1234);
	assert_int_equal(c->callers.groups[0], 4321);
	iso_ceiling_free(c);
	c = ceiling("{\"ceiling_version\": 1, \"callers\": {\"users\": [\"root\"], \"groups\":"
		    " [\"root\"]}}");
	assert_int_equal(c->callers.users[0], 0);
	assert_int_equal(c->callers.groups[0], 0);
	iso_ceiling_free(c);
}

static void refuse(const char *text, int expected, const char *part)
{
	struct iso_ceiling *c = NULL;
	struct iso_error e = {0};

	assert_int_equal(iso_ceiling_parse("c.json", text, strlen(text), &c, &e), expected);
	assert_null(c);
	if (!strstr(e.message, part))
		fail_msg("\"%s\" does not hold \"%s\"", e.message, part);
	assert_string_not_equal(e.remedy, "");
}

static void a_wrong_ceiling_is_refused(void **state)
{
	(void)state;
	refuse("{", -EINVAL, "c.json:1:1: : not JSON");
	refuse("{}", -EINVAL, "/ceiling_version: is missing");
	refuse("{\"ceiling_version\": 1, \"shared_kernell\": true}", -EINVAL, "shared_kernel");
	/* what this version would ignore */
	refuse("{\"ceiling_version\": 1, \"require_review\": true}", -EINVAL, "not enforced");
	refuse("{\"ceiling_version\": 1, \"upstream_proxy\": \"http://proxy.example.com:3128\"}",
	       -EINVAL, "not enforced");
	refuse("{\"ceiling_version\": 1, \"callers\": {\"users\": [\"no such user\"]}}", -ENOENT,
	       "no user named no such user");
	refuse("{\"ceiling_version\": 1, \"callers\": {\"groups\": [\"4294967295\"]}}", -ENOENT,
	       "no group named");
}

static void write_text(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(iso_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void only_roots_own_file_counts(void **state)
{
	char folder[] = "/tmp/iso-ceiling-XXXXXX", path[64];
	struct iso_ceiling *c = NULL;
	struct iso_error e = {0};
	/* as another user the file is never root's */
	int good = geteuid() == 0 ? 0 : -EPERM;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/ceiling.json", folder);
	assert_int_equal(iso_ceiling_load(path, &c, &e), 0);
	assert_null(c);
	write_text(path, "{\"ceiling_version\": 1}", 0644);
	assert_int_equal(iso_ceiling_load(path, &c, &e), good);
	iso_ceiling_free(c);
	c = NULL;
	assert_int_equal(chmod(path, 0664), 0);
	assert_int_equal(iso_ceiling_load(path, &c, &e), -EPERM);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(iso_ceiling_load(path, &c, &e), -EPERM);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(iso_ceiling_load(path, &c, &e), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(iso_ceiling_load(path, &c, &e), geteuid() == 0 ? -EISDIR : -EPERM);
	assert_int_equal(iso_ceiling_load("relative", &c, &e), -EINVAL);
	assert_null(c);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_wider_passes),
		cmocka_unit_test(only_callers_may_seal),
		cmocka_unit_test(without_ceiling_only_root_may),
		cmocka_unit_test(an_empty_ceiling_permits_nothing),
		cmocka_unit_test(each_bound_binds),
		cmocka_unit_test(defaults_are_bound_too),
		cmocka_unit_test(io_uring_is_the_operators),
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(a_wrong_ceiling_is_refused),
		cmocka_unit_test(only_roots_own_file_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
