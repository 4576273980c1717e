/* SPDX-License-Identifier: BSD-2-Clause */
/* A seed and a test for each message of the checker: its code, its pointer, its place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "manifest/check.h"
#include "tests/manifest_file.h"

enum company {
	ALONE,
	AMONG,
};

struct seed {
	enum company company;
	const char *name, *code, *pointer;
	unsigned line, column;
};

static const struct seed seeds[] = {
#define SEED(company, name, code, pointer, line, column) \
	{company, name, code, pointer, line, column},
#include "tests/manifest_seeds.def"
#undef SEED
};

#define SEEDS (sizeof seeds / sizeof *seeds)

static bool is_it(const struct iso_finding *f, const struct seed *s)
{
	return !strcmp(f->code, s->code) && !strcmp(f->pointer, s->pointer) && f->line == s->line &&
	       f->column == s->column;
}

static void seed_has_its_finding(void **state)
{
	const struct seed *s = *state;
	struct iso_findings findings = {0};
	struct iso_manifest *m = NULL;
	char name[128];
	size_t size = 0;
	bool found = false;

	snprintf(name, sizeof name, "%s.json", s->name);
	ISO_AUTO_FREE char *text = manifest_text(name, &size);
	assert_int_equal(iso_manifest_parse(text, size, &m, &findings), -EINVAL);
	assert_null(m);
	for (size_t i = 0; i < findings.count; i++) {
		const struct iso_finding *f = &findings.items[i];

		found |= is_it(f, s);
		assert_non_null(strstr(f->message, "; "));
		assert_null(strstr(f->message, "{1}"));
		if (!found || s->company == ALONE)
			print_message("%s:%u:%u: %s: %s (%s)\n", name, f->line, f->column,
				      f->pointer, f->message, f->code);
	}
	assert_true(found);
	if (s->company == ALONE)
		assert_int_equal(findings.count, 1);
	iso_findings_free(&findings);
}

/* Messages about a host are tested where the host is: test_manifest_host.c, ..._ceiling.c. */
static bool about_a_host(const char *code)
{
	return !strncmp(code, "host-", 5) ? strcmp(code, "host-suffix") != 0
					  : !strncmp(code, "ceiling-", 8);
}

static void every_message_has_a_seed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ISO_MESSAGE_MAX; i++) {
		bool found = about_a_host(iso_messages[i].code) || i == ISO_MESSAGE_TOO_BIG ||
			     i == ISO_MESSAGE_ENOUGH;

		for (size_t k = 0; k < SEEDS && !found; k++)
			found = !strcmp(seeds[k].code, iso_messages[i].code);
		if (!found)
			fail_msg("no seed for %s", iso_messages[i].code);
	}
}

/* Those that have no file: it would be large, or binary. */
static void too_large_is_refused_unread(void **state)
{
	struct iso_findings findings = {0};
	struct iso_manifest *m = NULL;

	(void)state;
	assert_int_equal(iso_manifest_parse("", ISO_MANIFEST_MAX + 1, &m, &findings), -EINVAL);
	assert_int_equal(findings.count, 1);
	assert_string_equal(findings.items[0].code, "too-big");
	assert_int_equal(findings.items[0].line, 1);
	assert_int_equal(findings.items[0].column, 1);
	iso_findings_free(&findings);
}

static void the_byte_nul_is_refused(void **state)
{
	static const char text[] = "{\"manifest_version\": 1\0}\n";
	struct iso_findings findings = {0};
	struct iso_manifest *m = NULL;

	(void)state;
	/* jansson alone takes it between tokens */
	assert_int_equal(iso_manifest_parse(text, sizeof text - 1, &m, &findings), -EINVAL);
	assert_int_equal(findings.count, 1);
	assert_string_equal(findings.items[0].code, "syntax");
	assert_int_equal(findings.items[0].column, 23);
	iso_findings_free(&findings);
}

static void a_thousand_findings_are_enough(void **state)
{
	struct iso_findings findings = {0};
	struct iso_manifest *m = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fputs("{", out);
	for (unsigned i = 0; i < 50000; i++)
		fprintf(out, "\"%x\": 0, ", i);
	fputs("\"x\": 0}", out);
	fclose(out);
	assert_int_equal(iso_manifest_parse(text, size, &m, &findings), -EINVAL);
	assert_int_equal(findings.count, ISO_FINDINGS_MOST + 1);
	assert_string_equal(findings.items[0].code, "enough");
	assert_string_equal(findings.items[1].pointer, "/0");
	iso_findings_free(&findings);
	free(text);
}

int main(void)
{
	struct CMUnitTest tests[SEEDS + 4];
	size_t n = 0;

	for (size_t i = 0; i < SEEDS; i++)
		tests[n++] = (struct CMUnitTest){
			.name = seeds[i].name,
			.test_func = seed_has_its_finding,
			.initial_state = (void *)&seeds[i],
		};
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(every_message_has_a_seed);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(too_large_is_refused_unread);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(the_byte_nul_is_refused);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_thousand_findings_are_enough);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
