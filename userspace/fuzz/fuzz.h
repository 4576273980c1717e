/* SPDX-License-Identifier: BSD-2-Clause */
/* What libFuzzer calls, and replay.c in its place (llvm.org/docs/LibFuzzer.html). */
#ifndef ISO_FUZZ_FUZZ_H
#define ISO_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Stops the program: something that must hold does not. */
#define FUZZ_CHECK(condition)             \
	do {                              \
		if (!(condition))         \
			__builtin_trap(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
