/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plain functions of libcrypto: EVP reads a configuration file and starts an engine table
 * first, which takes isoctl three times as long as all the rest of its start.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

#include "iso_abi.h"
#include "policy/policy.h"

/* Texts are length-prefixed: no path can look like the end of a line. */
static void line(SHA256_CTX *sha, const struct iso_policy_rule *rule, size_t number,
		 uint32_t rights)
{
	const char *name = rule->name ? rule->name : "";
	char head[96];
	int n = snprintf(head, sizeof head, "rule %zu %d %u %zu %zu\n", number, (int)rule->kind,
			 (unsigned)rights, strlen(rule->path), strlen(name));

	SHA256_Update(sha, head, (size_t)n);
	SHA256_Update(sha, rule->path, strlen(rule->path));
	SHA256_Update(sha, name, strlen(name));
}

int iso_policy_digest(const struct iso_policy *p, const uint32_t *rights,
		      uint8_t ret[ISO_POLICY_DIGEST])
{
	SHA256_CTX sha;
	char head[64];
	int n = snprintf(head, sizeof head, "isoctl-policy %u %u %zu\n", ISO_ABI_VERSION,
			 (unsigned)p->flags, p->rule_count);

	SHA256_Init(&sha);
	SHA256_Update(&sha, head, (size_t)n);
	for (size_t i = 0; i < p->rule_count; i++)
		line(&sha, &p->rules[i], i + 1, rights ? rights[i] : p->rules[i].rights);
	SHA256_Final(ret, &sha);
	return 0;
}
