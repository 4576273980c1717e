/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/syscalls.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
#define ISO_SYSCALL(name) #name,
#include "iso_syscalls.inc"
	NULL};

#define PROFILE_BOTH   3
#define PROFILE_STRICT 1

static const struct {
	unsigned profiles;
	const char *name;
} optional[] = {
#define OPTIONAL(profiles, name) {PROFILE_##profiles, name},
#include "manifest/syscalls.def"
#undef OPTIONAL
};

static const char strict_list[] =
#define OPTIONAL(profiles, name) name ", "
#include "manifest/syscalls.def"
#undef OPTIONAL
	"nothing else";

static const char build_list[] =
#define IN_BOTH(name) name ", "
#define IN_STRICT(name)
#define OPTIONAL(profiles, name) IN_##profiles(name)
#include "manifest/syscalls.def"
#undef OPTIONAL
	"nothing else";

bool iso_syscall_known(const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

bool iso_syscall_optional(const char *profile, const char *name)
{
	unsigned bit = strcmp(profile, "build") ? 1 : 2;

	for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
		if ((optional[i].profiles & bit) && !strcmp(optional[i].name, name))
			return true;
	return false;
}

const char *iso_syscall_optional_list(const char *profile)
{
	return strcmp(profile, "build") ? strict_list : build_list;
}
