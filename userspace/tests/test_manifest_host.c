/* SPDX-License-Identifier: BSD-2-Clause */
/* A manifest against a host: a folder of its own plays the host. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "manifest/host.h"
#include "tests/manifest_file.h"

static char host[] = "/tmp/iso-host-XXXXXX";

static const char *at(const char *name)
{
	static char path[4][4200];
	static unsigned next;
	char *out = path[next++ % 4];

	snprintf(out, sizeof path[0], "%s/%s", host, name);
	return out;
}

static void folder(const char *name)
{
	assert_int_equal(mkdir(at(name), 0755), 0);
}

static void file(const char *name)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	close(fd);
}

/* The findings of a manifest with one input at `source`, and more members of it. */
static const char *judge(const char *source, const char *more, const char *own_file)
{
	static char out[8192];
	char text[8192];
	struct iso_findings f = {0};
	struct iso_manifest *m = NULL;
	int r;

	snprintf(text, sizeof text,
		 "{\"manifest_version\": 1, \"task\": {\"id\": \"t\"},"
		 "\"host\": {\"profile\": \"execute\", \"lock_at_creation\": true},"
		 "\"filesystem\": {\"inputs\": [{\"source\": \"%s\", \"target\": \"/work\","
		 "\"size\": \"1MiB\", \"inodes\": 50%s}]}, \"network\": {}, \"inference\": {},"
		 "\"process\": {\"no_new_privileges\": true, \"setuid\": \"deny\", \"limits\":"
		 "{\"cpus\": 1, \"memory\": \"128MiB\", \"pids\": 8, \"files\": 64}},"
		 "\"limits\": {\"wall_time\": \"1m\", \"log_bytes\": 0}}",
		 at(source), more);
	r = iso_manifest_parse(text, strlen(text), &m, &f);
	for (size_t i = 0; i < f.count; i++)
		print_error("%s: %s\n", f.items[i].pointer, f.items[i].message);
	assert_int_equal(r, 0);
	r = iso_host_check(m, own_file, &f);
	assert_int_equal(r, f.count ? -EINVAL : 0);
	out[0] = '\0';
	for (size_t i = 0; i < f.count; i++)
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s %s", i ? "\n" : "",
			 f.items[i].code, f.items[i].pointer);
	iso_findings_free(&f);
	iso_manifest_free(m);
	return out;
}

static void a_plain_source_passes(void **state)
{
	(void)state;
	assert_string_equal(judge("project", "", NULL), "");
	assert_string_equal(judge("project", "", at("workspace/m.json")), "");
}

static void a_source_must_be_there(void **state)
{
	(void)state;
	assert_string_equal(judge("gone", "", NULL), "host-absent /filesystem/inputs/0/source");
	assert_string_equal(judge("project/file", "", NULL),
			    "host-type /filesystem/inputs/0/source");
	assert_string_equal(judge("link", "", NULL), "host-link /filesystem/inputs/0/source");
	assert_string_equal(judge("project", ", \"paths\": [\"file\", \"gone\"]", NULL),
			    "host-absent /filesystem/inputs/0/paths/1");
}

static void a_source_does_not_hold_its_manifest(void **state)
{
	(void)state;
	assert_string_equal(judge("project", "", at("project/sub/m.json")),
			    "host-manifest /filesystem/inputs/0/source");
	assert_string_equal(judge("project", ", \"paths\": [\"sub\"]", at("project/sub/m.json")),
			    "host-manifest /filesystem/inputs/0/source");
	assert_string_equal(
		judge("project", ", \"paths\": [\"sub/m.json\"]", at("project/sub/m.json")),
		"host-manifest /filesystem/inputs/0/source");
	assert_string_equal(judge("project", ", \"paths\": [\"file\"]", at("project/sub/m.json")),
			    "");
}

static void a_workspace_is_not_a_project(void **state)
{
	(void)state;
	assert_string_equal(judge("workspace", "", NULL),
			    "host-workspace /filesystem/inputs/0/source");
	assert_string_equal(judge("workspace", ", \"paths\": [\"one\"]", NULL), "");
}

static void secrets_inside_are_found(void **state)
{
	(void)state;
	assert_string_equal(judge("secret", "", NULL), "host-secret /filesystem/inputs/0/source\n"
						       "host-secret /filesystem/inputs/0/source");
	assert_string_equal(
		judge("secret", ", \"not_secret\": {\"conf/.netrc\": \"an example\"}", NULL),
		"host-secret /filesystem/inputs/0/source");
	assert_string_equal(judge("secret", ", \"paths\": [\"plain\"]", NULL), "");
}

static void root_paths_must_be_there(void **state)
{
	struct iso_manifest *m = manifest_valid("valid.json");
	struct iso_findings f = {0};
	bool found = false;

	(void)state;
	free(m->filesystem.root_host.items[1]);
	m->filesystem.root_host.items[1] = strdup("/no/such/place");
	assert_int_equal(iso_host_check(m, NULL, &f), -EINVAL);
	for (size_t i = 0; i < f.count; i++)
		found |= !strcmp(f.items[i].code, "host-absent") &&
			 !strcmp(f.items[i].pointer, "/filesystem/root/host/1");
	assert_true(found);
	iso_findings_free(&f);
	iso_manifest_free(m);
}

static int make_host(void **state)
{
	(void)state;
	if (!mkdtemp(host))
		return -1;
	folder("project");
	folder("project/.git");
	folder("project/sub");
	file("project/file");
	file("project/sub/m.json");
	folder("workspace");
	folder("workspace/one");
	folder("workspace/one/.git");
	folder("workspace/two");
	folder("workspace/two/.git");
	folder("workspace/.hidden");
	file("workspace/m.json");
	folder("secret");
	folder("secret/conf");
	folder("secret/.config");
	folder("secret/.ssh");
	folder("secret/plain");
	file("secret/conf/.netrc");
	file("secret/.ssh/id_rsa");
	return symlink(at("project"), at("link"));
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static int remove_host(void **state)
{
	(void)state;
	return nftw(host, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_source_passes),
		cmocka_unit_test(a_source_must_be_there),
		cmocka_unit_test(a_source_does_not_hold_its_manifest),
		cmocka_unit_test(a_workspace_is_not_a_project),
		cmocka_unit_test(secrets_inside_are_found),
		cmocka_unit_test(root_paths_must_be_there),
	};

	return cmocka_run_group_tests(tests, make_host, remove_host);
}
