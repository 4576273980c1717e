/* SPDX-License-Identifier: BSD-2-Clause */
/* Seeds under tests/manifest/, for the tests of the manifest. Include after cmocka.h. */
#ifndef ISO_TESTS_MANIFEST_FILE_H
#define ISO_TESTS_MANIFEST_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "manifest/manifest.h"

static inline char *manifest_text(const char *name, size_t *ret_size)
{
	const char *source = getenv("ISO_SOURCE_DIR");
	char path[4096], *text = NULL;
	int r;

	snprintf(path, sizeof path, "%s/userspace/tests/manifest/%s", source ? source : ".", name);
	r = iso_read_file(AT_FDCWD, path, 2 * ISO_MANIFEST_MAX, &text, ret_size);
	if (r)
		fail_msg("cannot read %s: %d", path, r);
	return text;
}

/* The manifest of a seed that must be valid. */
static inline struct iso_manifest *manifest_valid(const char *name)
{
	struct iso_findings findings = {0};
	struct iso_manifest *m = NULL;
	size_t size = 0;
	ISO_AUTO_FREE char *text = manifest_text(name, &size);
	int r = iso_manifest_parse(text, size, &m, &findings);

	for (size_t i = 0; i < findings.count; i++)
		print_error("%s:%u:%u: %s: %s\n", name, findings.items[i].line,
			    findings.items[i].column, findings.items[i].pointer,
			    findings.items[i].message);
	assert_int_equal(r, 0);
	iso_findings_free(&findings);
	return m;
}

#endif
