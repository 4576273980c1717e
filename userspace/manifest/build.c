/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills struct iso_manifest. The document is known to be right, so a value is either absent or what
 * its row says; defaults come from the rows (`absent`) where they are constants, and from here
 * where they follow from other fields:
 *
 *	HOME		the first scratch; "/" where there is none, and nothing is writable there
 *	TMPDIR		the scratch at /tmp, else the first; "/" where there is none
 *	PATH		/usr/local/bin:/usr/bin:/bin
 *	LANG, USER	C.UTF-8, task
 *	directory	the first input's target, else HOME
 *	protect		of a writable input: what always is, unless an entry covers it already
 */
#include "manifest/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/fields.h"
#include "manifest/path.h"
#include "manifest/places.h"
#include "manifest/units.h"

/* One document being read; r keeps the first failure, so that no reader has to look at it. */
struct reader {
	json_t *root;
	int r;
};

static json_t *get(json_t *from, const char *pointer)
{
	char name[64];

	while (from && *pointer == '/') {
		size_t n = strcspn(++pointer, "/");

		memcpy(name, pointer, n);
		name[n] = '\0';
		from = json_object_get(from, name);
		pointer += n;
	}
	return from;
}

static char *copy(struct reader *d, const char *s)
{
	char *text = s ? strdup(s) : NULL;

	if (s && !text)
		d->r = -ENOMEM;
	return text;
}

static void add(struct reader *d, struct iso_strv *list, const char *s)
{
	char **items = reallocarray(list->items, list->count + 1, sizeof *items);

	if (!items) {
		d->r = -ENOMEM;
		return;
	}
	list->items = items;
	items[list->count] = copy(d, s);
	list->count += items[list->count] != NULL;
}

static void add_pair(struct reader *d, struct iso_pairs *pairs, const char *key, const char *value)
{
	struct iso_pair *items = reallocarray(pairs->items, pairs->count + 1, sizeof *items);

	if (!items) {
		d->r = -ENOMEM;
		return;
	}
	pairs->items = items;
	items[pairs->count++] = (struct iso_pair){copy(d, key), copy(d, value)};
}

static void read_list(struct reader *d, json_t *from, const char *pointer, struct iso_strv *ret)
{
	json_t *list = get(from, pointer), *v;
	size_t i;

	json_array_foreach (list, i, v)
		add(d, ret, json_string_value(v));
}

static void read_map(struct reader *d, json_t *from, const char *pointer, struct iso_pairs *ret)
{
	json_t *map = get(from, pointer), *v;
	const char *key;

	json_object_foreach (map, key, v)
		add_pair(d, ret, key, json_string_value(v));
}

static uint64_t quantity(enum iso_type type, json_t *v)
{
	const char *s = json_string_value(v);
	uint64_t n = 0;
	uint32_t mask = 0;

	if (type == ISO_TYPE_CPUS)
		iso_cpus_milli(json_number_value(v), &n);
	else if (json_is_integer(v))
		n = (uint64_t)json_integer_value(v);
	else if (s && type == ISO_TYPE_SIZE)
		iso_size_parse(s, &n);
	else if (s && type == ISO_TYPE_TIME)
		iso_time_parse(s, &n);
	else if (s && type == ISO_TYPE_UMASK && !iso_umask_parse(s, &mask))
		n = mask;
	return n;
}

/* The value at a row's pointer, or the row's default; `from` is the object, `pattern` the row. */
static json_t *value_or_default(struct reader *d, json_t *from, const char *pattern)
{
	const struct iso_field *row = iso_field_find(&iso_manifest_table, pattern, strlen(pattern));
	const char *slash = strrchr(pattern, '*');
	json_t *v = get(from, slash ? slash + 1 : pattern);

	if (v)
		return json_incref(v);
	if (!row || !row->absent)
		return NULL;
	v = json_loads(row->absent, JSON_DECODE_ANY, NULL);
	if (!v)
		d->r = -ENOMEM;
	return v;
}

static uint64_t number(struct reader *d, json_t *from, const char *pattern)
{
	const struct iso_field *row = iso_field_find(&iso_manifest_table, pattern, strlen(pattern));
	json_t *v = value_or_default(d, from, pattern);
	uint64_t n = row ? quantity(row->type, v) : 0;

	json_decref(v);
	return n;
}

static char *text(struct reader *d, json_t *from, const char *pattern)
{
	json_t *v = value_or_default(d, from, pattern);
	char *s = copy(d, json_string_value(v));

	json_decref(v);
	return s;
}

static bool is(struct reader *d, json_t *from, const char *pattern, const char *word)
{
	json_t *v = value_or_default(d, from, pattern);
	const char *s = json_is_true(v) ? "true" : json_string_value(v);
	bool yes = s && !strcmp(s, word);

	json_decref(v);
	return yes;
}

static bool covered(const struct iso_strv *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (iso_path_within(path, list->items[i]))
			return true;
	return false;
}

static void read_input(struct reader *d, json_t *row, struct iso_input *in)
{
	in->source = copy(d, json_string_value(get(row, "/source")));
	in->target = copy(d, json_string_value(get(row, "/target")));
	in->writable = is(d, row, "/filesystem/inputs/*/access", "write");
	in->size = number(d, row, "/filesystem/inputs/*/size");
	in->inodes = number(d, row, "/filesystem/inputs/*/inodes");
	read_list(d, row, "/paths", &in->paths);
	read_list(d, row, "/protect", &in->protect);
	read_map(d, row, "/not_secret", &in->not_secret);
	for (size_t i = 0; in->writable && iso_always_protected[i]; i++)
		if (!covered(&in->protect, iso_always_protected[i]))
			add(d, &in->protect, iso_always_protected[i]);
}

static void read_filesystem(struct reader *d, struct iso_manifest *m)
{
	json_t *inputs = get(d->root, "/filesystem/inputs");
	json_t *scratch = get(d->root, "/filesystem/scratch"), *row;
	size_t i;

	read_list(d, d->root, "/filesystem/root/host", &m->filesystem.root_host);
	read_list(d, d->root, "/filesystem/deny", &m->filesystem.deny);
	read_list(d, d->root, "/filesystem/assert_absent", &m->filesystem.assert_absent);
	m->filesystem.inputs = calloc(json_array_size(inputs) + 1, sizeof *m->filesystem.inputs);
	m->filesystem.scratch = calloc(json_array_size(scratch) + 1, sizeof *m->filesystem.scratch);
	if (!m->filesystem.inputs || !m->filesystem.scratch) {
		d->r = -ENOMEM;
		return;
	}
	json_array_foreach (inputs, i, row)
		read_input(d, row, &m->filesystem.inputs[m->filesystem.input_count++]);
	json_array_foreach (scratch, i, row) {
		struct iso_scratch *s = &m->filesystem.scratch[m->filesystem.scratch_count++];

		s->path = copy(d, json_string_value(get(row, "/path")));
		s->size = number(d, row, "/filesystem/scratch/*/size");
		s->inodes = number(d, row, "/filesystem/scratch/*/inodes");
		s->execute = is(d, row, "/filesystem/scratch/*/execute", "true");
	}
}

static void read_task(struct reader *d, struct iso_manifest *m)
{
	m->task.id = text(d, d->root, "/task/id");
	m->task.attempt = (uint32_t)number(d, d->root, "/task/attempt"); /* auto is 0 */
	m->task.purpose = text(d, d->root, "/task/purpose");
	read_map(d, d->root, "/task/labels", &m->task.labels);
	read_list(d, d->root, "/task/command", &m->task.command);
	read_list(d, d->root, "/task/outputs", &m->task.outputs);
	read_list(d, d->root, "/task/side_effects", &m->task.side_effects);
	read_list(d, d->root, "/task/supplementary", &m->task.supplementary);
	m->profile =
		is(d, d->root, "/host/profile", "build") ? ISO_PROFILE_BUILD : ISO_PROFILE_EXECUTE;
}

/* One variable: what the manifest sets, or the default, unless the caller's is passed. */
static const char *variable(struct reader *d, struct iso_manifest *m, const char *name,
			    const char *fallback)
{
	const struct iso_strv *pass = &m->process.environment_pass;
	struct iso_pairs *set = &m->process.environment_set;

	for (size_t i = 0; i < set->count; i++)
		if (!strcmp(set->items[i].key, name))
			return set->items[i].value;
	for (size_t i = 0; i < pass->count; i++)
		if (!strcmp(pass->items[i], name))
			return fallback;
	add_pair(d, set, name, fallback);
	return fallback;
}

static void read_environment(struct reader *d, struct iso_manifest *m)
{
	const char *first = "/", *tmp;

	if (m->filesystem.scratch_count)
		first = m->filesystem.scratch[0].path;
	tmp = first;
	for (size_t i = 0; i < m->filesystem.scratch_count; i++)
		if (!strcmp(m->filesystem.scratch[i].path, "/tmp"))
			tmp = m->filesystem.scratch[i].path;
	read_map(d, d->root, "/process/environment/set", &m->process.environment_set);
	read_list(d, d->root, "/process/environment/pass", &m->process.environment_pass);
	if (d->r)
		return;
	variable(d, m, "PATH", "/usr/local/bin:/usr/bin:/bin");
	variable(d, m, "LANG", "C.UTF-8");
	variable(d, m, "USER", "task");
	m->process.home = copy(d, variable(d, m, "HOME", first));
	m->process.tmpdir = copy(d, variable(d, m, "TMPDIR", tmp));
}

static void read_process(struct reader *d, struct iso_manifest *m)
{
	json_t *root = d->root;

	m->loopback_private = is(d, root, "/network/proxy/loopback", "private");
	read_list(d, root, "/process/execute", &m->process.execute);
	m->process.daemons_contain = is(d, root, "/process/daemons", "contain");
	m->process.syscalls = is(d, root, "/process/syscalls/profile", "build")
				      ? ISO_SYSCALLS_BUILD
				      : ISO_SYSCALLS_STRICT;
	read_list(d, root, "/process/syscalls/deny", &m->process.syscalls_deny);
	read_list(d, root, "/process/syscalls/allow", &m->process.syscalls_allow);
	m->process.limits.cpus_milli = number(d, root, "/process/limits/cpus");
	m->process.limits.memory = number(d, root, "/process/limits/memory");
	m->process.limits.pids = number(d, root, "/process/limits/pids");
	m->process.limits.files = number(d, root, "/process/limits/files");
	m->process.limits.file_size = number(d, root, "/process/limits/file_size");
	read_environment(d, m);
	m->process.stdin_inherit = is(d, root, "/process/stdin", "inherit");
	m->process.hostname = text(d, root, "/process/hostname");
	m->process.umask = (uint32_t)number(d, root, "/process/umask");
	m->process.directory = text(d, root, "/process/directory");
	if (!m->process.directory)
		m->process.directory =
			copy(d, m->filesystem.input_count ? m->filesystem.inputs[0].target
							  : m->process.home);
}

static void read_limits(struct reader *d, struct iso_manifest *m)
{
	static const char *const kinds[ISO_VIOLATION_MAX] = {
		[ISO_VIOLATION_FILE] = "/response/file",
		[ISO_VIOLATION_EXEC] = "/response/exec",
		[ISO_VIOLATION_NETWORK] = "/response/network",
		[ISO_VIOLATION_SYSCALL] = "/response/syscall",
		[ISO_VIOLATION_LIMIT] = "/response/limit",
	};

	m->limits.wall_ms = number(d, d->root, "/limits/wall_time");
	m->limits.stop_grace_ms = number(d, d->root, "/limits/stop_grace");
	m->limits.log_bytes = number(d, d->root, "/limits/log_bytes");
	m->limits.log_raw = is(d, d->root, "/limits/log_encoding", "raw");
	m->limits.events_per_second = (uint32_t)number(d, d->root, "/limits/events_per_second");
	m->limits.concurrent = (uint32_t)number(d, d->root, "/limits/concurrent");
	for (size_t i = 0; i < ISO_VIOLATION_MAX; i++)
		m->response[i] =
			is(d, d->root, kinds[i], "stop") ? ISO_RESPONSE_STOP : ISO_RESPONSE_COUNT;
	read_list(d, d->root, "/response/expected", &m->response_expected);
}

int iso_manifest_build(json_t *root, struct iso_manifest **ret)
{
	struct iso_manifest *m = calloc(1, sizeof *m);
	struct reader d = {root, 0};

	if (!m)
		return -ENOMEM;
	m->private = json_incref(root);
	read_task(&d, m);
	if (!d.r)
		read_filesystem(&d, m);
	if (!d.r)
		read_process(&d, m);
	if (!d.r)
		read_limits(&d, m);
	if (d.r) {
		iso_manifest_free(m);
		return d.r;
	}
	*ret = m;
	return 0;
}

static void free_list(struct iso_strv *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
}

static void free_pairs(struct iso_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		free(pairs->items[i].key);
		free(pairs->items[i].value);
	}
	free(pairs->items);
}

static void free_filesystem(struct iso_manifest *m)
{
	for (size_t i = 0; i < m->filesystem.input_count; i++) {
		struct iso_input *in = &m->filesystem.inputs[i];

		free(in->source);
		free(in->target);
		free_list(&in->paths);
		free_list(&in->protect);
		free_pairs(&in->not_secret);
	}
	for (size_t i = 0; i < m->filesystem.scratch_count; i++)
		free(m->filesystem.scratch[i].path);
	free(m->filesystem.inputs);
	free(m->filesystem.scratch);
	free_list(&m->filesystem.root_host);
	free_list(&m->filesystem.deny);
	free_list(&m->filesystem.assert_absent);
}

void iso_manifest_free(struct iso_manifest *m)
{
	if (!m)
		return;
	free(m->task.id);
	free(m->task.purpose);
	free_pairs(&m->task.labels);
	free_list(&m->task.command);
	free_list(&m->task.outputs);
	free_list(&m->task.side_effects);
	free_list(&m->task.supplementary);
	free_filesystem(m);
	free_list(&m->process.execute);
	free_list(&m->process.syscalls_deny);
	free_list(&m->process.syscalls_allow);
	free_pairs(&m->process.environment_set);
	free_list(&m->process.environment_pass);
	free(m->process.directory);
	free(m->process.home);
	free(m->process.tmpdir);
	free(m->process.hostname);
	free_list(&m->response_expected);
	free_list(&m->elevation_names);
	json_decref(m->private);
	free(m);
}
