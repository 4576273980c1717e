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

#include "manifest/check.h"
#include "manifest/fields.h"
#include "manifest/path.h"
#include "manifest/places.h"
#include "manifest/read.h"

static bool covered(const struct iso_strv *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (iso_path_within(path, list->items[i]))
			return true;
	return false;
}

static void read_input(struct iso_reader *d, json_t *row, struct iso_input *in)
{
	in->source = iso_read_copy(d, json_string_value(iso_read_at(row, "/source")));
	in->target = iso_read_copy(d, json_string_value(iso_read_at(row, "/target")));
	in->writable = iso_read_is(d, row, "/filesystem/inputs/*/access", "write");
	in->size = iso_read_number(d, row, "/filesystem/inputs/*/size");
	in->inodes = iso_read_number(d, row, "/filesystem/inputs/*/inodes");
	iso_read_list(d, row, "/paths", &in->paths);
	iso_read_list(d, row, "/protect", &in->protect);
	iso_read_map(d, row, "/not_secret", &in->not_secret);
	for (size_t i = 0; in->writable && iso_always_protected[i]; i++)
		if (!covered(&in->protect, iso_always_protected[i]))
			iso_strv_add(d, &in->protect, iso_always_protected[i]);
}

static void read_filesystem(struct iso_reader *d, struct iso_manifest *m)
{
	json_t *inputs = iso_read_at(d->root, "/filesystem/inputs");
	json_t *scratch = iso_read_at(d->root, "/filesystem/scratch"), *row;
	size_t i;

	iso_read_list(d, d->root, "/filesystem/root/host", &m->filesystem.root_host);
	iso_read_list(d, d->root, "/filesystem/deny", &m->filesystem.deny);
	iso_read_list(d, d->root, "/filesystem/assert_absent", &m->filesystem.assert_absent);
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

		s->path = iso_read_copy(d, json_string_value(iso_read_at(row, "/path")));
		s->size = iso_read_number(d, row, "/filesystem/scratch/*/size");
		s->inodes = iso_read_number(d, row, "/filesystem/scratch/*/inodes");
		s->execute = iso_read_is(d, row, "/filesystem/scratch/*/execute", "true");
	}
}

static void read_task(struct iso_reader *d, struct iso_manifest *m)
{
	m->task.id = iso_read_text(d, d->root, "/task/id");
	m->task.attempt = (uint32_t)iso_read_number(d, d->root, "/task/attempt"); /* auto is 0 */
	m->task.purpose = iso_read_text(d, d->root, "/task/purpose");
	iso_read_map(d, d->root, "/task/labels", &m->task.labels);
	iso_read_list(d, d->root, "/task/command", &m->task.command);
	iso_read_list(d, d->root, "/task/outputs", &m->task.outputs);
	iso_read_list(d, d->root, "/task/side_effects", &m->task.side_effects);
	iso_read_list(d, d->root, "/task/supplementary", &m->task.supplementary);
	m->profile = iso_read_is(d, d->root, "/host/profile", "build") ? ISO_PROFILE_BUILD
								       : ISO_PROFILE_EXECUTE;
}

/* One variable: what the manifest sets, or the default, unless the caller's is passed. */
static const char *variable(struct iso_reader *d, struct iso_manifest *m, const char *name,
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
	iso_pairs_add(d, set, name, fallback);
	return fallback;
}

static void read_environment(struct iso_reader *d, struct iso_manifest *m)
{
	const char *first = "/", *tmp;

	if (m->filesystem.scratch_count)
		first = m->filesystem.scratch[0].path;
	tmp = first;
	for (size_t i = 0; i < m->filesystem.scratch_count; i++)
		if (!strcmp(m->filesystem.scratch[i].path, "/tmp"))
			tmp = m->filesystem.scratch[i].path;
	iso_read_map(d, d->root, "/process/environment/set", &m->process.environment_set);
	iso_read_list(d, d->root, "/process/environment/pass", &m->process.environment_pass);
	if (d->r)
		return;
	variable(d, m, "PATH", "/usr/local/bin:/usr/bin:/bin");
	variable(d, m, "LANG", "C.UTF-8");
	variable(d, m, "USER", "task");
	m->process.home = iso_read_copy(d, variable(d, m, "HOME", first));
	m->process.tmpdir = iso_read_copy(d, variable(d, m, "TMPDIR", tmp));
}

static void read_process(struct iso_reader *d, struct iso_manifest *m)
{
	json_t *root = d->root;

	m->loopback_private = iso_read_is(d, root, "/network/proxy/loopback", "private");
	iso_read_list(d, root, "/process/execute", &m->process.execute);
	m->process.daemons_contain = iso_read_is(d, root, "/process/daemons", "contain");
	m->process.syscalls = iso_read_is(d, root, "/process/syscalls/profile", "build")
				      ? ISO_SYSCALLS_BUILD
				      : ISO_SYSCALLS_STRICT;
	iso_read_list(d, root, "/process/syscalls/deny", &m->process.syscalls_deny);
	iso_read_list(d, root, "/process/syscalls/allow", &m->process.syscalls_allow);
	m->process.limits.cpus_milli = iso_read_number(d, root, "/process/limits/cpus");
	m->process.limits.memory = iso_read_number(d, root, "/process/limits/memory");
	m->process.limits.pids = iso_read_number(d, root, "/process/limits/pids");
	m->process.limits.files = iso_read_number(d, root, "/process/limits/files");
	m->process.limits.file_size = iso_read_number(d, root, "/process/limits/file_size");
	read_environment(d, m);
	m->process.stdin_inherit = iso_read_is(d, root, "/process/stdin", "inherit");
	m->process.hostname = iso_read_text(d, root, "/process/hostname");
	m->process.umask = (uint32_t)iso_read_number(d, root, "/process/umask");
	m->process.directory = iso_read_text(d, root, "/process/directory");
	if (!m->process.directory)
		m->process.directory =
			iso_read_copy(d, m->filesystem.input_count ? m->filesystem.inputs[0].target
								   : m->process.home);
}

static void read_limits(struct iso_reader *d, struct iso_manifest *m)
{
	static const char *const kinds[ISO_VIOLATION_MAX] = {
		[ISO_VIOLATION_FILE] = "/response/file",
		[ISO_VIOLATION_EXEC] = "/response/exec",
		[ISO_VIOLATION_NETWORK] = "/response/network",
		[ISO_VIOLATION_SYSCALL] = "/response/syscall",
		[ISO_VIOLATION_LIMIT] = "/response/limit",
	};

	m->limits.wall_ms = iso_read_number(d, d->root, "/limits/wall_time");
	m->limits.stop_grace_ms = iso_read_number(d, d->root, "/limits/stop_grace");
	m->limits.log_bytes = iso_read_number(d, d->root, "/limits/log_bytes");
	m->limits.log_raw = iso_read_is(d, d->root, "/limits/log_encoding", "raw");
	m->limits.events_per_second =
		(uint32_t)iso_read_number(d, d->root, "/limits/events_per_second");
	m->limits.concurrent = (uint32_t)iso_read_number(d, d->root, "/limits/concurrent");
	for (size_t i = 0; i < ISO_VIOLATION_MAX; i++)
		m->response[i] = iso_read_is(d, d->root, kinds[i], "stop") ? ISO_RESPONSE_STOP
									   : ISO_RESPONSE_COUNT;
	iso_read_list(d, d->root, "/response/expected", &m->response_expected);
}

static int keep_source(struct iso_manifest *m, json_t *root, const char *text, size_t size)
{
	struct iso_source *source = m->private = calloc(1, sizeof *source);

	if (!source)
		return -ENOMEM;
	source->root = json_incref(root);
	source->size = size;
	source->text = malloc(size + 1);
	if (!source->text)
		return -ENOMEM;
	memcpy(source->text, text, size);
	return 0;
}

static void free_source(struct iso_source *source)
{
	if (!source)
		return;
	json_decref(source->root);
	free(source->text);
	free(source);
}

int iso_manifest_build(json_t *root, const char *text, size_t size, struct iso_manifest **ret)
{
	struct iso_manifest *m = calloc(1, sizeof *m);
	struct iso_reader d = {&iso_manifest_table, root, 0};

	if (!m)
		return -ENOMEM;
	d.r = keep_source(m, root, text, size);
	if (!d.r)
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

static void free_filesystem(struct iso_manifest *m)
{
	for (size_t i = 0; i < m->filesystem.input_count; i++) {
		struct iso_input *in = &m->filesystem.inputs[i];

		free(in->source);
		free(in->target);
		iso_strv_free(&in->paths);
		iso_strv_free(&in->protect);
		iso_pairs_free(&in->not_secret);
	}
	for (size_t i = 0; i < m->filesystem.scratch_count; i++)
		free(m->filesystem.scratch[i].path);
	free(m->filesystem.inputs);
	free(m->filesystem.scratch);
	iso_strv_free(&m->filesystem.root_host);
	iso_strv_free(&m->filesystem.deny);
	iso_strv_free(&m->filesystem.assert_absent);
}

void iso_manifest_free(struct iso_manifest *m)
{
	if (!m)
		return;
	free(m->task.id);
	free(m->task.purpose);
	iso_pairs_free(&m->task.labels);
	iso_strv_free(&m->task.command);
	iso_strv_free(&m->task.outputs);
	iso_strv_free(&m->task.side_effects);
	iso_strv_free(&m->task.supplementary);
	free_filesystem(m);
	iso_strv_free(&m->process.execute);
	iso_strv_free(&m->process.syscalls_deny);
	iso_strv_free(&m->process.syscalls_allow);
	iso_pairs_free(&m->process.environment_set);
	iso_strv_free(&m->process.environment_pass);
	free(m->process.directory);
	free(m->process.home);
	free(m->process.tmpdir);
	free(m->process.hostname);
	iso_strv_free(&m->response_expected);
	iso_strv_free(&m->elevation_names);
	free_source(m->private);
	free(m);
}
