/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ISO_KERNEL_JUDGE_H
#define ISO_KERNEL_JUDGE_H

#include <stdbool.h>

/* operations.def has one row for each name in the file; 0 or 1, as the program's status. */
int judge_names(const char *path);
/* Each hook of iso_hooks.def is the decider of a row, or one of backstops.def. */
int judge_hooks(void);
/* Each request of uring_opcodes.def has its control and its refusal in uring.def. */
int judge_opcodes(void);
/* Is this the operation that iso_hooks.def has for the hook? */
bool judge_operation(const char *hook, const char *operation);

#endif
