/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{"KiB", ISO_KIB}, {"MiB", ISO_MIB}, {"GiB", ISO_GIB}, {"TiB", ISO_TIB}, {NULL, 0}};
static const struct unit rates[] = {
	{"KiB/s", ISO_KIB}, {"MiB/s", ISO_MIB}, {"GiB/s", ISO_GIB}, {"TiB/s", ISO_TIB}, {NULL, 0}};
static const struct unit times[] = {
	{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {NULL, 0}};

/* An integer without sign, spaces or leading zeros, directly followed by one of the units. */
static int quantity(const char *s, const struct unit *units, uint64_t *ret)
{
	size_t digits = strspn(s, "0123456789");
	uint64_t n = 0;
	int r = 0;

	if (digits == 0 || (digits > 1 && s[0] == '0'))
		return -EINVAL;
	for (size_t i = 0; i < digits; i++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(s[i] - '0'), &n))
			r = -ERANGE;
	for (; units->name; units++)
		if (!strcmp(s + digits, units->name))
			break;
	if (!units->name)
		return -EINVAL;
	if (r || __builtin_mul_overflow(n, units->factor, &n))
		return -ERANGE;
	*ret = n;
	return 0;
}

int iso_size_parse(const char *s, uint64_t *ret_bytes)
{
	return quantity(s, sizes, ret_bytes);
}

int iso_rate_parse(const char *s, uint64_t *ret_bytes_per_second)
{
	return quantity(s, rates, ret_bytes_per_second);
}

int iso_time_parse(const char *s, uint64_t *ret_ms)
{
	return quantity(s, times, ret_ms);
}

int iso_umask_parse(const char *s, uint32_t *ret)
{
	size_t n = strlen(s);
	uint32_t v = 0;

	if (n < 3 || n > 4 || strspn(s, "01234567") != n)
		return -EINVAL;
	for (; *s; s++)
		v = v << 3 | (uint32_t)(*s - '0');
	if (v > 0777)
		return -ERANGE;
	*ret = v;
	return 0;
}

int iso_cpus_milli(double cpus, uint64_t *ret_milli)
{
	double milli = cpus * 1000;

	if (!(milli >= 0 && milli < 1e9)) /* false for NaN too */
		return -ERANGE;
	*ret_milli = (uint64_t)(milli + 0.5);
	return 0;
}

static char *format(uint64_t n, const struct unit *units, const char *plain, char *out, size_t size)
{
	const struct unit *best = NULL;

	for (; units->name; units++)
		if (n && n % units->factor == 0)
			best = units;
	if (best)
		snprintf(out, size, "%llu%s", (unsigned long long)(n / best->factor), best->name);
	else
		snprintf(out, size, "%llu%s", (unsigned long long)n, plain);
	return out;
}

char *iso_size_format(uint64_t bytes, char *out, size_t size)
{
	return format(bytes, sizes, "", out, size);
}

char *iso_time_format(uint64_t ms, char *out, size_t size)
{
	return format(ms, times, "ms", out, size);
}
