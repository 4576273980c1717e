/* SPDX-License-Identifier: BSD-2-Clause */
/* A manifest against the ceiling: who, what only an operator may allow, and every bound. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "manifest/ceiling.h"
#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/read.h"
#include "manifest/syscalls.h"
#include "manifest/units.h"

static bool in_list(const struct iso_strv *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (iso_path_within(path, list->items[i]))
			return true;
	return false;
}

static bool may_call(const struct iso_ceiling *c, uid_t uid, const gid_t *gids, size_t gid_count)
{
	for (size_t i = 0; i < c->callers.user_count; i++)
		if (c->callers.users[i] == uid)
			return true;
	for (size_t i = 0; i < c->callers.group_count; i++)
		for (size_t k = 0; k < gid_count; k++)
			if (c->callers.groups[i] == gids[k])
				return true;
	return uid == 0;
}

static void check_caller(struct iso_check *k, const struct iso_ceiling *c, uid_t uid,
			 const gid_t *gids, size_t gid_count)
{
	char who[32];

	snprintf(who, sizeof who, "user %u", uid);
	if (!c && uid != 0)
		iso_report(k, "", CEILING_NONE);
	else if (c && !may_call(c, uid, gids, gid_count))
		iso_report(k, "", CEILING_CALLER, who);
}

/* Beyond the manifest's optional calls; without a ceiling nobody has allowed it. */
static void check_uring(struct iso_check *k, const struct iso_ceiling *c,
			const struct iso_manifest *m)
{
	for (size_t i = 0; i < m->process.syscalls_allow.count; i++)
		if (iso_syscall_of_uring(m->process.syscalls_allow.items[i]) &&
		    (!c || !c->io_uring))
			iso_report(k, iso_at(k, "/process/syscalls/allow/%zu", i),
				   CEILING_PERMISSION, m->process.syscalls_allow.items[i],
				   "io_uring");
}

static void check_permissions(struct iso_check *k, const struct iso_ceiling *c,
			      const struct iso_manifest *m)
{
	/* Every manifest of this version runs on this host's kernel, asked for or by default. */
	if (!c->shared_kernel)
		iso_report(k, "/host/runtime", CEILING_PERMISSION,
			   "tasks on this host's own kernel", "shared_kernel");
	if (m->process.daemons_contain && !c->contain_daemons)
		iso_report(k, "/process/daemons", CEILING_PERMISSION, "contain", "contain_daemons");
	for (size_t i = 0; i < m->filesystem.root_host.count; i++)
		if (!in_list(&c->host_root, m->filesystem.root_host.items[i]))
			iso_report(k, iso_at(k, "/filesystem/root/host/%zu", i), CEILING_ROOTS,
				   m->filesystem.root_host.items[i], "host_root");
	for (size_t i = 0; i < m->filesystem.input_count; i++)
		if (!in_list(&c->input_roots, m->filesystem.inputs[i].source))
			iso_report(k, iso_at(k, "/filesystem/inputs/%zu/source", i), CEILING_ROOTS,
				   m->filesystem.inputs[i].source, "input_roots");
}

static char *show(const json_t *v, char *out, size_t size)
{
	if (json_is_string(v))
		snprintf(out, size, "%s", json_string_value(v));
	else if (json_is_integer(v))
		snprintf(out, size, "%lld", (long long)json_integer_value(v));
	else
		snprintf(out, size, "%g", json_number_value(v));
	return out;
}

static void check_list(struct iso_check *k, const char *pointer, json_t *bound)
{
	json_t *list = iso_get(k, NULL, pointer), *v, *allowed;
	size_t i, n;

	json_array_foreach (list, i, v) {
		bool found = false;

		json_array_foreach (bound, n, allowed)
			found |= json_equal(v, allowed);
		if (!found)
			iso_report(k, iso_at(k, "%s/%zu", pointer, i), CEILING_BOUND,
				   json_string_value(v), "what the ceiling lists");
	}
}

/* One row of the ceiling that bounds the manifest's field of the same pointer. */
static void check_bound(struct iso_check *k, const struct iso_field *row, json_t *bound)
{
	struct iso_reader d = {.table = &iso_manifest_table, .root = k->root};
	json_t *v = iso_read_value(&d, k->root, row->pointer);
	char has[64], most[64];
	bool wider;

	if (row->type == ISO_TYPE_WORD)
		wider = v && iso_word_index(row->words, json_string_value(v)) >
				     iso_word_index(row->words, json_string_value(bound));
	else if (v)
		wider = iso_quantity(row->type, v) > iso_quantity(row->type, bound);
	else /* unbounded, but for the one whose absence means the ceiling's own value */
		wider = strcmp(row->pointer, "/limits/concurrent") != 0;
	if (wider)
		iso_report(k, row->pointer, CEILING_BOUND,
			   v ? show(v, has, sizeof has) : "no limit",
			   show(bound, most, sizeof most));
	json_decref(v);
	if (d.r)
		k->r = d.r;
}

static void check_bounds(struct iso_check *k, const struct iso_ceiling *c)
{
	for (size_t i = 0; i < iso_ceiling_table.count; i++) {
		const struct iso_field *row = &iso_ceiling_table.rows[i];
		json_t *bound = iso_read_at(c->private, row->pointer);

		if (!bound || row->type == ISO_TYPE_OBJECT ||
		    !iso_field_find(&iso_manifest_table, row->pointer, strlen(row->pointer)))
			continue;
		if (row->type == ISO_TYPE_LIST)
			check_list(k, row->pointer, bound);
		else
			check_bound(k, row, bound);
	}
}

int iso_ceiling_check(const struct iso_ceiling *c, const struct iso_manifest *m, uid_t uid,
		      const gid_t *gids, size_t gid_count, struct iso_findings *findings)
{
	struct iso_check k;
	int r;

	iso_check_again(&k, m);
	check_caller(&k, c, uid, gids, gid_count);
	if (c) {
		check_permissions(&k, c, m);
		check_bounds(&k, c);
	} else if (m->process.daemons_contain) {
		iso_report(&k, "/process/daemons", CEILING_PERMISSION, "contain",
			   "contain_daemons");
	}
	check_uring(&k, c, m);
	r = iso_check_finish(&k, findings);
	iso_check_release(&k);
	return r;
}
