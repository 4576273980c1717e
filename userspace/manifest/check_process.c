/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory, working directory, system calls. */
#include <stdio.h>
#include <string.h>

#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/places.h"
#include "manifest/syscalls.h"
#include "manifest/units.h"

#define SPARE (64 * ISO_MIB) /* for the task itself; MANIFEST.md, Checking */

static uint64_t sum_of(struct iso_check *c, const char *list, uint64_t sum)
{
	json_t *rows = iso_get_list(c, NULL, list), *row;
	uint64_t size;
	size_t i;

	json_array_foreach (rows, i, row) {
		const char *storage = iso_get_text(c, row, "/storage");

		if ((storage && strcmp(storage, "memory")) ||
		    iso_as_size(iso_get(c, row, "/size"), &size))
			continue;
		if (__builtin_add_overflow(sum, size, &sum))
			return UINT64_MAX - SPARE;
	}
	return sum;
}

static void check_memory(struct iso_check *c)
{
	uint64_t memory, sum = 0;
	char has[32], needs[32], least[32];

	if (iso_as_size(iso_get(c, NULL, "/process/limits/memory"), &memory))
		return;
	sum = sum_of(c, "/filesystem/inputs", sum);
	sum = sum_of(c, "/filesystem/scratch", sum);
	if (sum > UINT64_MAX - SPARE)
		sum = UINT64_MAX - SPARE;
	if (!sum || sum + SPARE <= memory)
		return;
	iso_report(c, "/process/limits/memory", MEMORY_SUM,
		   iso_size_format(sum, needs, sizeof needs),
		   iso_size_format(memory, has, sizeof has),
		   iso_size_format((sum + SPARE + ISO_MIB - 1) / ISO_MIB * ISO_MIB, least,
				   sizeof least));
}

/* Is it a directory of the sandbox: in a tree, or on the way to one, or made for it? */
static bool visible(struct iso_check *c, const char *path)
{
	if (iso_shown_of(c, path) || iso_path_within(path, "/proc") ||
	    iso_path_within(path, "/dev"))
		return true;
	if (!strcmp(path, "/") || !strcmp(path, "/etc"))
		return true;
	for (size_t i = 0; i < c->shown_count; i++)
		if (iso_path_within(c->shown[i].path, path))
			return true;
	return false;
}

static void check_directory(struct iso_check *c)
{
	const char *path = iso_get_path(c, NULL, "/process/directory");

	if (path && !visible(c, path))
		iso_report(c, "/process/directory", DIRECTORY_INVISIBLE, path);
}

static bool named(json_t *list, const char *name, size_t before)
{
	for (size_t i = 0; i < json_array_size(list) && i < before; i++) {
		const char *other = json_string_value(json_array_get(list, i));

		if (other && !strcmp(other, name))
			return true;
	}
	return false;
}

static void check_calls(struct iso_check *c, const char *pointer, bool allow)
{
	const char *profile = iso_get_text(c, NULL, "/process/syscalls/profile");
	json_t *allowed = iso_get_list(c, NULL, "/process/syscalls/allow");
	json_t *calls = iso_get_list(c, NULL, pointer), *v;
	size_t i;

	if (!profile)
		profile = "strict";
	json_array_foreach (calls, i, v) {
		const char *name = json_string_value(v), *at = iso_at(c, "%s/%zu", pointer, i);

		if (!name)
			continue;
		if (named(calls, name, i))
			iso_report(c, at, DUPLICATE, name);
		else if (!iso_syscall_known(name))
			iso_report(c, at, SYSCALL_UNKNOWN, name);
		else if (allow && !iso_syscall_optional(profile, name))
			iso_report(c, at, SYSCALL_OPTIONAL, name, profile,
				   iso_syscall_optional_list(profile));
		else if (!allow && named(allowed, name, SIZE_MAX))
			iso_report(c, at, SYSCALL_BOTH, name);
		else if (allow && iso_syscall_of_uring(name) &&
			 !named(calls, "io_uring_setup", SIZE_MAX))
			iso_report(c, at, SYSCALL_URING, name);
	}
}

/* What a ring does is no system call: a denied one would be done all the same. */
static void check_denied_and_ring(struct iso_check *c)
{
	json_t *allowed = iso_get_list(c, NULL, "/process/syscalls/allow");
	json_t *denied = iso_get_list(c, NULL, "/process/syscalls/deny");

	if (json_array_size(denied) && named(allowed, "io_uring_setup", SIZE_MAX))
		iso_report(c, "/process/syscalls/deny", SYSCALL_RING);
}

void iso_check_process(struct iso_check *c)
{
	check_memory(c);
	check_directory(c);
	check_calls(c, "/process/syscalls/allow", true);
	check_calls(c, "/process/syscalls/deny", false);
	check_denied_and_ring(c);
}
