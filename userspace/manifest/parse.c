/* SPDX-License-Identifier: BSD-2-Clause */
/* A manifest from its text: document, shape, rules, and only then the structure. */
#include <errno.h>
#include <stdlib.h>

#include "manifest/build.h"
#include "manifest/check.h"
#include "manifest/manifest.h"

static void check_all(struct iso_check *c)
{
	iso_check_shape(c);
	if (c->r || c->enough || !json_is_object(c->root))
		return;
	iso_check_trees(c);
	if (c->r)
		return;
	iso_check_rules(c);
	iso_check_process(c);
	iso_check_environment(c);
	iso_check_network(c);
}

void iso_check_again(struct iso_check *c, const struct iso_manifest *m)
{
	const struct iso_source *source = m->private;

	*c = (struct iso_check){
		.text = source->text,
		.size = source->size,
		.table = &iso_manifest_table,
		.root = json_incref(source->root),
	};
}

int iso_manifest_parse(const char *text, size_t size, struct iso_manifest **ret,
		       struct iso_findings *findings)
{
	struct iso_check c = {.text = text, .size = size, .table = &iso_manifest_table};
	int r;

	if (iso_check_document(&c) == 0)
		check_all(&c);
	r = iso_check_finish(&c, findings);
	if (!r)
		r = iso_manifest_build(c.root, text, size, ret);
	iso_check_release(&c);
	return r;
}
