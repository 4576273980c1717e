/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manifest -> trees and rules. The trees come first, in mount order. A rule stands wherever rights
 * change: at each tree's root, at execute and deny entries inside trees, at protected paths and at
 * every directory between a tree's root and a protected path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iso_abi.h"
#include "manifest/syscalls.h"
#include "policy/path.h"
#include "policy/policy.h"
#include "policy/strings.h"

#define STEP		"policy"
#define ABSENT_PATH_MAX 255 /* the kernel side looks at so many bytes of what was asked for */
#define NAME_MAX_BYTES	255

struct compiler {
	const struct iso_manifest *m;
	struct iso_policy *p;
	struct iso_strings *strings;
	struct iso_error *e;
	size_t tree_room, rule_room;
};

static int no_memory(struct compiler *c)
{
	return iso_error_set(c->e, -ENOMEM, STEP, "free some memory and try again",
			     "no memory for the policy");
}

static int add_tree(struct compiler *c, struct iso_tree tree)
{
	struct iso_policy *p = c->p;

	if (!tree.path)
		return no_memory(c);
	if (p->tree_count == c->tree_room) {
		size_t room = c->tree_room ? c->tree_room * 2 : 32;
		struct iso_tree *more = realloc(p->trees, room * sizeof *more);

		if (!more)
			return no_memory(c);
		p->trees = more;
		c->tree_room = room;
	}
	p->trees[p->tree_count++] = tree;
	return 0;
}

static int add_rule(struct compiler *c, struct iso_policy_rule rule)
{
	struct iso_policy *p = c->p;

	if (!rule.path || !rule.pointer)
		return no_memory(c);
	if (p->rule_count == ISO_POLICY_RULES_MAX)
		return iso_error_set(c->e, -E2BIG, STEP, "name fewer or larger subtrees",
				     "the manifest makes more than %u rules", ISO_POLICY_RULES_MAX);
	if (p->rule_count == c->rule_room) {
		size_t room = c->rule_room ? c->rule_room * 2 : 64;
		struct iso_policy_rule *more = realloc(p->rules, room * sizeof *more);

		if (!more)
			return no_memory(c);
		p->rules = more;
		c->rule_room = room;
	}
	p->rules[p->rule_count++] = rule;
	return 0;
}

/* The deepest tree that shows a path, or NULL. */
static const struct iso_tree *tree_of(const struct compiler *c, const char *path)
{
	const struct iso_tree *best = NULL;

	for (size_t i = 0; i < c->p->tree_count; i++) {
		const struct iso_tree *t = &c->p->trees[i];

		if (iso_path_within(path, t->path) &&
		    (!best || strlen(t->path) > strlen(best->path)))
			best = t;
	}
	return best;
}

/* May anything in this tree be executed at all? */
static bool tree_may_execute(const struct compiler *c, enum iso_tree_kind kind, size_t index)
{
	switch (kind) {
	case ISO_TREE_HOST:
		return true;
	case ISO_TREE_INPUT:
		return c->m->profile == ISO_PROFILE_BUILD ||
		       !c->m->filesystem.inputs[index].writable;
	case ISO_TREE_SCRATCH:
		return c->m->filesystem.scratch[index].execute;
	default:
		return false;
	}
}

/* With no execute list, the entry command alone; it counts only when it is named by its path. */
static size_t execute_count(const struct compiler *c)
{
	if (c->m->process.execute.count)
		return c->m->process.execute.count;
	return c->m->task.command.count && c->m->task.command.items[0][0] == '/';
}

static const char *execute_item(const struct compiler *c, size_t i)
{
	return c->m->process.execute.count ? c->m->process.execute.items[i]
					   : c->m->task.command.items[0];
}

static const char *execute_pointer(struct compiler *c, size_t i)
{
	if (!c->m->process.execute.count)
		return "/task/command/0";
	return iso_strings_add(&c->strings, "/process/execute/%zu", i);
}

static bool executable_at(const struct compiler *c, const struct iso_tree *t, const char *path)
{
	if (!t || !tree_may_execute(c, t->kind, t->index))
		return false;
	for (size_t i = 0; i < execute_count(c); i++)
		if (iso_path_within(path, execute_item(c, i)))
			return true;
	return false;
}

/* What the manifest grants at a path, protection and denial apart. */
static uint32_t rights_at(const struct compiler *c, const char *path)
{
	const struct iso_tree *t = tree_of(c, path);
	uint32_t rights = ISO_READ;

	if (t && t->writable)
		rights |= ISO_WRITE | ISO_MAKE;
	if (executable_at(c, t, path))
		rights |= ISO_EXEC;
	return rights;
}

static int compare_trees(const void *a, const void *b)
{
	return strcmp(((const struct iso_tree *)a)->path, ((const struct iso_tree *)b)->path);
}

/* A tree is mounted executable when an execute entry lies in it or above it. */
static void mark_executable(struct compiler *c)
{
	for (size_t i = 0; i < c->p->tree_count; i++) {
		struct iso_tree *t = &c->p->trees[i];

		if (!tree_may_execute(c, t->kind, t->index))
			continue;
		for (size_t k = 0; k < execute_count(c); k++)
			if (iso_path_within(execute_item(c, k), t->path) ||
			    iso_path_within(t->path, execute_item(c, k)))
				t->executable = true;
	}
}

static int make_trees(struct compiler *c)
{
	static const struct iso_tree own[] = {
		{.kind = ISO_TREE_PROC, .path = "/proc"},
		{.kind = ISO_TREE_DEV, .path = "/dev"},
		{.kind = ISO_TREE_ETC, .path = "/etc"},
	};
	const struct iso_manifest *m = c->m;
	int r = 0;

	for (size_t i = 0; !r && i < sizeof own / sizeof *own; i++)
		r = add_tree(c, own[i]);
	for (size_t i = 0; !r && i < m->filesystem.root_host.count; i++)
		r = add_tree(c, (struct iso_tree){.kind = ISO_TREE_HOST,
						  .path = m->filesystem.root_host.items[i],
						  .index = i});
	for (size_t i = 0; !r && i < m->filesystem.input_count; i++)
		r = add_tree(c, (struct iso_tree){.kind = ISO_TREE_INPUT,
						  .path = m->filesystem.inputs[i].target,
						  .index = i,
						  .writable = m->filesystem.inputs[i].writable});
	for (size_t i = 0; !r && i < m->filesystem.scratch_count; i++)
		r = add_tree(c, (struct iso_tree){.kind = ISO_TREE_SCRATCH,
						  .path = m->filesystem.scratch[i].path,
						  .index = i,
						  .writable = true});
	if (r)
		return r;
	qsort(c->p->trees, c->p->tree_count, sizeof *c->p->trees, compare_trees);
	for (size_t i = 1; i < c->p->tree_count; i++)
		if (!strcmp(c->p->trees[i].path, c->p->trees[i - 1].path))
			return iso_error_set(c->e, -EINVAL, STEP,
					     "name the parts of it that are needed instead",
					     "two trees lie at %s", c->p->trees[i].path);
	mark_executable(c);
	return 0;
}

/* What every sandbox has, whatever its manifest says. */
static int make_own_rules(struct compiler *c)
{
	static const struct {
		const char *path;
		uint32_t rights;
	} own[] = {
		{"/", ISO_READ},
		{"/dev/full", ISO_READ | ISO_WRITE},
		{"/dev/null", ISO_READ | ISO_WRITE},
		{"/dev/pts", ISO_READ | ISO_WRITE},
		{"/dev/random", ISO_READ | ISO_WRITE},
		{"/dev/shm", ISO_READ | ISO_WRITE | ISO_MAKE},
		{"/dev/tty", ISO_READ | ISO_WRITE},
		{"/dev/urandom", ISO_READ | ISO_WRITE},
		{"/dev/zero", ISO_READ | ISO_WRITE},
	};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof own / sizeof *own; i++)
		r = add_rule(c, (struct iso_policy_rule){.kind = ISO_RULE_PATH,
							 .path = own[i].path,
							 .rights = own[i].rights,
							 .pointer = ""});
	return r;
}

static const char *tree_pointer(struct compiler *c, const struct iso_tree *t)
{
	switch (t->kind) {
	case ISO_TREE_HOST:
		return iso_strings_add(&c->strings, "/filesystem/root/host/%zu", t->index);
	case ISO_TREE_INPUT:
		return iso_strings_add(&c->strings, "/filesystem/inputs/%zu", t->index);
	case ISO_TREE_SCRATCH:
		return iso_strings_add(&c->strings, "/filesystem/scratch/%zu", t->index);
	default:
		return "";
	}
}

static int make_tree_rules(struct compiler *c)
{
	int r = 0;

	for (size_t i = 0; !r && i < c->p->tree_count; i++) {
		const struct iso_tree *t = &c->p->trees[i];
		uint32_t rights = rights_at(c, t->path);

		/* /proc is judged by name on top of this (bpf/judge.bpf.h) */
		if (t->kind == ISO_TREE_PROC)
			rights |= ISO_WRITE;
		r = add_rule(c, (struct iso_policy_rule){.kind = ISO_RULE_TREE,
							 .path = t->path,
							 .rights = rights,
							 .pointer = tree_pointer(c, t)});
	}
	return r;
}

static const struct iso_policy_rule *rule_at(const struct compiler *c, const char *path)
{
	for (size_t i = 0; i < c->p->rule_count; i++) {
		const struct iso_policy_rule *r = &c->p->rules[i];

		if (r->kind != ISO_RULE_NAME && r->kind != ISO_RULE_ABSENT &&
		    !strcmp(r->path, path))
			return r;
	}
	return NULL;
}

/* Is the path within one that was closed or protected before? Then nothing more can be said. */
static bool settled(const struct compiler *c, const char *path)
{
	for (size_t i = 0; i < c->p->rule_count; i++) {
		const struct iso_policy_rule *r = &c->p->rules[i];

		if ((r->kind == ISO_RULE_PROTECT || (r->kind == ISO_RULE_PATH && !r->rights)) &&
		    iso_path_within(path, r->path))
			return true;
	}
	return false;
}

static int make_deny_rules(struct compiler *c)
{
	const struct iso_strv *deny = &c->m->filesystem.deny;
	int r = 0;

	for (size_t i = 0; !r && i < deny->count; i++) {
		if (rule_at(c, deny->items[i]))
			return iso_error_set(c->e, -EINVAL, STEP,
					     "leave the tree out, or deny a part of it",
					     "%s is denied and granted at once", deny->items[i]);
		if (settled(c, deny->items[i]))
			continue;
		r = add_rule(
			c, (struct iso_policy_rule){.kind = ISO_RULE_PATH,
						    .path = deny->items[i],
						    .pointer = iso_strings_add(
							    &c->strings, "/filesystem/deny/%zu", i),
						    .may_be_missing = true});
	}
	return r;
}

/* Every directory between the target and the protected path keeps its own entry. */
static int hold_ancestors(struct compiler *c, const char *target, const char *path,
			  const char *pointer)
{
	size_t from = strlen(target) + 1;
	int r = 0;

	for (const char *slash = strchr(path + from, '/'); !r && slash;
	     slash = strchr(slash + 1, '/')) {
		const char *above = iso_strings_add(&c->strings, "%.*s", (int)(slash - path), path);

		if (!above)
			return no_memory(c);
		if (rule_at(c, above))
			continue;
		r = add_rule(c, (struct iso_policy_rule){.kind = ISO_RULE_HELD,
							 .path = above,
							 .rights = rights_at(c, above),
							 .pointer = pointer,
							 .may_be_missing = true});
	}
	return r;
}

static int compare_lengths(const void *a, const void *b)
{
	size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);

	return x < y ? -1 : x > y;
}

/* Shorter paths first, so that what lies in a protected directory needs no rule of its own. */
static int make_protect_rules(struct compiler *c, size_t input)
{
	const struct iso_input *in = &c->m->filesystem.inputs[input];
	char **sorted;
	int r = 0;

	if (!in->writable || !in->protect.count)
		return 0;
	sorted = malloc(in->protect.count * sizeof *sorted);
	if (!sorted)
		return no_memory(c);
	memcpy(sorted, in->protect.items, in->protect.count * sizeof *sorted);
	qsort(sorted, in->protect.count, sizeof *sorted, compare_lengths);
	for (size_t i = 0; !r && i < in->protect.count; i++) {
		const char *pointer =
			iso_strings_add(&c->strings, "/filesystem/inputs/%zu/protect", input);
		const char *path = iso_strings_add(&c->strings, "%s/%s", in->target, sorted[i]);

		if (!path || !pointer) {
			r = no_memory(c);
			break;
		}
		if (!settled(c, path))
			r = hold_ancestors(c, in->target, path, pointer);
		if (!r && !settled(c, path) && !rule_at(c, path))
			r = add_rule(c, (struct iso_policy_rule){.kind = ISO_RULE_PROTECT,
								 .path = path,
								 .rights = rights_at(c, path) &
									   (ISO_READ | ISO_EXEC),
								 .pointer = pointer,
								 .may_be_missing = true});
	}
	free(sorted);
	return r;
}

/* Execute entries inside a tree: where they begin, the rights change. */
static int make_execute_rules(struct compiler *c)
{
	int r = 0;

	for (size_t i = 0; !r && i < execute_count(c); i++) {
		const char *path = execute_item(c, i);
		const struct iso_tree *t = tree_of(c, path);

		if (!t || !executable_at(c, t, path) || rule_at(c, path) || settled(c, path))
			continue;
		r = add_rule(c, (struct iso_policy_rule){.kind = ISO_RULE_PATH,
							 .path = path,
							 .rights = rights_at(c, path),
							 .pointer = execute_pointer(c, i)});
	}
	return r;
}

static int make_absent_rules(struct compiler *c)
{
	const struct iso_strv *absent = &c->m->filesystem.assert_absent;
	int r = 0;

	for (size_t i = 0; !r && i < absent->count; i++) {
		if (strlen(absent->items[i]) > ABSENT_PATH_MAX)
			return iso_error_set(c->e, -EINVAL, STEP, "name an ancestor of it",
					     "an assert_absent path is longer than %d bytes",
					     ABSENT_PATH_MAX);
		r = add_rule(c, (struct iso_policy_rule){
					.kind = ISO_RULE_ABSENT,
					.path = absent->items[i],
					.pointer = iso_strings_add(
						&c->strings, "/filesystem/assert_absent/%zu", i)});
	}
	return r;
}

/* No file system can hold a longer component, and no name rule could be checked for it. */
static int check_names(struct compiler *c)
{
	for (size_t i = 0; i < c->p->rule_count; i++) {
		const char *at = c->p->rules[i].path;

		while ((at = strchr(at, '/')) != NULL) {
			at++;
			if (strcspn(at, "/") > NAME_MAX_BYTES)
				return iso_error_set(
					c->e, -EINVAL, STEP, "shorten the name",
					"a name in a rule's path is longer than %d bytes",
					NAME_MAX_BYTES);
		}
	}
	return 0;
}

static int make_rules(struct compiler *c)
{
	int r = make_own_rules(c);

	if (!r)
		r = make_tree_rules(c);
	if (!r)
		r = make_deny_rules(c);
	for (size_t i = 0; !r && i < c->m->filesystem.input_count; i++)
		r = make_protect_rules(c, i);
	if (!r)
		r = make_execute_rules(c);
	if (!r)
		r = make_absent_rules(c);
	return r ? r : check_names(c);
}

int iso_policy_compile(const struct iso_manifest *m, struct iso_policy **ret, struct iso_error *e)
{
	struct compiler c = {.m = m, .e = e};
	int r;

	c.p = calloc(1, sizeof *c.p);
	if (!c.p)
		return no_memory(&c);
	c.p->manifest = m;
	if (m->loopback_private)
		c.p->flags |= ISO_SB_LOOPBACK;
	if (m->process.syscalls == ISO_SYSCALLS_BUILD)
		c.p->flags |= ISO_SB_ANON_EXEC;
	for (size_t i = 0; i < m->process.syscalls_allow.count; i++)
		if (iso_syscall_of_uring(m->process.syscalls_allow.items[i]))
			c.p->flags |= ISO_SB_URING;
	r = make_trees(&c);
	if (!r)
		r = make_rules(&c);
	c.p->strings = c.strings;
	if (!r)
		r = iso_policy_digest(c.p, NULL, c.p->digest);
	if (r) {
		iso_policy_free(c.p);
		return r;
	}
	*ret = c.p;
	return 0;
}

void iso_policy_free(struct iso_policy *p)
{
	if (!p)
		return;
	iso_strings_free(p->strings);
	free(p->trees);
	free(p->rules);
	free(p);
}
