/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both compilers must lay the shared structures out alike: every size and the offsets that matter.
 */
#ifndef ISO_ABI_CHECK_H
#define ISO_ABI_CHECK_H

#define ISO_AT(type, field, offset) \
	_Static_assert(__builtin_offsetof(struct type, field) == (offset), #type "." #field)
#define ISO_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)

ISO_SIZE(iso_label, 48);
ISO_AT(iso_label, exec, 8);
ISO_AT(iso_label, role, 16);
ISO_SIZE(iso_sandbox, 56);
ISO_AT(iso_sandbox, state, 48);
ISO_AT(iso_sandbox, flags, 52);
ISO_SIZE(iso_account, 56);
ISO_AT(iso_account, collapsed, 16);
ISO_SIZE(iso_tally, 1080);
ISO_SIZE(iso_rule_key, 16);
ISO_SIZE(iso_rule, 16);
ISO_SIZE(iso_object, 16);
ISO_SIZE(iso_name, 16);
ISO_SIZE(iso_name_key, 24);
ISO_SIZE(iso_absent_key, 16);
ISO_SIZE(iso_command, 32);
ISO_AT(iso_command, sandbox, 8);
ISO_AT(iso_command, value, 16);
ISO_AT(iso_command, arg, 24);
ISO_SIZE(iso_inquiry, 272);
ISO_AT(iso_inquiry, arg, 24);
ISO_AT(iso_inquiry, answer, 32);
ISO_AT(iso_inquiry, account, 88);
ISO_AT(iso_inquiry, window, 144);
ISO_SIZE(iso_event_path, 520);
ISO_AT(iso_event_path, area, 8);
ISO_SIZE(iso_event, 1192);
ISO_AT(iso_event, kind, 48);
ISO_AT(iso_event, family, 96);
ISO_AT(iso_event, address, 104);
ISO_AT(iso_event, comm, 120);
ISO_AT(iso_event, slot, 136);
ISO_AT(iso_event, before, 144);
ISO_AT(iso_event, path, 152);
ISO_AT(iso_event, path2, 672);
ISO_SIZE(iso_found, 44);
ISO_SIZE(iso_tamper, 168);
ISO_AT(iso_tamper, hook, 32);
ISO_AT(iso_tamper, name, 72);
ISO_AT(iso_tamper, exe, 104);

#undef ISO_AT
#undef ISO_SIZE

#endif
