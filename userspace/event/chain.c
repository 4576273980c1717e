/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one-shot functions of OpenSSL 3 load a provider first, which costs a process that starts in
 * under a millisecond more than all the rest of it; the plain functions link SHA-256 alone.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "event/chain.h"

#include <openssl/sha.h>

void iso_chain_hash(const void *line, size_t n, char out[ISO_CHAIN_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char hash[SHA256_DIGEST_LENGTH];
	SHA256_CTX sha;

	SHA256_Init(&sha);
	SHA256_Update(&sha, line, n);
	SHA256_Final(hash, &sha);
	for (size_t i = 0; i < sizeof hash; i++) {
		out[2 * i] = digits[hash[i] >> 4];
		out[2 * i + 1] = digits[hash[i] & 15];
	}
	out[2 * sizeof hash] = '\0';
}
