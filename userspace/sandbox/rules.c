/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policy goes to the kernel side, rule by rule, and is asked back: what the kernel answers, put
 * into the policy's own words, must have the policy's own digest.
 */
#include "sandbox/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "sandbox/objects.h"

/* What hangs where; a second rule for one object is an alias when it says the same. */
struct installed {
	uint64_t device, inode;
	const struct iso_policy_rule *rule;
	uint32_t number;
	uint64_t name; /* hash, of rules on names; else 0 */
};

struct table {
	struct installed *rows;
	size_t count;
};

static int rule_error(struct iso_build *b, int r, enum iso_step step,
		      const struct iso_policy_rule *rule, const char *what)
{
	char path[300];

	iso_text_escape(rule->path, strlen(rule->path), path, sizeof path);
	return iso_error_set(b->e, r, iso_step_word(step), NULL, "%s: %s %s: %m",
			     rule->pointer ? rule->pointer : "policy", what, path);
}

static const struct installed *find(const struct table *t, const struct iso_object_at *o,
				    uint64_t name)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].device == o->device && t->rows[i].inode == o->inode &&
		    t->rows[i].name == name)
			return &t->rows[i];
	return NULL;
}

static uint64_t name_of(const struct iso_object_at *o)
{
	return o->missing ? iso_name_hash(o->name, strlen(o->name)) : 0;
}

static int install(struct iso_build *b, const struct iso_policy_rule *rule, uint32_t number,
		   const struct iso_object_at *o, const struct installed *before)
{
	/* a name is refused whatever the rights of the rule that it stands for */
	if (before && (o->missing || before->rule->rights == rule->rights))
		return 0;
	if (before)
		return iso_step_error(b, -EEXIST, RULES, "give it one rule",
				      "%s and %s give one object different rights",
				      before->rule->pointer ? before->rule->pointer : "policy",
				      rule->pointer ? rule->pointer : "policy");
	if (!b->q->kernel)
		return 0;
	return o->missing ? iso_kernel_add_name(b->q->kernel, b->q->sandbox, o->fd, o->name, number)
			  : iso_kernel_add_rule(b->q->kernel, b->q->sandbox, o->fd, rule->rights,
						number);
}

static int install_one(struct iso_build *b, struct table *t, size_t i)
{
	const struct iso_policy_rule *rule = &b->q->policy->rules[i];
	const struct installed *before;
	struct iso_object_at o;
	int r;

	r = iso_object_open(b, rule, &o);
	if (r == -ELOOP)
		return iso_step_error(b, r, RULES, "name the real path",
				      "%s: a symbolic link is on the way to %s",
				      rule->pointer ? rule->pointer : "policy", rule->path);
	if (r < 0)
		return rule_error(b, r, ISO_STEP_RULES, rule, "cannot open");
	before = find(t, &o, name_of(&o));
	r = install(b, rule, (uint32_t)i + 1, &o, before);
	close(o.fd);
	if (r < 0)
		return b->e && b->e->step[0] ? r
					     : rule_error(b, r, ISO_STEP_RULES, rule,
							  "the kernel side does not take");
	if (!before)
		t->rows[t->count++] = (struct installed){
			.device = o.device,
			.inode = o.inode,
			.rule = rule,
			.number = (uint32_t)i + 1,
			.name = name_of(&o),
		};
	return 0;
}

static int install_absent(struct iso_build *b, size_t i)
{
	const struct iso_policy_rule *rule = &b->q->policy->rules[i];
	int r = iso_object_exists(b, rule->path);

	if (r > 0)
		return iso_step_error(b, -EEXIST, ABSENT, "remove it from what the sandbox shows",
				      "%s: %s exists inside",
				      rule->pointer ? rule->pointer : "policy", rule->path);
	if (r < 0)
		return rule_error(b, r, ISO_STEP_ABSENT, rule, "cannot look for");
	if (b->q->kernel)
		r = iso_kernel_add_absent(b->q->kernel, b->q->sandbox, rule->path, (uint32_t)i + 1);
	return r < 0 ? rule_error(b, r, ISO_STEP_ABSENT, rule, "the kernel side does not take") : 0;
}

/* Asks for one rule; *ret_rights is what the kernel holds, or the rule's own where a name stands.
 */
static int ask_one(struct iso_build *b, const struct table *t, size_t i, uint32_t *ret_rights)
{
	const struct iso_policy_rule *rule = &b->q->policy->rules[i];
	const struct installed *there;
	struct iso_object_at o;
	uint32_t number = 0;
	int r;

	*ret_rights = rule->rights;
	if (rule->kind == ISO_RULE_ABSENT) {
		r = iso_kernel_ask_absent(b->q->kernel, b->q->sandbox, rule->path, &number);
		return r < 0 ? r : number == i + 1 ? 0 : -ESTALE;
	}
	r = iso_object_open(b, rule, &o);
	if (r < 0)
		return r;
	there = find(t, &o, name_of(&o));
	r = o.missing ? iso_kernel_ask_name(b->q->kernel, b->q->sandbox, o.fd, o.name, &number)
		      : iso_kernel_ask_rule(b->q->kernel, b->q->sandbox, o.fd, ret_rights, &number);
	close(o.fd);
	if (r < 0)
		return r;
	return there && there->number == number ? 0 : -ESTALE;
}

static int read_back(struct iso_build *b, const struct table *t)
{
	const struct iso_policy *p = b->q->policy;
	ISO_AUTO_FREE uint32_t *rights = calloc(p->rule_count + 1, sizeof *rights);
	struct iso_account account;
	struct iso_sandbox answer;
	int r;

	ISO_FAULT_POINT(b, READ_BACK);
	if (!rights)
		return iso_step_error(b, -ENOMEM, READ_BACK, NULL, "%m");
	if (!b->q->kernel) {
		memcpy(b->h->digest, p->digest, sizeof b->h->digest);
		return 0;
	}
	for (size_t i = 0; i < p->rule_count; i++) {
		r = ask_one(b, t, i, &rights[i]);
		if (r < 0)
			return rule_error(b, r, ISO_STEP_READ_BACK, &p->rules[i],
					  "the kernel side does not hold");
	}
	r = iso_kernel_ask_sandbox(b->q->kernel, b->q->sandbox, &answer);
	if (r >= 0)
		r = iso_kernel_ask_account(b->q->kernel, b->q->sandbox, &account);
	if (r < 0)
		return iso_step_error(b, r, READ_BACK, NULL, "the kernel side does not answer: %m");
	if (answer.label_failed || answer.cgroup != b->h->cgroup_id || answer.flags != p->flags ||
	    account.rate != b->q->manifest->limits.events_per_second)
		return iso_step_error(
			b, -ESTALE, READ_BACK, NULL,
			"the kernel side holds another cgroup, other flags, or a task "
			"without label");
	r = iso_policy_digest(p, rights, b->h->digest);
	if (r < 0)
		return iso_step_error(b, r, READ_BACK, NULL, "cannot digest the policy: %m");
	if (memcmp(b->h->digest, p->digest, sizeof p->digest))
		return iso_step_error(b, -ESTALE, READ_BACK, NULL,
				      "the kernel side holds other rules than the policy");
	return 0;
}

/*
 * Files of /proc that lie under a cover: reading one is refused, and said with the number of the
 * rule that shows /proc.
 */
static int install_mask(struct iso_build *b)
{
	const struct iso_policy *p = b->q->policy;
	int r = 0;

	for (size_t i = 0; r == 0 && b->q->kernel && i < p->rule_count; i++)
		if (p->rules[i].kind == ISO_RULE_TREE && !strcmp(p->rules[i].path, "/proc"))
			r = iso_kernel_add_rule(b->q->kernel, b->q->sandbox, b->mask_fd, 0,
						(uint32_t)i + 1);
	return r < 0 ? iso_step_error(b, r, RULES, NULL, "cannot close the covers of /proc: %m")
		     : 0;
}

int iso_rules_install(struct iso_build *b)
{
	const struct iso_policy *p = b->q->policy;
	ISO_AUTO_FREE struct installed *rows = calloc(p->rule_count + 1, sizeof *rows);
	struct table t = {.rows = rows};
	int r;

	ISO_FAULT_POINT(b, ABSENT);
	if (!rows)
		return iso_step_error(b, -ENOMEM, RULES, NULL, "%m");
	r = install_mask(b);
	for (size_t i = 0; r == 0 && i < p->rule_count; i++) {
		if (p->rules[i].kind == ISO_RULE_ABSENT)
			r = install_absent(b, i);
	}
	if (r < 0)
		return r;
	ISO_FAULT_POINT(b, RULES);
	for (size_t i = 0; r == 0 && i < p->rule_count; i++) {
		if (p->rules[i].kind != ISO_RULE_ABSENT)
			r = install_one(b, &t, i);
		if (r == 0)
			r = iso_build_alive(b);
		if (r == -ECANCELED || r == -ETIMEDOUT)
			return iso_step_error(b, r, RULES, NULL, "%m while rules were installed");
	}
	return r < 0 ? r : read_back(b, &t);
}
