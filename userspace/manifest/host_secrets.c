/* SPDX-License-Identifier: BSD-2-Clause */
/* The names in a source, judged as paths in a manifest are. No file is opened. */
#include "manifest/host_secrets.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "manifest/path.h"
#include "manifest/places.h"

#define MOST_REPORTED 16u
#define DEEPEST	      64u

struct walk {
	struct iso_check *c;
	const struct iso_input *in;
	const char *at;
	size_t seen, reported;
	char path[ISO_PATH_BYTES + 1]; /* relative to the source */
};

static bool selected(const struct iso_input *in, const char *path)
{
	for (size_t i = 0; i < in->paths.count; i++)
		if (iso_path_overlaps(path, in->paths.items[i]))
			return true;
	return !in->paths.count;
}

static bool excused(const struct iso_input *in, const char *path)
{
	for (size_t i = 0; i < in->not_secret.count; i++)
		if (!strcmp(in->not_secret.items[i].key, path))
			return true;
	return false;
}

/* Has enough been seen? More entries than the copy may hold are refused when it is made. */
static bool done(const struct walk *w)
{
	return w->seen > w->in->inodes || w->reported == MOST_REPORTED;
}

static void walk(struct walk *w, int dir, size_t length, unsigned depth)
{
	ISO_AUTO_CLOSEDIR DIR *d = fdopendir(dir);
	const struct dirent *entry;

	if (!d) {
		close(dir);
		return;
	}
	while (!done(w) && (entry = readdir(d))) {
		size_t n = strlen(entry->d_name);
		const char *what;
		int fd;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    length + n + 1 > ISO_PATH_BYTES)
			continue;
		snprintf(w->path + length, sizeof w->path - length, "%s%s", length ? "/" : "",
			 entry->d_name);
		if (!selected(w->in, w->path))
			continue;
		w->seen++;
		what = iso_place_secret_itself(w->path);
		if (what && !excused(w->in, w->path)) {
			w->reported++;
			iso_report(w->c, w->at, HOST_SECRET, w->path, what);
			continue; /* what lies below it is no news */
		}
		fd = depth < DEEPEST && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)
			     ? openat(dirfd(d), entry->d_name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			     : -1;
		if (fd >= 0)
			walk(w, fd, length + n + (length != 0), depth + 1);
	}
}

void iso_host_secrets(struct iso_check *c, const struct iso_input *in, int dir, const char *at)
{
	struct walk w = {.c = c, .in = in, .at = at};
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		walk(&w, fd, 0, 0);
}
