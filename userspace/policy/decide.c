/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/path.h"
#include "policy/policy.h"

/* As the kernel's walk: the rule nearest to the object, whatever order the table is in. */
const struct iso_policy_rule *iso_policy_decide(const struct iso_policy *p, const char *path)
{
	const struct iso_policy_rule *best = NULL;

	for (size_t i = 0; i < p->rule_count; i++) {
		const struct iso_policy_rule *r = &p->rules[i];

		if (r->kind == ISO_RULE_NAME || r->kind == ISO_RULE_ABSENT)
			continue;
		if (iso_path_within(path, r->path) &&
		    (!best || strlen(r->path) > strlen(best->path)))
			best = r;
	}
	return best;
}
