/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "isoinit/plan.h"

#define STRINGS "/work\0/usr/bin:/bin\0sh\0-c\0PATH=/usr/bin\0LANG=C"

struct sample {
	struct iso_plan_header h;
	struct iso_plan_rlimit limit;
	struct sock_filter filter[3];
	char strings[sizeof STRINGS];
};
#define SIZE (offsetof(struct sample, strings) + sizeof STRINGS)

static struct sample sample(void)
{
	struct sample s;

	memset(&s, 0, sizeof s);
	s.h = (struct iso_plan_header){
		.magic = ISO_PLAN_MAGIC,
		.version = ISO_PLAN_VERSION,
		.size = SIZE,
		.flags = ISO_PLAN_DAEMONS_DENY,
		.wall_ms = 1000,
		.grace_ms = 100,
		.uid = 1000,
		.gid = 1000,
		.umask = 022,
		.rlimit_count = 1,
		.filter_length = 3,
		.argc = 2,
		.envc = 2,
	};
	s.limit = (struct iso_plan_rlimit){.resource = RLIMIT_CORE, .soft = 1, .hard = 1};
	memcpy(s.strings, STRINGS, sizeof STRINGS);
	return s;
}

static int decode(const void *data, size_t size, struct iso_plan *p)
{
	/* an exact copy: a sanitizer sees the first byte beyond */
	static void *copy;
	static char *pointers[64];

	free(copy);
	copy = malloc(size + !size);
	assert_non_null(copy);
	memcpy(copy, data, size);
	return iso_plan_decode(copy, size, pointers, 64, p);
}

static void plan_decodes_what_was_encoded(void **state)
{
	struct sample s = sample();
	struct iso_plan p;

	(void)state;
	assert_int_equal(iso_plan_pointers(&s, SIZE), 6);
	assert_int_equal(decode(&s, SIZE, &p), 0);
	assert_string_equal(p.cwd, "/work");
	assert_string_equal(p.path, "/usr/bin:/bin");
	assert_string_equal(p.argv[0], "sh");
	assert_string_equal(p.argv[1], "-c");
	assert_null(p.argv[2]);
	assert_string_equal(p.envp[1], "LANG=C");
	assert_null(p.envp[2]);
	assert_int_equal(p.rlimits[0].hard, 1);
}

static void plan_refuses_every_other_length(void **state)
{
	struct sample s = sample();
	char longer[SIZE + 1];
	struct iso_plan p;

	(void)state;
	for (size_t n = 0; n < SIZE; n++) {
		assert_int_equal(decode(&s, n, &p), -EINVAL);
		s.h.size = (uint32_t)n; /* and when the header agrees */
		assert_int_equal(decode(&s, n, &p), -EINVAL);
		s = sample();
	}
	memcpy(longer, &s, SIZE);
	longer[SIZE] = '\0';
	assert_int_equal(decode(longer, SIZE + 1, &p), -EINVAL);
	((struct iso_plan_header *)(void *)longer)->size++;
	assert_int_equal(decode(longer, SIZE + 1, &p), -EINVAL);
}

static void plan_refuses_each_wrong_field(void **state)
{
	struct iso_plan p;

#define REFUSED(change)                                          \
	do {                                                     \
		struct sample s = sample();                      \
		s.change;                                        \
		assert_int_equal(decode(&s, SIZE, &p), -EINVAL); \
	} while (0)
	(void)state;
	REFUSED(h.magic++);
	REFUSED(h.version++);
	REFUSED(h.flags |= 2);
	REFUSED(h.uid = 0);
	REFUSED(h.gid = 0);
	REFUSED(h.uid = UINT32_MAX);
	REFUSED(h.umask = 01000);
	REFUSED(h.wall_ms = 0);
	REFUSED(h.wall_ms = UINT64_MAX);
	REFUSED(h.grace_ms = UINT64_MAX);
	REFUSED(h.rlimit_count = ISO_PLAN_RLIMITS + 1);
	REFUSED(h.rlimit_count = 0);
	REFUSED(h.filter_length = 0);
	REFUSED(h.filter_length = 2);
	REFUSED(h.filter_length = UINT32_MAX);
	REFUSED(h.pad = 1);
	REFUSED(h.argc = 0);
	REFUSED(h.argc = 3);
	REFUSED(h.envc = UINT32_MAX);
	REFUSED(h.envc = 1);
	REFUSED(limit.resource = RLIM_NLIMITS);
	REFUSED(limit.pad = 1);
	REFUSED(limit.soft = 2);
	REFUSED(strings[0] = 'w');
	REFUSED(strings[sizeof STRINGS - 1] = 'x');
	REFUSED(strings[0] = '\0');
#undef REFUSED
}

static void plan_needs_room_and_alignment(void **state)
{
	struct sample s = sample();
	char *pointers[6];
	struct iso_plan p;

	(void)state;
	assert_int_equal(iso_plan_decode(&s, SIZE, pointers, 5, &p), -EINVAL);
	assert_int_equal(iso_plan_decode((const char *)&s + 1, SIZE - 1, pointers, 6, &p), -EINVAL);
	assert_int_equal(iso_plan_decode(&s, SIZE, pointers, 6, &p), 0);
}

/* Whatever one byte becomes, the answer is one of two, and nothing outside is read. */
static void plan_survives_any_byte(void **state)
{
	char *pointers[64];
	struct iso_plan p;

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		for (unsigned v = 0; v < 256; v += 5) {
			struct sample s = sample();
			int r;

			((unsigned char *)&s)[i] = (unsigned char)v;
			r = iso_plan_decode(&s, SIZE, pointers, 64, &p);
			assert_true(r == 0 || r == -EINVAL);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_decodes_what_was_encoded),
		cmocka_unit_test(plan_refuses_every_other_length),
		cmocka_unit_test(plan_refuses_each_wrong_field),
		cmocka_unit_test(plan_needs_room_and_alignment),
		cmocka_unit_test(plan_survives_any_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
