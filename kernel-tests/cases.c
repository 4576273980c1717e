/* SPDX-License-Identifier: BSD-2-Clause */
#include "cases.h"

#include <errno.h>

#include "iso_abi.h"

/* The tables name these where a refusal owes no event, or no object. */
#define QUIET		   "", "", ""
/* A row of cases.def or uring.def has no control outside, and no decider of its own. */
#define NO_OPERATION	   NULL, "", 0, 0
#define NEWER_SINCE(since) NULL, "", since, 0

#define KIND_FILE    "file"
#define KIND_EXEC    "exec"
#define KIND_NET     "network"
#define REFUSED_CALL "kernel seccomp system-call"

const struct iso_kernel_case iso_case_rows[] = {
#define ALLOW(variant, name, action) {#variant, name, action, 0, QUIET, NO_OPERATION},
#define DENY(variant, name, action, error, event, object, rule) \
	{#variant, name, action, error, event, object, rule, NO_OPERATION},
#define SILENT(variant, name, action, error) {#variant, name, action, error, QUIET, NO_OPERATION},
#define ALLOW_SINCE(variant, name, since, action) \
	{#variant, name, action, 0, QUIET, NEWER_SINCE(since)},
#define DENY_SINCE(variant, name, since, action, error, event, object, rule) \
	{#variant, name, action, error, event, object, rule, NEWER_SINCE(since)},
#include "cases.def"
#include "uring.def"
#undef ALLOW
#undef DENY
#undef SILENT
#undef ALLOW_SINCE
#undef DENY_SINCE

#define OPERATION(decider, why, outside) decider, why, 0, outside
#define BY_HOOK(variant, name, kind, hook, reason, error, object, rule, action, outside) \
	{#variant,                                                                       \
	 name,                                                                           \
	 action,                                                                         \
	 error,                                                                          \
	 KIND_##kind " " #hook " " reason,                                               \
	 object,                                                                         \
	 rule,                                                                           \
	 OPERATION(#hook, "", outside)},
#define BY_HOOKS(variant, name, kind, hook, older, reason, error, object, rule, action, outside) \
	{#variant,                                                                               \
	 name,                                                                                   \
	 action,                                                                                 \
	 error,                                                                                  \
	 KIND_##kind " " #hook "|" #older " " reason,                                            \
	 object,                                                                                 \
	 rule,                                                                                   \
	 OPERATION(#hook, "", outside)},
#define BY_MOUNT(variant, name, object, rule, action, outside) \
	{#variant,                                             \
	 name,                                                 \
	 action,                                               \
	 EROFS,                                                \
	 "file read_only read-only-mount",                     \
	 object,                                               \
	 rule,                                                 \
	 OPERATION("mount", "", outside)},
#define BY_FILTER(variant, name, error, object, action, outside) \
	{#variant,     name,   action, error,                    \
	 REFUSED_CALL, object, "none", OPERATION("filter", "", outside)},
#define QUIETLY(variant, name, decider, error, why, action, outside) \
	{#variant, name, action, error, QUIET, OPERATION(decider, why, outside)},
#include "operations.def"
#undef BY_HOOK
#undef BY_HOOKS
#undef BY_MOUNT
#undef BY_FILTER
#undef QUIETLY
};
const size_t iso_case_count = sizeof iso_case_rows / sizeof *iso_case_rows;

/* Each hook that operations.def names has a row in iso_hooks.def, or this does not compile. */
#define BY_HOOK(variant, name, kind, hook, ...) \
	_Static_assert(ISO_HOOK_##hook > 0, "the decider of " name);
#define BY_HOOKS(variant, name, kind, hook, older, ...) \
	_Static_assert(ISO_HOOK_##hook > 0 && ISO_HOOK_##older > 0, "the decider of " name);
#define BY_MOUNT(...)
#define BY_FILTER(...)
#define QUIETLY(...)
#include "operations.def"
