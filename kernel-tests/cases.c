/* SPDX-License-Identifier: BSD-2-Clause */
#include "cases.h"

#include <errno.h>

/* cases.def names these where a refusal owes no event, or no object. */
#define QUIET "", "", ""

const struct iso_kernel_case iso_case_rows[] = {
#define ALLOW(variant, name, action) {#variant, name, action, 0, QUIET},
#define DENY(variant, name, action, error, event, object, rule) \
	{#variant, name, action, error, event, object, rule},
#define SILENT(variant, name, action, error) {#variant, name, action, error, QUIET},
#include "cases.def"
#undef ALLOW
#undef DENY
#undef SILENT
};
const size_t iso_case_count = sizeof iso_case_rows / sizeof *iso_case_rows;
