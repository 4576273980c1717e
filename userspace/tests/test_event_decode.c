/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/hash.h"
#include "event/names.h"
#include "test_event_samples.h"

static void a_well_formed_record_is_taken(void **state)
{
	struct iso_event e = sample_event(1), out;

	(void)state;
	assert_int_equal(iso_event_decode(&e, sizeof e, &out), 0);
	assert_memory_equal(&e, &out, sizeof e);
}

/* One way each to be malformed; every one of them leaves the output alone. */
#define BREAK(name, ...)                              \
	static void break_##name(struct iso_event *e) \
	{                                             \
		__VA_ARGS__;                          \
	}
BREAK(kind_zero, e->kind = 0)
BREAK(kind_beyond, e->kind = ISO_EVENT_OTHER + 1)
BREAK(hook, e->hook = 29)
BREAK(hook_zero, e->hook = 0)
BREAK(reason, e->reason = 9999)
BREAK(rule, e->rule = ISO_POLICY_RULES_MAX + 1)
BREAK(error_zero, e->error = 0)
BREAK(error_negative, e->error = -EACCES)
BREAK(error_beyond, e->error = 4096)
BREAK(wanted, e->wanted = 0x20)
BREAK(sequence_zero, e->sequence = 0)
BREAK(sequence_beyond, e->sequence = 1ull << 49)
BREAK(truncated, e->path.truncated = 2)
BREAK(truncated2, e->path2.truncated = 255)
BREAK(comm, memset(e->comm, 'x', sizeof e->comm))
BREAK(length, e->path.offset = 0; e->path.length = ISO_PATH_MAX + 1)
BREAK(offset, e->path.offset = ISO_PATH_AREA; e->path.length = 1)
BREAK(offset_wraps, e->path2.offset = 0xffff; e->path2.length = 1)
BREAK(nul_inside, e->path.area[e->path.offset + 2] = '\0')
BREAK(start_with_reason, e->kind = ISO_EVENT_PROCESS)

static void what_is_off_is_refused(void **state)
{
	static void (*const breaks[])(struct iso_event *) = {
		break_kind_zero,     break_kind_beyond,
		break_hook,	     break_hook_zero,
		break_reason,	     break_rule,
		break_error_zero,    break_error_negative,
		break_error_beyond,  break_wanted,
		break_sequence_zero, break_sequence_beyond,
		break_truncated,     break_truncated2,
		break_comm,	     break_length,
		break_offset,	     break_offset_wraps,
		break_nul_inside,    break_start_with_reason,
	};

	(void)state;
	for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
		struct iso_event e = sample_event(1), out, before;

		memset(&out, 0x5a, sizeof out);
		before = out;
		breaks[i](&e);
		if (iso_event_decode(&e, sizeof e, &out) != -EBADMSG)
			fail_msg("case %zu was taken", i);
		assert_memory_equal(&out, &before, sizeof out);
	}
}

static void every_other_size_is_refused(void **state)
{
	static char data[2 * sizeof(struct iso_event)];
	struct iso_event e = sample_event(1), out;

	(void)state;
	memcpy(data, &e, sizeof e);
	for (size_t n = 0; n < sizeof data; n++)
		if (n != sizeof e)
			assert_int_equal(iso_event_decode(data, n, &out), -EBADMSG);
}

static void a_start_has_no_reason(void **state)
{
	struct iso_event e = sample_event(0), out;

	(void)state;
	e.kind = ISO_EVENT_PROCESS;
	e.hook = e.reason = e.rule = e.wanted = 0;
	e.error = 0;
	assert_int_equal(iso_event_decode(&e, sizeof e, &out), 0);
}

static void a_path_ends_where_its_length_says(void **state)
{
	struct iso_event e = sample_event(1);
	struct iso_record r;

	(void)state;
	memset(e.path.area, 'g', e.path.offset);
	memset(e.path2.area, 'g', sizeof e.path2.area);
	iso_record_from_event(&e, 5, &r);
	assert_string_equal(r.path, "/work/.git/hooks/pre-commit");
	assert_string_equal(r.path2, "");
	assert_int_equal(r.time, 1000000005);
}

static void give_path(struct iso_event_path *path, const char *text)
{
	path->offset = 0;
	path->length = (__u16)strlen(text);
	memcpy(path->area, text, path->length);
}

static void a_relative_path_is_put_behind_its_start(void **state)
{
	struct iso_event e = sample_event(1);
	struct iso_record r;

	(void)state;
	give_path(&e.path, "./hooks/x");
	give_path(&e.path2, "/work/.git");
	iso_record_from_event(&e, 0, &r);
	assert_string_equal(r.path, "/work/.git/hooks/x");
	assert_string_equal(r.path2, "");
	give_path(&e.path, "x");
	give_path(&e.path2, "/");
	iso_record_from_event(&e, 0, &r);
	assert_string_equal(r.path, "/x");
	give_path(&e.path, "/old");
	give_path(&e.path2, "/new");
	iso_record_from_event(&e, 0, &r);
	assert_string_equal(r.path, "/old");
	assert_string_equal(r.path2, "/new");
}

static void a_long_text_keeps_its_end(void **state)
{
	char text[2 * ISO_RECORD_TEXT], out[ISO_RECORD_TEXT];
	bool truncated = false;

	(void)state;
	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = 'z';
	iso_record_set_text(out, &truncated, text, sizeof text);
	assert_true(truncated);
	assert_int_equal(strlen(out), ISO_RECORD_TEXT - 1);
	assert_int_equal(out[ISO_RECORD_TEXT - 2], 'z');
}

/* A hook that is added to the table must get an activity too. */
static void every_file_hook_has_an_activity(void **state)
{
	size_t n;
	const struct iso_hook_name *rows = iso_hook_rows(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		if (rows[i].category == ISO_CATEGORY_FILE &&
		    rows[i].number != ISO_HOOK_path_chroot &&
		    iso_hook_file_activity(rows[i].number) == 99)
			fail_msg("%s has no activity", rows[i].name);
}

static void an_open_says_what_it_was_for(void **state)
{
	(void)state;
	assert_string_equal(iso_hook_verb(ISO_HOOK_file_open, ISO_READ | ISO_WRITE),
			    "open-for-write");
	assert_string_equal(iso_hook_verb(ISO_HOOK_file_open, ISO_READ), "open-for-read");
	assert_string_equal(iso_hook_verb(ISO_HOOK_path_unlink, ISO_MAKE), "remove");
	assert_string_equal(iso_hook_verb(12345, 0), "unknown");
}

/* Vectors of SipHash-1-3 under the reference key 00 01 ... 0f. */
static void the_keyed_hash_is_siphash(void **state)
{
	static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
	static const unsigned char input[8] = {0, 1, 2, 3, 4, 5, 6, 7};

	(void)state;
	assert_true(iso_siphash13(key, input, 0) == 0xabac0158050fc4dc);
	assert_true(iso_siphash13(key, input, 1) == 0xc9f49bf37d57ca93);
	assert_true(iso_siphash13(key, input, 8) == 0x369095118d299a8e);
	assert_true(iso_keyed_hash("a", 1) == iso_keyed_hash("a", 1));
	assert_true(iso_keyed_hash("a", 1) != iso_keyed_hash("b", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_well_formed_record_is_taken),
		cmocka_unit_test(what_is_off_is_refused),
		cmocka_unit_test(every_other_size_is_refused),
		cmocka_unit_test(a_start_has_no_reason),
		cmocka_unit_test(a_path_ends_where_its_length_says),
		cmocka_unit_test(a_relative_path_is_put_behind_its_start),
		cmocka_unit_test(a_long_text_keeps_its_end),
		cmocka_unit_test(every_file_hook_has_an_activity),
		cmocka_unit_test(an_open_says_what_it_was_for),
		cmocka_unit_test(the_keyed_hash_is_siphash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
