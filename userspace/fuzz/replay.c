/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs every file of the directories that are named through a fuzz target. None is a failure. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "fuzz/fuzz.h"

#define INPUT_MAX (16u << 20)

static int replay(const char *directory)
{
	ISO_AUTO_CLOSEDIR DIR *d = opendir(directory);
	struct dirent *entry;
	int count = 0;

	while (d && (entry = readdir(d))) {
		ISO_AUTO_FREE char *data = NULL;
		size_t size;
		int r;

		if (entry->d_name[0] == '.')
			continue;
		r = iso_read_file(dirfd(d), entry->d_name, INPUT_MAX, &data, &size);
		if (r < 0) {
			fprintf(stderr, "%s/%s: %s\n", directory, entry->d_name, strerror(-r));
			return -1;
		}
		fprintf(stderr, "%s (%zu bytes)\n", entry->d_name, size);
		LLVMFuzzerTestOneInput((const uint8_t *)data, size);
		count++;
	}
	return count;
}

int main(int argc, char **argv)
{
	int total = 0;

	for (int i = 1; i < argc; i++) {
		int n = replay(argv[i]);

		if (n <= 0) {
			fprintf(stderr, "%s: no input was run\n", argv[i]);
			return EXIT_FAILURE;
		}
		total += n;
	}
	return total ? EXIT_SUCCESS : EXIT_FAILURE;
}
