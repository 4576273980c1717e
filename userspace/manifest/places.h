/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of a host that no sandbox may show, and those that every sandbox has (places.def). */
#ifndef ISO_MANIFEST_PLACES_H
#define ISO_MANIFEST_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Each answers for an absolute path, or one relative to an input: the reason, or NULL. A tree that
 * holds such a place counts as well as a path inside it.
 */
const char *iso_place_secret(const char *path);
/* The same without the trees that only may hold such a place, for one of many names in a tree. */
const char *iso_place_secret_itself(const char *path);
const char *iso_place_socket(const char *path);
bool iso_place_device(const char *path);
bool iso_place_kernel(const char *path);
bool iso_place_home(const char *path);

/* What is made for every sandbox: the place that `path` overlaps, or NULL. */
const char *iso_place_reserved(const char *path);

/* What a writable input protects unless the ceiling lifts it; ends in NULL. */
extern const char *const iso_always_protected[];

#endif
