/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/names.h"

#include <stdio.h>
#include <string.h>

#include "iso_abi.h"

#define ISO_ACTIVITY_OTHER 99

static const struct iso_hook_name hook_rows[] = {
#define ISO_HOOK(number, name, category, presence, verb) \
	{number, #name, ISO_CATEGORY_##category, verb},
#include "iso_hooks.def"
#undef ISO_HOOK
};

static const struct iso_reason_name reason_rows[] = {
#define ISO_REASON(number, name, word, sentence) {number, word, sentence},
#include "iso_reasons.def"
#undef ISO_REASON
};

/*
 * Which OCSF activity a file hook is; the other categories have one each. Numbers of File System
 * Activity: schema.ocsf.io/1.8.0/classes/file_activity.
 */
static const struct {
	uint32_t hook;
	int activity;
} file_activities[] = {
	{ISO_HOOK_file_open, 14},	 {ISO_HOOK_file_receive, 14},
	{ISO_HOOK_absent, 14},		 {ISO_HOOK_read_only, 14},
	{ISO_HOOK_path_mknod, 1},	 {ISO_HOOK_path_mkdir, 1},
	{ISO_HOOK_path_symlink, 1},	 {ISO_HOOK_path_link, 1},
	{ISO_HOOK_path_notify, 2},	 {ISO_HOOK_file_truncate, 3},
	{ISO_HOOK_path_truncate, 3},	 {ISO_HOOK_file_lock, 3},
	{ISO_HOOK_path_unlink, 4},	 {ISO_HOOK_path_rmdir, 4},
	{ISO_HOOK_path_rename, 5},	 {ISO_HOOK_file_ioctl, 6},
	{ISO_HOOK_file_ioctl_compat, 6}, {ISO_HOOK_path_chown, 6},
	{ISO_HOOK_inode_setattr, 6},	 {ISO_HOOK_inode_setxattr, 6},
	{ISO_HOOK_inode_removexattr, 6}, {ISO_HOOK_inode_file_setattr, 6},
	{ISO_HOOK_path_chmod, 7},	 {ISO_HOOK_inode_set_acl, 7},
	{ISO_HOOK_inode_remove_acl, 7},
};

const struct iso_hook_name *iso_hook_rows(size_t *ret_count)
{
	*ret_count = sizeof hook_rows / sizeof *hook_rows;
	return hook_rows;
}

const struct iso_hook_name *iso_hook_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof hook_rows / sizeof *hook_rows; i++)
		if (hook_rows[i].number == number)
			return &hook_rows[i];
	return NULL;
}

const struct iso_reason_name *iso_reason_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof reason_rows / sizeof *reason_rows; i++)
		if (reason_rows[i].number == number)
			return &reason_rows[i];
	return NULL;
}

int iso_hook_file_activity(uint32_t hook)
{
	for (size_t i = 0; i < sizeof file_activities / sizeof *file_activities; i++)
		if (file_activities[i].hook == hook)
			return file_activities[i].activity;
	return ISO_ACTIVITY_OTHER;
}

const char *iso_hook_verb(uint32_t hook, uint32_t wanted)
{
	const struct iso_hook_name *row = iso_hook_find(hook);

	if (!row)
		return "unknown";
	if (hook != ISO_HOOK_file_open)
		return row->verb;
	if (wanted & ISO_EXEC)
		return "open-for-execute";
	if (wanted & (ISO_WRITE | ISO_MAKE))
		return "open-for-write";
	return wanted & ISO_READ ? "open-for-read" : row->verb;
}

const char *iso_errno_name(int error, char scratch[16])
{
	const char *name = strerrorname_np(error);

	if (name)
		return name;
	snprintf(scratch, 16, "%d", error);
	return scratch;
}
