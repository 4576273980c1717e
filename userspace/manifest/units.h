/* SPDX-License-Identifier: BSD-2-Clause */
/* Quantities as the manifest writes them. Every function: 0, -EINVAL (not one), -ERANGE. */
#ifndef ISO_MANIFEST_UNITS_H
#define ISO_MANIFEST_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define ISO_KIB (1ull << 10)
#define ISO_MIB (1ull << 20)
#define ISO_GIB (1ull << 30)
#define ISO_TIB (1ull << 40)

int iso_size_parse(const char *s, uint64_t *ret_bytes);		   /* "512MiB" */
int iso_rate_parse(const char *s, uint64_t *ret_bytes_per_second); /* "10MiB/s" */
int iso_time_parse(const char *s, uint64_t *ret_ms);		   /* "30m" */
int iso_umask_parse(const char *s, uint32_t *ret);		   /* "022" */
int iso_cpus_milli(double cpus, uint64_t *ret_milli);

/* The shortest exact form in the same notation. Returns out. */
char *iso_size_format(uint64_t bytes, char *out, size_t size);
char *iso_time_format(uint64_t ms, char *out, size_t size);

#endif
