/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/hash.h"

#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void round_once(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

/* Words are read as little-endian, as on the one architecture that this is built for. */
uint64_t iso_siphash13(const uint64_t key[2], const void *data, size_t n)
{
	uint64_t v[4] = {0x736f6d6570736575 ^ key[0], 0x646f72616e646f6d ^ key[1],
			 0x6c7967656e657261 ^ key[0], 0x7465646279746573 ^ key[1]};
	const unsigned char *p = data;
	uint64_t word = 0, last = (uint64_t)n << 56;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		v[3] ^= word;
		round_once(v);
		v[0] ^= word;
	}
	for (size_t i = 0; i < n; i++)
		last |= (uint64_t)p[i] << (8 * i);
	v[3] ^= last;
	round_once(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		round_once(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t iso_keyed_hash(const void *data, size_t n)
{
	static uint64_t key[2];
	static bool drawn;

	/* Cannot fail for 16 bytes once the pool is ready; before that it waits (getrandom(2)). */
	while (!drawn)
		drawn = getrandom(key, sizeof key, 0) == (ssize_t)sizeof key;
	return iso_siphash13(key, data, n);
}
