/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of the library that the tests link; the programs' one has no fault points. */
#include "sandbox/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t iso_fault_step(void)
{
	const char *word = getenv("ISO_FAULT");

	for (uint32_t s = 1; word && s < ISO_STEP_MAX; s++)
		if (!strcmp(word, iso_step_word(s)))
			return s;
	return ISO_STEP_NONE;
}

int iso_fault(enum iso_step step)
{
	return iso_fault_step() == step ? -EIO : 0;
}
