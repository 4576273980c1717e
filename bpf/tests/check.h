/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks for programs that run in a guest, where there is no test library. A case has failed until
 * it has made at least one check and come to its end without a failure; a program has failed until
 * every case of its table has passed.
 */
#ifndef ISO_CHECK_H
#define ISO_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct iso_case {
	const char *name;
	void (*run)(void);
};

/* Says what is wrong when !ok; returns ok. The message is a printf format of what was seen. */
bool iso_check(bool ok, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The message's arguments are evaluated after the condition: errno is what it left. */
#define CHECK(condition, ...)                                   \
	((condition) ? iso_check(true, __FILE__, __LINE__, " ") \
		     : iso_check(false, __FILE__, __LINE__, __VA_ARGS__))

/* A check without which the rest of the case has no meaning. */
#define REQUIRE(condition, ...)                     \
	do {                                        \
		if (!CHECK(condition, __VA_ARGS__)) \
			return;                     \
	} while (0)

/* Both sides as long; the message names the expression and both values. */
#define CHECK_EQUAL(got, want)                                                             \
	do {                                                                               \
		long iso_got = (long)(got), iso_want = (long)(want);                       \
                                                                                           \
		CHECK(iso_got == iso_want, "%s is %ld, not %ld", #got, iso_got, iso_want); \
	} while (0)

/* Runs the cases (those named in argv[1..], else all) and returns the program's exit status. */
int iso_check_main(const struct iso_case *cases, size_t count, int argc, char **argv);

#endif
