/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manifest parser on any bytes, and what must hold of every answer: findings have a place, a
 * pointer and a text without control characters; what is valid stays valid when it is written out
 * again, differs in nothing from itself, and has every value that its readers rely on.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "fuzz/fuzz.h"
#include "manifest/ceiling.h"
#include "manifest/diff.h"
#include "manifest/manifest.h"
#include "manifest/path.h"
#include "manifest/template.h"

static void check_findings(const struct iso_findings *f)
{
	FUZZ_CHECK(f->count > 0);
	for (size_t i = 0; i < f->count; i++) {
		const struct iso_finding *one = &f->items[i];

		FUZZ_CHECK(one->line >= 1 && one->column >= 1);
		FUZZ_CHECK(one->pointer && one->code && one->message);
		FUZZ_CHECK(iso_utf8_valid(one->message, strlen(one->message)));
		for (const char *p = one->message; *p; p++)
			FUZZ_CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
		if (i)
			FUZZ_CHECK(one->line > one[-1].line ||
				   (one->line == one[-1].line && one->column >= one[-1].column));
	}
}

static void check_manifest(const struct iso_manifest *m)
{
	FUZZ_CHECK(m->task.id && m->process.home && m->process.tmpdir && m->process.directory);
	FUZZ_CHECK(m->process.hostname && m->limits.wall_ms && m->process.limits.memory);
	FUZZ_CHECK(iso_path_absolute(m->process.home) == ISO_PATH_OK);
	FUZZ_CHECK(iso_path_absolute(m->process.directory) == ISO_PATH_OK);
	for (size_t i = 0; i < m->filesystem.input_count; i++) {
		FUZZ_CHECK(iso_path_absolute(m->filesystem.inputs[i].source) == ISO_PATH_OK);
		FUZZ_CHECK(iso_path_absolute(m->filesystem.inputs[i].target) == ISO_PATH_OK);
		FUZZ_CHECK(m->filesystem.inputs[i].size && m->filesystem.inputs[i].inodes);
		for (size_t k = 0; k < m->filesystem.inputs[i].protect.count; k++)
			FUZZ_CHECK(iso_path_relative(m->filesystem.inputs[i].protect.items[k]) ==
				   ISO_PATH_OK);
	}
	for (size_t i = 0; i < m->filesystem.scratch_count; i++)
		FUZZ_CHECK(m->filesystem.scratch[i].size && m->filesystem.scratch[i].inodes);
}

/* Written out again by render, and compared with itself. */
static void check_again(const char *text, size_t size, const struct iso_manifest *m)
{
	struct iso_manifest *again = NULL;
	struct iso_findings f = {0};
	struct iso_changes changes = {0};
	char *rendered = NULL;

	FUZZ_CHECK(iso_manifest_render(text, size, NULL, 0, &rendered, NULL) == 0);
	FUZZ_CHECK(strlen(rendered) > ISO_MANIFEST_MAX ||
		   iso_manifest_parse(rendered, strlen(rendered), &again, &f) == 0);
	if (again) {
		FUZZ_CHECK(iso_manifest_diff(m, again, &changes) == 0);
		FUZZ_CHECK(changes.count == 0);
	}
	iso_changes_free(&changes);
	iso_manifest_free(again);
	free(rendered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct iso_manifest *m = NULL;
	struct iso_findings findings = {0};
	struct iso_ceiling *ceiling = NULL;
	struct iso_error e = {0};
	int r = iso_manifest_parse(text, size, &m, &findings);

	if (r == -EINVAL) {
		FUZZ_CHECK(!m);
		check_findings(&findings);
	} else {
		FUZZ_CHECK(r == 0 && m && !findings.count);
		check_manifest(m);
		check_again(text, size, m);
	}
	iso_findings_free(&findings);
	iso_manifest_free(m);
	if (iso_ceiling_parse("ceiling", text, size, &ceiling, &e) == 0)
		iso_ceiling_free(ceiling);
	else
		FUZZ_CHECK(e.message[0]);
	return 0;
}
