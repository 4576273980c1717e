/* SPDX-License-Identifier: BSD-2-Clause */
/* The result document of `isoctl seal --result`: one shape, whoever has to write it. */
#ifndef ISO_RUN_RESULT_H
#define ISO_RUN_RESULT_H

#include <jansson.h>
#include <stdint.h>

#include "run/outcome.h"

#define ISO_RESULT_SCHEMA "io.isoctl.result/1"

/* NULL, 0 and ISO_CLASS_NONE mean unknown and come out as null. Everything is borrowed. */
struct iso_result {
	const char *run, *task;
	uint32_t attempt;
	const char *manifest_sha256;
	const uint8_t *policy_digest; /* as the kernel answered it */
	uint64_t captured_ms, started_ms, ended_ms;
	const struct iso_outcome *outcome; /* NULL: refused before there was a run */
	const struct iso_failure *failure;
	long uid; /* who submitted it; -1: unknown */
	json_t *events, *refusals, *usage;
	bool settled; /* nothing of it is left on the host */
};

/* NULL: out of memory. References to events, refusals and usage are not taken. */
json_t *iso_result_make(const struct iso_result *r);

#endif
