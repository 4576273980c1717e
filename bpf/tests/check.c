/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static unsigned checks, failures;

bool iso_check(bool ok, const char *file, int line, const char *format, ...)
{
	const char *name = strrchr(file, '/');
	va_list args;

	checks++;
	if (ok)
		return true;
	failures++;
	printf("  %s:%d: ", name ? name + 1 : file, line);
	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it has been started */
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return false;
}

static bool passes(const struct iso_case *c)
{
	checks = failures = 0;
	c->run();
	if (!checks)
		printf("  %s: nothing was checked\n", c->name);
	return checks && !failures;
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

int iso_check_main(const struct iso_case *cases, size_t count, int argc, char **argv)
{
	size_t ran = 0, passed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < count; i++) {
		bool ok;

		if (!wanted(cases[i].name, argc, argv))
			continue;
		ran++;
		ok = passes(&cases[i]);
		passed += ok;
		printf("%s %s\n", ok ? "PASS" : "FAIL", cases[i].name);
	}
	printf("%zu of %zu cases passed\n", passed, ran);
	return ran && passed == ran ? 0 : 1;
}
