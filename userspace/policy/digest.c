/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "iso_abi.h"
#include "policy/policy.h"

/* Texts are length-prefixed: no path can look like the end of a line. */
static int line(EVP_MD_CTX *md, const struct iso_policy_rule *rule, size_t number, uint32_t rights)
{
	const char *name = rule->name ? rule->name : "";
	char head[96];
	int n = snprintf(head, sizeof head, "rule %zu %d %u %zu %zu\n", number, (int)rule->kind,
			 (unsigned)rights, strlen(rule->path), strlen(name));

	return EVP_DigestUpdate(md, head, (size_t)n) &&
	       EVP_DigestUpdate(md, rule->path, strlen(rule->path)) &&
	       EVP_DigestUpdate(md, name, strlen(name));
}

int iso_policy_digest(const struct iso_policy *p, const uint32_t *rights,
		      uint8_t ret[ISO_POLICY_DIGEST])
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	char head[64];
	int ok, n = snprintf(head, sizeof head, "isoctl-policy %u %u %zu\n", ISO_ABI_VERSION,
			     (unsigned)p->flags, p->rule_count);

	ok = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL) &&
	     EVP_DigestUpdate(md, head, (size_t)n);
	for (size_t i = 0; ok && i < p->rule_count; i++)
		ok = line(md, &p->rules[i], i + 1, rights ? rights[i] : p->rules[i].rights);
	ok = ok && EVP_DigestFinal_ex(md, ret, NULL);
	EVP_MD_CTX_free(md);
	return ok ? 0 : -ENOMEM;
}
