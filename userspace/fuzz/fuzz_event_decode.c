/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes in the ring buffer: refused, or a record that becomes one printable OCSF line. */
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "event/run.h"
#include "fuzz/fuzz.h"
#include "iso_abi.h"

static struct iso_run *make_run(void)
{
	static const struct iso_run_context ctx = {
		.run_id = "run-1",
		.task_id = "fuzz",
		.manifest_sha256 =
			"0000000000000000000000000000000000000000000000000000000000000000",
	};
	struct iso_run *run = NULL;

	FUZZ_CHECK(iso_run_new(&ctx, &run) == 0);
	return run;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct iso_run *run;
	struct iso_event event;
	struct iso_record r;
	char object[2048];
	json_t *parsed;
	char *line;

	if (!run)
		run = make_run();
	if (iso_event_decode(data, size, &event) < 0)
		return 0;
	iso_record_from_event(&event, 0, &r);
	FUZZ_CHECK(strlen(r.path) == event.path.length);
	iso_record_object(&r, object, sizeof object);
	line = iso_ocsf_encode(run, &r, 1);
	FUZZ_CHECK(line);
	for (const char *p = line; *p; p++)
		FUZZ_CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
	parsed = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	FUZZ_CHECK(parsed);
	json_decref(parsed);
	free(line);
	return 0;
}
