/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scope-bound clean-up: what a function acquires is released on every way out of it. A function
 * that hands something on says so with ISO_TAKE_*.
 */
#ifndef ISO_COMMON_CLEANUP_H
#define ISO_COMMON_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ISO_CLEANUP(f) __attribute__((cleanup(f)))

static inline void iso_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void iso_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void iso_cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void iso_cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define ISO_AUTO_FREE	  ISO_CLEANUP(iso_cleanup_free)
#define ISO_AUTO_CLOSE	  ISO_CLEANUP(iso_cleanup_close)
#define ISO_AUTO_FCLOSE	  ISO_CLEANUP(iso_cleanup_fclose)
#define ISO_AUTO_CLOSEDIR ISO_CLEANUP(iso_cleanup_closedir)

/* Gives the value to the caller; the variable is left empty, so its clean-up does nothing. */
#define ISO_TAKE_PTR(p)                         \
	({                                      \
		__typeof__(p) iso_taken_ = (p); \
		(p) = NULL;                     \
		iso_taken_;                     \
	})

static inline int iso_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Closes and forgets; safe on -1. */
static inline void iso_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#endif
