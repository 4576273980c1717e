/* SPDX-License-Identifier: BSD-2-Clause */
#include "iso_abi.h"
#include "policy/policy.h"

uint64_t iso_name_hash(const char *s, size_t n)
{
	uint64_t h = ISO_HASH_SEED;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * ISO_HASH_PRIME;
	return h;
}
