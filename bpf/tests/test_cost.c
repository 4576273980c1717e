/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the verifier goes through to load each program: a count, the same on every load of one
 * kernel. It is the time that isod takes to start, so a program over its bound is a defect, mostly
 * a refusal that is verified anew on each of many ways to it (event.bpf.h).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "kernel/internal.h"
#include "rig.h"

#define PROGRAM_MOST 60000u
#define OBJECT_MOST  900000u /* some seconds in an emulated guest */

static void verified_instructions(void)
{
	struct bpf_program *program;
	unsigned long total = 0;

	bpf_object__for_each_program (program, rig_kernel->skeleton->obj) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof info;

		if (!bpf_program__autoload(program))
			continue;
		REQUIRE(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0,
			"no information on %s: %m", bpf_program__name(program));
		printf("%8u %s\n", info.verified_insns, bpf_program__name(program));
		CHECK(info.verified_insns > 0 && info.verified_insns <= PROGRAM_MOST,
		      "%s takes %u instructions, %u at most", bpf_program__name(program),
		      info.verified_insns, PROGRAM_MOST);
		total += info.verified_insns;
	}
	printf("%8lu in all\n", total);
	CHECK(total <= OBJECT_MOST, "the object takes %lu, %u at most", total, OBJECT_MOST);
}

const struct iso_case rig_cost_cases[] = {
	{"verified-instructions", verified_instructions},
};
const size_t rig_cost_count = sizeof rig_cost_cases / sizeof *rig_cost_cases;
