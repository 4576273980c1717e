/* SPDX-License-Identifier: BSD-2-Clause */
/* Seeds of fuzz_event_decode: records of the ring buffer as this build lays them out. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/test_event_samples.h"

static const char *directory;

static void put(const char *name, const struct iso_event *e, size_t n)
{
	struct iso_event out;
	char path[4096];
	FILE *file;

	/* Seeds that the decoder refuses at its first look would be no use. */
	if (n == sizeof *e && iso_event_decode(e, n, &out) < 0)
		exit(EXIT_FAILURE);
	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	if (!file || fwrite(e, 1, n, file) != n || fclose(file))
		exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct iso_event e = sample_event(1);

	if (argc != 2)
		return EXIT_FAILURE;
	directory = argv[1];
	put("file", &e, sizeof e);
	put("short", &e, 100);
	e.hook = ISO_HOOK_path_rename;
	e.path2 = e.path;
	e.path.truncated = 1;
	put("rename", &e, sizeof e);
	sample_path(&e, "/a\x1b[2J\xff\xe2\x80\xae");
	put("hostile-path", &e, sizeof e);
	e = sample_event(2);
	e.kind = ISO_EVENT_NET;
	e.hook = ISO_HOOK_socket_connect;
	e.reason = ISO_REASON_ADDRESS;
	e.family = AF_INET6;
	e.path.length = 0;
	put("connect", &e, sizeof e);
	e.kind = ISO_EVENT_PROCESS;
	e.hook = e.reason = e.rule = e.wanted = 0;
	e.error = 0;
	put("started", &e, sizeof e);
	return EXIT_SUCCESS;
}
