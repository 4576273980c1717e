/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of runs: a number that the kernel side knows it by, and a text for people and files. */
#ifndef ISO_RUN_IDS_H
#define ISO_RUN_IDS_H

#include <stddef.h>
#include <stdint.h>

#define ISO_RUN_ID_MAX 96 /* bytes with the NUL; also the cgroup's name */

/*
 * The next sandbox id: never 0, never given twice in one boot, whoever asks. The last one given is
 * in dirfd/next-id under its lock; ids also never fall behind the boot's milliseconds, so that
 * losing the file (it is on a tmpfs) does not bring one back. Negative errno.
 */
int iso_sandbox_id_next(int dirfd, uint64_t *ret);

/* TASK-ATTEMPT-xxxxxx, the tail random: unique even where the file of attempts was lost. */
int iso_run_id_make(const char *task, uint32_t attempt, char out[ISO_RUN_ID_MAX]);

#endif
