/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds the built BPF object against the headers that userspace is compiled with: layout of every
 * shared structure by BTF, programs against the rows of iso_hooks.def, maps against the rules of
 * iso_maps.bpf.h. Opens the object, loads nothing: runs anywhere.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "abi_types.skel.h"
#include "check.h"
#include "iso.skel.h"
#include "iso_abi.h"

static struct bpf_object *object;
static const struct btf *object_btf, *types_btf;

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* ---------------------------------------------------------------------------- structures */

struct field {
	const char *structure, *name;
	size_t offset, size;
};

struct structure {
	const char *name;
	size_t size;
};

static const struct field fields[] = {
#define ISO_ABI_STRUCT(structure_)
#define ISO_ABI_END(structure_)
#define ISO_ABI_FIELD(structure_, field_)                                     \
	{#structure_, #field_, __builtin_offsetof(struct structure_, field_), \
	 sizeof(((struct structure_ *)0)->field_)},
#include "abi_fields.def"
#undef ISO_ABI_STRUCT
#undef ISO_ABI_END
#undef ISO_ABI_FIELD
};

static const struct structure structures[] = {
#define ISO_ABI_STRUCT(structure_) {#structure_, sizeof(struct structure_)},
#define ISO_ABI_END(structure_)
#define ISO_ABI_FIELD(structure_, field_)
#include "abi_fields.def"
#undef ISO_ABI_STRUCT
#undef ISO_ABI_END
#undef ISO_ABI_FIELD
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

/* The structure in the object's own BTF, or in that of the type carrier. */
static const struct btf_type *find_structure(const char *name, const struct btf **ret)
{
	const struct btf *places[2] = {object_btf, types_btf};

	for (size_t i = 0; i < 2; i++) {
		int id = btf__find_by_name_kind(places[i], name, BTF_KIND_STRUCT);

		if (id > 0) {
			*ret = places[i];
			return btf__type_by_id(places[i], (uint32_t)id);
		}
	}
	return NULL;
}

static const struct field *find_field(const char *structure, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(fields[i].structure, structure) && !strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static size_t count_fields(const char *structure)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		n += !strcmp(fields[i].structure, structure);
	return n;
}

static void compare_structure(const struct structure *want)
{
	const struct btf *btf = NULL;
	const struct btf_type *t = find_structure(want->name, &btf);

	if (!t) {
		CHECK(t, "struct %s is in no BTF of ours", want->name);
		return;
	}
	CHECK(t->size == want->size, "struct %s: %u bytes in the object, %zu here", want->name,
	      t->size, want->size);
	CHECK(btf_vlen(t) == count_fields(want->name),
	      "struct %s: %u fields in the object, %zu rows in abi_fields.def", want->name,
	      btf_vlen(t), count_fields(want->name));
	for (uint16_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *member = btf_members(t) + i;
		const char *name = btf__name_by_offset(btf, member->name_off);
		const struct field *row = find_field(want->name, name);

		if (!CHECK(row, "struct %s: field %s has no row", want->name, name))
			continue;
		CHECK(btf_member_bit_offset(t, i) == row->offset * 8,
		      "%s.%s: at bit %u in the object, at byte %zu here", want->name, name,
		      btf_member_bit_offset(t, i), row->offset);
		CHECK(btf__resolve_size(btf, member->type) == (int64_t)row->size,
		      "%s.%s: %lld bytes in the object, %zu here", want->name, name,
		      (long long)btf__resolve_size(btf, member->type), row->size);
	}
}

static void structures_agree(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(structures); i++)
		compare_structure(&structures[i]);
}

/* ---------------------------------------------------------------------------- tables */

struct row {
	unsigned number;
	const char *name, *word, *text;
};

static const struct row hooks[] = {
#define ISO_HOOK(number_, name_, category_, presence_, operation_) \
	{number_, #name_, #presence_, operation_},
#include "iso_hooks.def"
#undef ISO_HOOK
};

static const struct row reasons[] = {
#define ISO_REASON(number_, name_, word_, sentence_) {number_, #name_, word_, sentence_},
#include "iso_reasons.def"
#undef ISO_REASON
};

static void rows_differ(const char *table, const struct row *rows, size_t count, bool words)
{
	for (size_t i = 0; i < count; i++) {
		CHECK(rows[i].number, "%s: %s has number 0", table, rows[i].name);
		CHECK(*rows[i].text, "%s: %s has no text", table, rows[i].name);
		for (size_t j = i + 1; j < count; j++) {
			CHECK(rows[i].number != rows[j].number, "%s: %s and %s share a number",
			      table, rows[i].name, rows[j].name);
			CHECK(strcmp(rows[i].name, rows[j].name) != 0, "%s: two rows %s", table,
			      rows[i].name);
			CHECK(!words || strcmp(rows[i].word, rows[j].word) != 0,
			      "%s: two rows say %s", table, rows[i].word);
		}
	}
}

static void hook_rows_are_unique(void)
{
	rows_differ("iso_hooks.def", hooks, ARRAY_SIZE(hooks), false);
}

static void reason_rows_are_unique(void)
{
	rows_differ("iso_reasons.def", reasons, ARRAY_SIZE(reasons), true);
}

/* ---------------------------------------------------------------------------- programs */

/* Programs that are not called after their row: further kernels, further entries to one hook. */
static const struct {
	const char *program, *row;
} variants[] = {
	{"iso_setattr_61", "inode_setattr"},
	{"iso_absent_72", "absent"},
	{"iso_read_only_fd", "read_only"},
	{"iso_create_failed", "read_only"},
};

/* Programs that decide nothing a task is told of. */
static const char *const without_row[] = {
	"iso_process_fork",    "iso_process_exit", "iso_task_free",   "iso_bprm_committed_creds",
	"iso_installer",       "iso_query",	   "iso_inode_free",  "iso_write_access",
	"iso_write_access_61", "iso_scan",	   "iso_ring_begins", "iso_ring_ends",
};

/* Rows whose program is no LSM program of that name. */
static const char *const probes[] = {"absent", "read_only", "sysctl"};

static bool listed(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

static const char *row_name(const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++)
		if (!strcmp(variants[i].program, program))
			return variants[i].row;
	return strncmp(program, "iso_", 4) ? program : program + 4;
}

static const struct row *find_hook(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(hooks[i].name, name))
			return &hooks[i];
	return NULL;
}

/* Each program has a row or is listed, and attaches where its name says. */
static void programs_have_rows(void)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, object) {
		const char *name = bpf_program__name(program), *row = row_name(name);
		const char *section = bpf_program__section_name(program);
		const char *place = strchr(section, '/');

		if (listed(without_row, ARRAY_SIZE(without_row), name)) {
			CHECK(!find_hook(row), "%s is listed as one without a row and has one",
			      name);
			continue;
		}
		if (!CHECK(find_hook(row), "program %s has no row in iso_hooks.def", name))
			continue;
		if (listed(probes, ARRAY_SIZE(probes), row))
			continue;
		CHECK(place && (!strncmp(section, "lsm/", 4) || !strncmp(section, "?lsm/", 5)) &&
			      !strcmp(place + 1, row),
		      "program %s is in section %s, not at the LSM hook %s", name, section, row);
	}
}

static unsigned programs_of(const char *row)
{
	struct bpf_program *program;
	unsigned n = 0;

	bpf_object__for_each_program (program, object)
		n += !strcmp(row_name(bpf_program__name(program)), row);
	return n;
}

static void rows_have_programs(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		unsigned want = strcmp(hooks[i].word, "NONE") != 0;

		for (size_t j = 0; j < ARRAY_SIZE(variants); j++)
			want += !strcmp(variants[j].row, hooks[i].name);
		CHECK_EQUAL(programs_of(hooks[i].name), want);
	}
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++)
		CHECK(bpf_object__find_program_by_name(object, variants[i].program),
		      "the object has no program %s", variants[i].program);
	for (size_t i = 0; i < ARRAY_SIZE(without_row); i++)
		CHECK(bpf_object__find_program_by_name(object, without_row[i]),
		      "the object has no program %s", without_row[i]);
}

/* ---------------------------------------------------------------------------- maps */

/* No .bss and no .data (a kept mapping stays writable), no name that the kernel would cut. */
/*
 * Clang leaves a variable's offset in its section to whoever loads the object, and libbpf 1.1 sets
 * it only where linkage is external: of two static ones in .rodata the kernel refuses the types.
 */
static void one_constant_is_static(void)
{
	int section = btf__find_by_name_kind(object_btf, ".rodata", BTF_KIND_DATASEC);
	const struct btf_type *t = btf__type_by_id(object_btf, (__u32)section), *variable;
	const struct btf_var_secinfo *in;
	unsigned n = 0;

	REQUIRE(section > 0 && t, "the object has no .rodata");
	in = btf_var_secinfos(t);
	for (int i = 0; i < btf_vlen(t); i++) {
		variable = btf__type_by_id(object_btf, in[i].type);
		n += !variable || btf_var(variable)->linkage == BTF_VAR_STATIC;
	}
	CHECK(n <= 1, "%u static constants, which the kernel refuses", n);
}

static void maps_keep_to_the_rules(void)
{
	struct bpf_map *map;
	unsigned n = 0;

	bpf_object__for_each_map (map, object) {
		const char *name = bpf_map__name(map);

		if (strstr(name, ".rodata"))
			continue;
		n++;
		CHECK(!strncmp(name, "iso_", 4), "map %s is not one of iso_maps.bpf.h", name);
		CHECK(strlen(name) <= 15, "map name %s is over 15 characters", name);
		if (bpf_map__type(map) == BPF_MAP_TYPE_HASH)
			CHECK(bpf_map__map_flags(map) & 1, "map %s is preallocated", name);
	}
	CHECK(n, "the object has no map");
}

static const struct iso_case cases[] = {
	{"abi-structures", structures_agree},
	{"abi-hook-rows", hook_rows_are_unique},
	{"abi-reason-rows", reason_rows_are_unique},
	{"abi-programs-have-rows", programs_have_rows},
	{"abi-rows-have-programs", rows_have_programs},
	{"abi-constants", one_constant_is_static},
	{"abi-maps", maps_keep_to_the_rules},
};

int main(int argc, char **argv)
{
	struct abi_types_bpf *types;
	struct iso_bpf *skeleton;
	int r;

	libbpf_set_print(print_nothing);
	skeleton = iso_bpf__open();
	types = abi_types_bpf__open();
	if (!skeleton || !types) {
		puts("cannot open the BPF objects");
		return 1;
	}
	object = skeleton->obj;
	object_btf = bpf_object__btf(object);
	types_btf = bpf_object__btf(types->obj);
	r = iso_check_main(cases, ARRAY_SIZE(cases), argc, argv);
	abi_types_bpf__destroy(types);
	iso_bpf__destroy(skeleton);
	return r;
}
