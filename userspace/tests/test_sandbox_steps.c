/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each step fails once: the error names it, and nothing of the sandbox is left. Then the rules'
 * objects, the covers and pins, and giving up.
 */
#include "test_sandbox_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static int setup(void **state)
{
	int r = fixture_setup(state);

	if (r == 0)
		fixture_input(*state);
	return r;
}

static void every_step_is_undone(void **state)
{
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;
	int before;

	fixture_source(f, "a", "x");
	/* whatever a first creation keeps for the process */
	assert_int_equal(fixture_create(f, &h), 0);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
	before = fixture_open_descriptors();
	for (uint32_t s = 1; s < ISO_STEP_MAX; s++) {
		const char *word = iso_step_word(s);
		int r;

		/* what only the kernel side, or a rule, leads to */
		if (s == ISO_STEP_LAUNCHER || s == ISO_STEP_PIN || s == ISO_STEP_PROTECT)
			continue;
		setenv("ISO_FAULT", word, 1);
		r = fixture_create(f, &h);
		unsetenv("ISO_FAULT");
		if (r == 0)
			fail_msg("the step %s has no fault point", word);
		if (strcmp(f->e.step, word))
			fail_msg("%s failed, the error says %s: %s", word, f->e.step, f->e.message);
		if (fixture_leftovers(f) || fixture_open_descriptors() != before)
			fail_msg("%s failed and left something behind", word);
	}
	assert_int_equal(fixture_create(f, &h), 0);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
}

static void cancelled_and_late_creations_are_undone(void **state)
{
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;

	assert_int_equal(write(f->cancel[1], "x", 1), 1);
	assert_int_equal(fixture_create(f, &h), -ECANCELED);
	assert_int_equal(read(f->cancel[0], (char[1]){0}, 1), 1);
	f->q.argv = (char *const[]){(char *)(uintptr_t) "true", NULL};
	f->q.deadline_ns = 1;
	assert_int_equal(iso_sandbox_create_seamed(&f->q, &f->seams, &h, &f->e), -ETIMEDOUT);
	assert_int_equal(fixture_leftovers(f), 0);
}

static void production_has_no_seams(void **state)
{
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;

	f->q.argv = (char *const[]){(char *)(uintptr_t) "true", NULL};
	f->q.deadline_ns = UINT64_MAX;
	assert_int_equal(iso_sandbox_create(&f->q, &h, &f->e), -EINVAL);
	assert_string_equal(f->e.step, "request");
}

static void names_of_cgroups_are_plain(void **state)
{
	static const char *const bad[] = {"", ".", "..", "a/b", "../x", "a b", "x\n", NULL};
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;

	for (size_t i = 0; bad[i]; i++) {
		f->q.name = bad[i];
		assert_int_equal(fixture_create(f, &h), -EINVAL);
		assert_string_equal(f->e.step, "request");
	}
	f->q.name = NULL;
	assert_int_equal(fixture_create(f, &h), -EINVAL);
}

static void two_sandboxes_have_two_slots(void **state)
{
	struct iso_sandbox_handle *a = NULL, *b = NULL;
	struct fixture *f = *state;
	char other[64];

	assert_int_equal(fixture_create(f, &a), 0);
	assert_true(fixture_create(f, &b) < 0); /* the cgroup is taken */
	assert_string_equal(f->e.step, "cgroup");
	snprintf(other, sizeof other, "%s-b", f->name);
	f->q.name = other;
	assert_int_equal(fixture_create(f, &b), 0);
	assert_int_not_equal(a->base, b->base);
	assert_int_equal(iso_sandbox_destroy(a, &f->e), 0);
	assert_int_equal(iso_sandbox_destroy(b, &f->e), 0);
}

static void protected_paths_are_read_only_and_pinned(void **state)
{
	struct fixture *f = *state;
	struct outcome o;

	fixture_source(f, ".git/config", "x");
	fixture_source(f, ".git/hooks/sample", "x");
	fixture_rule(f, ISO_RULE_HELD, "/work/.git");
	fixture_rule(f, ISO_RULE_PROTECT, "/work/.git/hooks")->may_be_missing = true;
	fixture_rule(f, ISO_RULE_PROTECT, "/work/.git/config")->may_be_missing = true;
	fixture_rule(f, ISO_RULE_PROTECT, "/work/.vscode/x")->may_be_missing = true;
	fixture_rule(f, ISO_RULE_PATH, "/usr/bin/env")->rights = ISO_READ | ISO_EXEC;
	assert_int_equal(
		fixture_shell(f,
			      "cd /work; for p in .git/config .git/hooks/sample .git/hooks/new;"
			      " do (echo y >$p) 2>/dev/null && echo wrote $p; done;"
			      "mv .git/hooks h 2>/dev/null && echo moved;"
			      "rm .git/config 2>/dev/null && echo removed;"
			      "echo z >.git/index && echo ok; /usr/bin/env true && echo ran",
			      &o),
		0);
	assert_string_equal(o.out, "ok\nran\n");
}

static void links_on_the_way_to_a_rule_are_refused(void **state)
{
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;
	char path[512];

	fixture_source(f, "real/config", "x");
	snprintf(path, sizeof path, "%s/.git", f->source);
	assert_int_equal(symlink("real", path), 0);
	fixture_rule(f, ISO_RULE_PROTECT, "/work/.git/config")->may_be_missing = true;
	assert_int_equal(fixture_create(f, &h), -ELOOP);
	assert_string_equal(f->e.step, "rules");
	assert_int_equal(fixture_leftovers(f), 0);
}

static void rules_that_disagree_about_an_object_are_refused(void **state)
{
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;

	fixture_source(f, "a", "x");
	fixture_rule(f, ISO_RULE_PATH, "/work/a")->rights = ISO_READ;
	fixture_rule(f, ISO_RULE_PATH, "/work/a")->rights = ISO_READ;
	assert_int_equal(fixture_create(f, &h), 0);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
	f->rules[1].rights = ISO_READ | ISO_WRITE;
	assert_int_equal(fixture_create(f, &h), -EEXIST);
	assert_string_equal(f->e.step, "rules");
}

static void missing_objects_are_refused_unless_they_may_be(void **state)
{
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;

	fixture_rule(f, ISO_RULE_PATH, "/work/gone/deep");
	assert_int_equal(fixture_create(f, &h), -ENOENT);
	assert_string_equal(f->e.step, "rules");
	f->rules[0].may_be_missing = true;
	assert_int_equal(fixture_create(f, &h), 0);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
}

static void absent_paths_must_be_absent(void **state)
{
	struct iso_sandbox_handle *h = NULL;
	struct fixture *f = *state;

	fixture_rule(f, ISO_RULE_ABSENT, "/root");
	fixture_rule(f, ISO_RULE_ABSENT, "/etc/shadow");
	assert_int_equal(fixture_create(f, &h), 0);
	assert_int_equal(iso_sandbox_destroy(h, &f->e), 0);
	f->rules[1].path = "/bin/sh"; /* behind a link */
	assert_int_equal(fixture_create(f, &h), -EEXIST);
	assert_string_equal(f->e.step, "assert-absent");
	assert_int_equal(fixture_leftovers(f), 0);
}

/* Storage below storage, and below /etc. */
static void trees_lie_in_trees(void **state)
{
	struct iso_scratch two[2];
	struct fixture *f = *state;
	struct outcome o;

	fixture_source(f, "a", "x");
	two[0] = f->scratch;
	two[1] = (struct iso_scratch){
		.path = (char *)(uintptr_t) "/work/build/out", .size = 1 << 20, .inodes = 16};
	f->m.filesystem.scratch = two;
	f->m.filesystem.scratch_count = 2;
	fixture_tree(f, ISO_TREE_SCRATCH, "/work/build/out")->index = 1;
	fixture_host_tree(f, "/etc/alternatives");
	assert_int_equal(
		fixture_shell(f,
			      "echo 1 >/work/build/out/x && cat /work/a /work/build/out/x;"
			      "stat -c %u /work/build; [ -L /etc/alternatives/awk ] && echo alt",
			      &o),
		0);
	assert_string_equal(o.out, "x1\n1000\nalt\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_step_is_undone),
		TEST(cancelled_and_late_creations_are_undone),
		TEST(production_has_no_seams),
		TEST(names_of_cgroups_are_plain),
		TEST(two_sandboxes_have_two_slots),
		TEST(protected_paths_are_read_only_and_pinned),
		TEST(links_on_the_way_to_a_rule_are_refused),
		TEST(rules_that_disagree_about_an_object_are_refused),
		TEST(missing_objects_are_refused_unless_they_may_be),
		TEST(absent_paths_must_be_absent),
		TEST(trees_lie_in_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
