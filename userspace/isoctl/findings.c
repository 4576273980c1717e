/* SPDX-License-Identifier: BSD-2-Clause */
#include "isoctl/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "common/io.h"
#include "common/log.h"
#include "common/text.h"

/* Bytes in a file name that are not UTF-8 become visible; JSON texts must be UTF-8. */
static const char *shown(const char *s, char *out, size_t size)
{
	return iso_text_escape(s, strlen(s), out, size);
}

static void print_json(FILE *out, const char *file, const struct iso_finding *f)
{
	char name[1024];
	json_t *line =
		json_pack("{s:s, s:i, s:i, s:s, s:s, s:s}", "file", shown(file, name, sizeof name),
			  "line", (int)f->line, "column", (int)f->column, "pointer", f->pointer,
			  "code", f->code, "message", f->message);

	if (line && json_dumpf(line, out, JSON_COMPACT | JSON_ENSURE_ASCII) == 0)
		fputc('\n', out);
	json_decref(line);
}

void isoctl_print_findings(FILE *out, const char *file, const struct iso_findings *f, bool json)
{
	char name[1024], pointer[1024];

	for (size_t i = 0; i < f->count; i++) {
		const struct iso_finding *one = &f->items[i];

		if (json)
			print_json(out, file, one);
		else
			fprintf(out, "%s:%u:%u: %s: %s\n", shown(file, name, sizeof name),
				one->line, one->column,
				one->pointer[0] ? shown(one->pointer, pointer, sizeof pointer)
						: "/",
				one->message);
	}
}

int isoctl_read_manifest(const char *file, char **ret, size_t *ret_size)
{
	char name[1024];
	int r;

	if (!strcmp(file, "-"))
		r = iso_read_all(STDIN_FILENO, ISO_MANIFEST_MAX, ret, ret_size);
	else
		r = iso_read_file(AT_FDCWD, file, ISO_MANIFEST_MAX, ret, ret_size);
	if (r == -EFBIG) {
		/* what is wrong with it is the checker's to say, by its size alone */
		*ret = strdup("");
		*ret_size = ISO_MANIFEST_MAX + 1;
		return *ret ? 0 : -ENOMEM;
	}
	if (r)
		iso_log_error("cannot read %s: %s", shown(file, name, sizeof name), strerror(-r));
	return r;
}
