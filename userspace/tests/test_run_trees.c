/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/trees.h"

static char base[64], real_path[96], link_path[96], below_link[128];

static int setup(void **state)
{
	(void)state;
	snprintf(base, sizeof base, "%s/iso-trees-XXXXXX", "/tmp");
	if (!mkdtemp(base))
		return -1;
	snprintf(real_path, sizeof real_path, "%s/real", base);
	snprintf(link_path, sizeof link_path, "%s/link", base);
	snprintf(below_link, sizeof below_link, "%s/sub", link_path);
	return mkdir(real_path, 0755) || symlink("real", link_path);
}

static int teardown(void **state)
{
	char sub[128];

	(void)state;
	snprintf(sub, sizeof sub, "%s/sub", real_path);
	rmdir(sub);
	rmdir(real_path);
	unlink(link_path);
	return rmdir(base);
}

/* Opens as isoctl does, and verifies as isod does. */
static int opened_and_verified(char *host, char *source, struct iso_failure *f)
{
	struct iso_input input = {.source = source};
	struct iso_manifest m = {.filesystem = {.inputs = &input, .input_count = 1}};
	struct iso_tree tree = {.kind = ISO_TREE_HOST, .path = host};
	struct iso_policy p = {.manifest = &m, .trees = &tree, .tree_count = 1};
	struct iso_fds fds = {0};
	size_t hosts;
	int r = iso_trees_open(&p, &fds, &hosts, f);

	if (r < 0)
		return r;
	assert_int_equal(hosts, 1);
	r = iso_trees_verify(&p, fds.fds, f);
	iso_fds_close(&fds);
	return r;
}

static void what_lies_where_it_says_passes(void **state)
{
	struct iso_failure f = {0};

	(void)state;
	assert_int_equal(opened_and_verified(real_path, base, &f), 0);
	/* a link that is shown as one lies at its own path */
	assert_int_equal(opened_and_verified(link_path, base, &f), 0);
}

static void a_link_on_the_way_is_refused(void **state)
{
	struct iso_failure f = {0};
	char sub[128];

	(void)state;
	snprintf(sub, sizeof sub, "%s/sub", real_path);
	assert_int_equal(mkdir(sub, 0755), 0);
	assert_int_equal(opened_and_verified(real_path, below_link, &f), -EXDEV);
	assert_int_equal(opened_and_verified(below_link, base, &f), -EXDEV);
	assert_int_equal(opened_and_verified(real_path, sub, &f), 0);
}

static void another_object_than_named_is_refused(void **state)
{
	struct iso_input input = {.source = real_path};
	struct iso_manifest m = {.filesystem = {.inputs = &input, .input_count = 1}};
	struct iso_policy p = {.manifest = &m};
	struct iso_failure f = {0};
	int pipe_fds[2];

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(iso_trees_verify(&p, pipe_fds, &f), -EXDEV);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_where_it_says_passes),
		cmocka_unit_test(a_link_on_the_way_is_refused),
		cmocka_unit_test(another_object_than_named_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
