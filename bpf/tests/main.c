/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the kernel side below the product: identity, installer, rules, accounting. Runs as root
 * in a guest: `iso-kernel-test SUITE [CASE...]`.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "rig.h"

static const struct suite {
	const char *name;
	const struct iso_case *cases;
	const size_t *count;
} suites[] = {
	{"installer", rig_installer_cases, &rig_installer_count},
	{"identity", rig_identity_cases, &rig_identity_count},
	{"rules", rig_rule_cases, &rig_rule_count},
	{"events", rig_event_cases, &rig_event_count},
	{"backstops", rig_backstop_cases, &rig_backstop_count},
	{"flood", rig_flood_cases, &rig_flood_count},
	{"cost", rig_cost_cases, &rig_cost_count},
	/* from the first lock on this process has no descriptor of most maps and programs */
	{"guard", rig_guard_cases, &rig_guard_count},
	{"lock", rig_lock_cases, &rig_lock_count},
	{"foreign", rig_foreign_cases, &rig_foreign_count},
	{"guard-process", rig_guard_process_cases, &rig_guard_process_count},
	/* last: it leaves more sandboxes than can be removed in a reasonable time */
	{"hostile", rig_hostile_cases, &rig_hostile_count},
};
#define SUITES (sizeof suites / sizeof *suites)

static int one_suite(int argc, char **argv)
{
	for (size_t i = 0; i < SUITES; i++)
		if (!strcmp(suites[i].name, argv[0]))
			return iso_check_main(suites[i].cases, *suites[i].count, argc, argv);
	printf("no suite is called %s\n", argv[0]);
	return 2;
}

static int all_suites(char **argv)
{
	int status = 0;

	for (size_t i = 0; i < SUITES; i++)
		status |= iso_check_main(suites[i].cases, *suites[i].count, 1, argv);
	return status;
}

int main(int argc, char **argv)
{
	struct iso_error e = {};
	int status;

	if (argc == 2 && !strcmp(argv[1], "init"))
		return inside_init();
	if (argc == 2 && !strcmp(argv[1], "hold-foreign"))
		return rig_hold_foreign();
	if (argc > 2 && !strcmp(argv[1], "verb"))
		return inside_verb(argc - 2, argv + 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (iso_kernel_open(&rig_kernel, &e)) {
		printf("%s: %s (%s)\n", e.step, e.message, e.remedy);
		return 1;
	}
	status = argc > 1 ? one_suite(argc - 1, argv + 1) : all_suites(argv);
	iso_kernel_close(rig_kernel);
	return status;
}
