/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "iso_abi.h"
#include "policy/policy.h"

/* manifest texts are not const; nothing here writes them */
#define S(text) ((char *)(text))
#define RW	(ISO_READ | ISO_WRITE | ISO_MAKE)

static char *host[] = {S("/bin"), S("/usr")};
static char *protect[] = {S(".git/hooks"), S(".git/config"), S("deep/er/file"), S(".git")};
static char *execute[] = {S("/usr"), S("/work"), S("/scratch/run")};
static char *deny[] = {S("/usr/share/private")};
static char *absent[] = {S("/root")};
static struct iso_input input = {
	.source = S("/srv/x"), .target = S("/work"), .writable = true, .protect = {protect, 4}};
static struct iso_scratch scratch[] = {
	{.path = S("/tmp")},
	{.path = S("/scratch"), .execute = true},
};

static struct iso_manifest manifest(void)
{
	struct iso_manifest m = {.profile = ISO_PROFILE_BUILD};

	m.filesystem.root_host = (struct iso_strv){host, 2};
	m.filesystem.inputs = &input;
	m.filesystem.input_count = 1;
	m.filesystem.scratch = scratch;
	m.filesystem.scratch_count = 2;
	m.filesystem.deny = (struct iso_strv){deny, 1};
	m.filesystem.assert_absent = (struct iso_strv){absent, 1};
	m.process.execute = (struct iso_strv){execute, 3};
	return m;
}

static struct iso_policy *compile(const struct iso_manifest *m)
{
	struct iso_policy *p = NULL;
	struct iso_error e = {0};

	assert_int_equal(iso_policy_compile(m, &p, &e), 0);
	return p;
}

static uint32_t rights(const struct iso_policy *p, const char *path)
{
	const struct iso_policy_rule *r = iso_policy_decide(p, path);

	assert_non_null(r);
	return r->rights;
}

static void the_deepest_rule_decides(void **state)
{
	struct iso_manifest m = manifest();
	struct iso_policy *p = compile(&m);

	(void)state;
	assert_int_equal(rights(p, "/"), ISO_READ);
	assert_int_equal(rights(p, "/nowhere"), ISO_READ);
	assert_int_equal(rights(p, "/usr/bin/cc"), ISO_READ | ISO_EXEC);
	assert_int_equal(rights(p, "/usr/share/private/x"), 0);
	assert_int_equal(rights(p, "/usr/share/privateer"), ISO_READ | ISO_EXEC);
	assert_int_equal(rights(p, "/work/a"), RW | ISO_EXEC);
	assert_int_equal(rights(p, "/tmp/a"), RW);
	assert_int_equal(rights(p, "/scratch/a"), RW);
	assert_int_equal(rights(p, "/scratch/run/a"), RW | ISO_EXEC);
	assert_int_equal(rights(p, "/work/.git/config"), ISO_READ | ISO_EXEC);
	assert_int_equal(rights(p, "/work/.gitignore"), RW | ISO_EXEC);
	assert_int_equal(rights(p, "/dev/null"), ISO_READ | ISO_WRITE);
	assert_int_equal(rights(p, "/dev/sda"), ISO_READ);
	assert_int_equal(rights(p, "/etc/passwd"), ISO_READ);
	iso_policy_free(p);
}

static const struct iso_policy_rule *find(const struct iso_policy *p, enum iso_rule_kind kind,
					  const char *path)
{
	for (size_t i = 0; i < p->rule_count; i++)
		if (p->rules[i].kind == kind && !strcmp(p->rules[i].path, path))
			return &p->rules[i];
	return NULL;
}

static void protected_paths_hold_their_ancestors(void **state)
{
	struct iso_manifest m = manifest();
	struct iso_policy *p = compile(&m);

	(void)state;
	assert_non_null(find(p, ISO_RULE_PROTECT, "/work/.git"));
	/* within a protected directory there is nothing left to say */
	assert_null(find(p, ISO_RULE_PROTECT, "/work/.git/config"));
	assert_null(find(p, ISO_RULE_HELD, "/work/.git"));
	assert_non_null(find(p, ISO_RULE_PROTECT, "/work/deep/er/file"));
	assert_non_null(find(p, ISO_RULE_HELD, "/work/deep"));
	assert_non_null(find(p, ISO_RULE_HELD, "/work/deep/er"));
	assert_int_equal(find(p, ISO_RULE_HELD, "/work/deep")->rights, RW | ISO_EXEC);
	assert_string_equal(find(p, ISO_RULE_HELD, "/work/deep")->pointer,
			    "/filesystem/inputs/0/protect");
	assert_null(find(p, ISO_RULE_HELD, "/work"));
	iso_policy_free(p);
}

static void a_read_only_input_needs_no_protection(void **state)
{
	struct iso_manifest m = manifest();
	struct iso_policy *p;

	(void)state;
	input.writable = false;
	p = compile(&m);
	input.writable = true;
	assert_null(find(p, ISO_RULE_PROTECT, "/work/.git"));
	assert_int_equal(rights(p, "/work/x"), ISO_READ | ISO_EXEC);
	iso_policy_free(p);
}

static void trees_come_parents_first_and_executable_where_needed(void **state)
{
	struct iso_manifest m = manifest();
	struct iso_policy *p = compile(&m);

	(void)state;
	for (size_t i = 1; i < p->tree_count; i++)
		assert_true(strcmp(p->trees[i - 1].path, p->trees[i].path) < 0);
	for (size_t i = 0; i < p->tree_count; i++) {
		const struct iso_tree *t = &p->trees[i];
		bool expected = !strcmp(t->path, "/usr") || !strcmp(t->path, "/work") ||
				!strcmp(t->path, "/scratch");

		assert_int_equal(t->executable, expected);
	}
	iso_policy_free(p);
}

static void only_the_entry_command_without_an_execute_list(void **state)
{
	static char *command[] = {S("/usr/bin/true"), S("x")};
	struct iso_manifest m = manifest();
	struct iso_policy *p;

	(void)state;
	m.process.execute.count = 0;
	m.task.command = (struct iso_strv){command, 2};
	p = compile(&m);
	assert_int_equal(rights(p, "/usr/bin/true"), ISO_READ | ISO_EXEC);
	assert_int_equal(rights(p, "/usr/bin/false"), ISO_READ);
	assert_int_equal(rights(p, "/work/x"), RW);
	assert_string_equal(iso_policy_decide(p, "/usr/bin/true")->pointer, "/task/command/0");
	iso_policy_free(p);
}

static void execute_profile_keeps_writable_trees_unexecutable(void **state)
{
	struct iso_manifest m = manifest();
	struct iso_policy *p;

	(void)state;
	m.profile = ISO_PROFILE_EXECUTE;
	p = compile(&m);
	assert_int_equal(rights(p, "/work/x"), RW);
	iso_policy_free(p);
}

static void the_digest_tells_every_difference(void **state)
{
	struct iso_manifest m = manifest();
	struct iso_policy *a = compile(&m), *b = compile(&m), *c;
	uint8_t digest[ISO_POLICY_DIGEST];
	uint32_t answered[64];

	(void)state;
	assert_memory_equal(a->digest, b->digest, sizeof a->digest);
	m.loopback_private = true;
	c = compile(&m);
	assert_memory_not_equal(a->digest, c->digest, sizeof a->digest);
	assert_true(a->rule_count < 64);
	for (size_t i = 0; i < a->rule_count; i++)
		answered[i] = a->rules[i].rights;
	assert_int_equal(iso_policy_digest(a, answered, digest), 0);
	assert_memory_equal(a->digest, digest, sizeof digest);
	answered[3] ^= ISO_WRITE;
	assert_int_equal(iso_policy_digest(a, answered, digest), 0);
	assert_memory_not_equal(a->digest, digest, sizeof digest);
	iso_policy_free(a);
	iso_policy_free(b);
	iso_policy_free(c);
}

static void what_cannot_be_expressed_is_refused(void **state)
{
	static char long_path[400], *items[] = {long_path}, *etc[] = {S("/etc")},
				    *usr[] = {S("/usr")};
	struct iso_manifest m = manifest();
	struct iso_policy *p = NULL;
	struct iso_error e = {0};

	(void)state;
	memset(long_path, 'a', sizeof long_path - 1);
	long_path[0] = '/';
	m.filesystem.assert_absent = (struct iso_strv){items, 1};
	assert_int_equal(iso_policy_compile(&m, &p, &e), -EINVAL);
	assert_non_null(strstr(e.message, "assert_absent"));
	m = manifest();
	m.filesystem.root_host = (struct iso_strv){etc, 1};
	assert_int_equal(iso_policy_compile(&m, &p, &e), -EINVAL);
	assert_non_null(strstr(e.message, "/etc"));
	m = manifest();
	m.filesystem.deny = (struct iso_strv){usr, 1};
	assert_int_equal(iso_policy_compile(&m, &p, &e), -EINVAL);
	assert_non_null(strstr(e.message, "/usr"));
	m = manifest();
	m.process.execute = (struct iso_strv){items, 1};
	snprintf(long_path, 6, "%s", "/usr/");
	long_path[5] = 'b';
	assert_int_equal(iso_policy_compile(&m, &p, &e), -EINVAL);
	assert_null(p);
}

static void ten_thousand_rules_fit_and_no_more(void **state)
{
	static char *items[ISO_POLICY_RULES_MAX];
	static char names[ISO_POLICY_RULES_MAX][24];
	struct iso_manifest m = {0};
	struct iso_policy *p = NULL;
	struct iso_error e = {0};
	size_t own;

	(void)state;
	p = compile(&m);
	own = p->rule_count;
	iso_policy_free(p);
	p = NULL;
	for (size_t i = 0; i < ISO_POLICY_RULES_MAX; i++) {
		snprintf(names[i], sizeof names[i], "/absent/%zu", i);
		items[i] = names[i];
	}
	m.filesystem.assert_absent = (struct iso_strv){items, ISO_POLICY_RULES_MAX - own};
	p = compile(&m);
	assert_int_equal(p->rule_count, ISO_POLICY_RULES_MAX);
	iso_policy_free(p);
	p = NULL;
	m.filesystem.assert_absent.count++;
	assert_int_equal(iso_policy_compile(&m, &p, &e), -E2BIG);
	assert_non_null(strstr(e.message, "10000"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_deepest_rule_decides),
		cmocka_unit_test(protected_paths_hold_their_ancestors),
		cmocka_unit_test(a_read_only_input_needs_no_protection),
		cmocka_unit_test(trees_come_parents_first_and_executable_where_needed),
		cmocka_unit_test(only_the_entry_command_without_an_execute_list),
		cmocka_unit_test(execute_profile_keeps_writable_trees_unexecutable),
		cmocka_unit_test(the_digest_tells_every_difference),
		cmocka_unit_test(what_cannot_be_expressed_is_refused),
		cmocka_unit_test(ten_thousand_rules_fit_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
