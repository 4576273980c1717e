/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes in an event file: the chain check takes them, and nothing unprintable is shown. */
#include <string.h>

#include <jansson.h>

#include "event/text.h"
#include "event/verify.h"
#include "fuzz/fuzz.h"

static void show(const char *line, size_t n)
{
	static const struct iso_text_style style = {.utc = true, .run = true};
	json_t *o = json_loadb(line, n, 0, NULL);
	char text[4096];

	if (!iso_event_text(o, &style, text, sizeof text))
		for (const char *p = text; *p; p++)
			FUZZ_CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
	json_decref(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	struct iso_verify *v = NULL;
	uint64_t number = 0;

	FUZZ_CHECK(iso_verify_new(&v) == 0);
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t n = newline ? (size_t)(newline - p) : (size_t)(end - p);

		iso_verify_line(v, "input", ++number, p, n);
		show(p, n);
		p += n + 1;
	}
	for (const struct iso_verified *run = iso_verify_finish(v); run; run = run->next)
		FUZZ_CHECK(run->records > 0 && run->run && *run->head);
	iso_verify_free(v);
	return 0;
}
