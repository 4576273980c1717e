/* SPDX-License-Identifier: BSD-2-Clause */
/* What a copy keeps, what it refuses, and with whose rights it reads. */
#include "test_sandbox_fixture.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static char full_path[512];

static const char *at(const struct fixture *f, const char *path)
{
	snprintf(full_path, sizeof full_path, "%s/%s", f->source, path);
	return full_path;
}

static int setup(void **state)
{
	int r = fixture_setup(state);

	if (r == 0)
		fixture_input(*state);
	return r;
}

/* Creation is refused at the snapshot, naming the path and what is said about it. */
static void refused(struct fixture *f, const char *path, const char *why)
{
	struct iso_sandbox_handle *h;

	assert_true(fixture_create(f, &h) < 0);
	if (strcmp(f->e.step, "snapshot") || !strstr(f->e.message, path) ||
	    !strstr(f->e.message, why))
		fail_msg("%s: %s", f->e.step, f->e.message);
	assert_int_equal(fixture_leftovers(f), 0);
}

static void copy_keeps_content_modes_times_and_links(void **state)
{
	const struct timespec t[2] = {{1000000000, 5}, {1000000000, 123456789}};
	struct fixture *f = *state;
	struct outcome o;

	fixture_source(f, "src/main.c", "int main;\n");
	fixture_source(f, "run.sh", "#!/bin/sh\necho ran\n");
	assert_int_equal(chmod(at(f, "run.sh"), 0750), 0);
	assert_int_equal(symlink("src/main.c", at(f, "link")), 0);
	assert_int_equal(utimensat(AT_FDCWD, at(f, "run.sh"), t, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, at(f, "link"), t, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(utimensat(AT_FDCWD, at(f, "src"), t, 0), 0);
	assert_int_equal(fixture_shell(f,
				       "cd /work; cat src/main.c; ./run.sh; readlink link;"
				       "stat -c '%n %a %u:%g %.9Y' run.sh link src src/main.c |"
				       " sed 's/ 1[2-9].*//'; echo more >>src/main.c && echo wrote",
				       &o),
			 0);
	assert_string_equal(o.out, "int main;\nran\nsrc/main.c\n"
				   "run.sh 750 1000:1000 1000000000.123456789\n"
				   "link 777 1000:1000 1000000000.123456789\n"
				   "src 755 1000:1000 1000000000.123456789\n"
				   "src/main.c 644 1000:1000\nwrote\n");
}

static void source_never_changes(void **state)
{
	struct fixture *f = *state;
	struct outcome o;
	char text[16] = {0};
	int fd;

	fixture_source(f, "a", "before");
	assert_int_equal(fixture_shell(f, "echo after >/work/a; cat /work/a", &o), 0);
	assert_string_equal(o.out, "after\n");
	fd = open(at(f, "a"), O_RDONLY);
	assert_int_equal(read(fd, text, sizeof text - 1), 6);
	close(fd);
	assert_string_equal(text, "before");
}

static void holes_stay_holes(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	fixture_source(f, "sparse", "head");
	assert_int_equal(truncate(at(f, "sparse"), 64 << 20), 0);
	assert_int_equal(fixture_shell(f, "stat -c %s /work/sparse; head -c 4 /work/sparse", &o),
			 0);
	assert_string_equal(o.out, "67108864\nhead");
}

static void hard_links_become_files(void **state)
{
	struct fixture *f = *state;
	char second[512];
	struct outcome o;

	fixture_source(f, "a", "x");
	snprintf(second, sizeof second, "%s/b", f->source);
	assert_int_equal(link(at(f, "a"), second), 0);
	assert_int_equal(fixture_shell(f, "stat -c %h /work/a /work/b", &o), 0);
	assert_string_equal(o.out, "1\n1\n");
}

static void read_only_input_is_read_only(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	fixture_source(f, "a", "x");
	f->trees[f->p.tree_count - 1].writable = false;
	assert_int_equal(
		fixture_shell(f, "cat /work/a; (: >/work/b) 2>/dev/null || echo refused", &o), 0);
	assert_string_equal(o.out, "xrefused\n");
}

static void special_files_are_refused_by_name(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	fixture_source(f, "d/plain", "");
	assert_int_equal(mkfifo(at(f, "d/pipe"), 0600), 0);
	refused(f, "d/pipe", "named pipe");
	unlink(at(f, "d/pipe"));
	assert_int_equal(mknod(at(f, "d/null"), S_IFCHR | 0666, makedev(1, 3)), 0);
	refused(f, "d/null", "device");
	unlink(at(f, "d/null"));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(a.sun_path, sizeof a.sun_path, "%s/s", f->source);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	close(fd);
	refused(f, "s", "socket");
	unlink(at(f, "s"));
	assert_int_equal(chmod(at(f, "d/plain"), 04755), 0);
	refused(f, "d/plain", "setuid");
	assert_int_equal(chmod(at(f, "d/plain"), 02755), 0);
	refused(f, "d/plain", "setgid");
	assert_int_equal(chmod(at(f, "d/plain"), 0755), 0);
	fixture_source(f, "bad\xffname", "");
	refused(f, "bad\\xffname", "UTF-8");
}

static void links_that_leave_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(symlink("/etc/passwd", at(f, "l")), 0);
	refused(f, "l", "absolute");
	unlink(at(f, "l"));
	assert_int_equal(symlink("../x", at(f, "l")), 0);
	refused(f, "l", "leaves");
}

/* up -> d/.. is the root itself: by text alone, up/../x stays inside. */
static void links_that_leave_by_other_links_are_refused(void **state)
{
	struct iso_sandbox_handle *h;
	struct fixture *f = *state;

	fixture_source(f, "d/e/f", "");
	assert_int_equal(symlink("d/..", at(f, "up")), 0);
	assert_int_equal(symlink("up/../x", at(f, "out")), 0);
	assert_true(fixture_create(f, &h) < 0);
	assert_string_equal(f->e.step, "owner");
	assert_non_null(strstr(f->e.message, "out: is a symbolic link that leaves"));
	assert_int_equal(fixture_leftovers(f), 0);
}

static void bounds_name_the_field_to_raise(void **state)
{
	struct fixture *f = *state;
	static char big[3 << 20];

	memset(big, 'x', sizeof big - 1);
	fixture_source(f, "big", big);
	f->input.size = 1 << 20;
	refused(f, "big", "does not fit");
	assert_string_equal(f->e.remedy, "raise size of this input");
	unlink(at(f, "big"));
	f->input.inodes = 2;
	fixture_source(f, "a", "");
	fixture_source(f, "b", "");
	fixture_source(f, "c", "");
	refused(f, "", "no inode");
	assert_string_equal(f->e.remedy, "raise inodes of this input");
	assert_false(f->e.retryable);
}

static void callers_rights_decide(void **state)
{
	struct fixture *f = *state;

	fixture_source(f, "secret", "x");
	assert_int_equal(chmod(at(f, "secret"), 0600), 0);
	f->q.caller.uid = f->q.caller.gid = 12345;
	refused(f, "secret", "caller's rights");
}

static void unprivileged_callers_copy_what_they_may(void **state)
{
	struct fixture *f = *state;
	const gid_t groups[] = {4242};
	struct outcome o;

	fixture_source(f, "d/a", "x");
	fixture_source(f, "d/g", "y");
	assert_int_equal(chown(at(f, "d/g"), 0, 4242), 0);
	assert_int_equal(chmod(at(f, "d/g"), 0640), 0);
	f->q.caller = (struct iso_sandbox_caller){12345, 12345, groups, 1};
	assert_int_equal(fixture_shell(f, "cat /work/d/*; stat -c %u:%g /work/d/g /work", &o), 0);
	assert_string_equal(o.out, "xy1000:1000\n1000:1000\n");
}

static void credentials_are_refused_unless_excused(void **state)
{
	struct fixture *f = *state;
	struct iso_pair excuse = {(char *)(uintptr_t) "t/id_rsa", (char *)(uintptr_t) "test"};
	struct outcome o;

	fixture_source(f, "t/id_rsa", "x");
	refused(f, "t/id_rsa", "credential");
	f->input.not_secret = (struct iso_pairs){&excuse, 1};
	assert_int_equal(fixture_shell(f, "cat /work/t/id_rsa", &o), 0);
	assert_string_equal(o.out, "x");
}

static void only_named_paths_are_copied(void **state)
{
	char *paths[] = {(char *)(uintptr_t) "a/b", (char *)(uintptr_t) "top",
			 (char *)(uintptr_t) "a/c/file"};
	struct fixture *f = *state;
	struct outcome o;

	fixture_source(f, "a/b/one", "1");
	fixture_source(f, "a/c/file", "2");
	fixture_source(f, "a/c/other", "3");
	fixture_source(f, "top", "4");
	fixture_source(f, "rest", "5");
	assert_int_equal(chmod(at(f, "a"), 0555), 0);
	f->input.paths = (struct iso_strv){paths, 3};
	assert_int_equal(fixture_shell(f, "cd /work; find . -type f | sort; stat -c %a a", &o), 0);
	assert_string_equal(o.out, "./a/b/one\n./a/c/file\n./top\n555\n");
	paths[1] = (char *)(uintptr_t) "gone";
	refused(f, "gone", "is not there");
}

static void descriptors_are_checked(void **state)
{
	struct iso_sandbox_handle *h;
	struct fixture *f = *state;
	int saved = f->input_fd;

	f->input_fd = open(f->source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fixture_create(f, &h), -EACCES);
	assert_string_equal(f->e.step, "snapshot");
	close(f->input_fd);
	f->input_fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fixture_create(f, &h), -ENOTDIR);
	close(f->input_fd);
	f->input_fd = saved;
	saved = f->host_fds[0];
	f->host_fds[0] = open("/usr", O_PATH | O_CLOEXEC);
	assert_int_equal(fixture_create(f, &h), -EACCES);
	assert_string_equal(f->e.step, "host-tree");
	close(f->host_fds[0]);
	f->host_fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fixture_create(f, &h), -EINVAL);
	close(f->host_fds[0]);
	f->host_fds[0] = saved;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(copy_keeps_content_modes_times_and_links),
		TEST(source_never_changes),
		TEST(holes_stay_holes),
		TEST(hard_links_become_files),
		TEST(read_only_input_is_read_only),
		TEST(special_files_are_refused_by_name),
		TEST(links_that_leave_are_refused),
		TEST(links_that_leave_by_other_links_are_refused),
		TEST(bounds_name_the_field_to_raise),
		TEST(callers_rights_decide),
		TEST(unprivileged_callers_copy_what_they_may),
		TEST(credentials_are_refused_unless_excused),
		TEST(only_named_paths_are_copied),
		TEST(descriptors_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
