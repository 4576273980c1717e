/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the kernel side below the product: identity, installer, rules, accounting. Runs as root
 * in a guest: `iso-kernel-test SUITE [CASE...]`.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "rig.h"

static int suite(const char *name, int argc, char **argv)
{
	const struct {
		const char *name;
		const struct iso_case *cases;
		size_t count;
	} suites[] = {
		{"installer", rig_installer_cases, rig_installer_count},
		{"identity", rig_identity_cases, rig_identity_count},
		{"rules", rig_rule_cases, rig_rule_count},
		{"events", rig_event_cases, rig_event_count},
	};

	for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
		if (!strcmp(suites[i].name, name))
			return iso_check_main(suites[i].cases, suites[i].count, argc, argv);
	printf("no suite is called %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	struct iso_error e = {};
	int status = 0;

	if (argc == 2 && !strcmp(argv[1], "init"))
		return inside_init();
	if (argc > 2 && !strcmp(argv[1], "verb"))
		return inside_verb(argc - 2, argv + 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (iso_kernel_open(&rig_kernel, &e)) {
		printf("%s: %s (%s)\n", e.step, e.message, e.remedy);
		return 1;
	}
	if (argc > 1)
		status = suite(argv[1], argc - 1, argv + 1);
	else
		for (size_t i = 0; i < 4; i++)
			status |= suite(
				(const char *[]){"installer", "identity", "rules", "events"}[i], 1,
				argv);
	iso_kernel_close(rig_kernel);
	return status;
}
