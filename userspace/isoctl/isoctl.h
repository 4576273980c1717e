/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the verbs share. A verb is a row in verbs.def and a function in a file of its own; it gets
 * argv from its (last) name on, and returns the exit status of the program.
 */
#ifndef ISO_ISOCTL_ISOCTL_H
#define ISO_ISOCTL_ISOCTL_H

#include <stdio.h>

#define ISO_EXIT_INVALID 1
#define ISO_EXIT_USAGE	 2

#define VERB(name, function, summary, arguments, help) int function(int argc, char **argv);
#include "isoctl/verbs.def"
#undef VERB

/* Usage and help text of the verb, as `isoctl VERB --help` prints them. */
void isoctl_help(FILE *out, const char *verb);

/* "isoctl VERB: message" and the way to the help text, on standard error. Returns ISO_EXIT_USAGE.
 */
int isoctl_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
