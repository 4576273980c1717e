/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of the kernel side as words: made from its own tables (iso_hooks.def, iso_reasons.def).
 */
#ifndef ISO_EVENT_NAMES_H
#define ISO_EVENT_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum iso_hook_category {
	ISO_CATEGORY_FILE,
	ISO_CATEGORY_EXEC,
	ISO_CATEGORY_NET,
	ISO_CATEGORY_PROC,
	ISO_CATEGORY_SURFACE,
};

struct iso_hook_name {
	uint32_t number;
	const char *name; /* the kernel's own: "file_open" */
	enum iso_hook_category category;
	const char *verb; /* for people: "remove", "map-executable"... */
};

struct iso_reason_name {
	uint32_t number;
	const char *word;
	const char *sentence;
};

/* NULL: no such number. */
const struct iso_hook_name *iso_hook_find(uint32_t number);
const struct iso_reason_name *iso_reason_find(uint32_t number);
/* All rows of iso_hooks.def, for tests. */
const struct iso_hook_name *iso_hook_rows(size_t *ret_count);

/* The activity_id of File System Activity for a hook of category FILE; 99 (Other) without one. */
int iso_hook_file_activity(uint32_t hook);

/* What the task tried, told from the rights it asked for where the hook alone does not say it. */
const char *iso_hook_verb(uint32_t hook, uint32_t wanted);

/* "EACCES"; "0" for 0 and a number for one without a name. `scratch` holds the latter. */
const char *iso_errno_name(int error, char scratch[16]);

#endif
