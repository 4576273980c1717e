/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>

#include "kernel/internal.h"
#include "programs.h"

int iso_bench_count_on(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -errno : fd;
}

int iso_bench_count(struct iso_kernel *k, struct iso_bench_runs *ret)
{
	struct bpf_program *program;
	unsigned int n = 0;

	*ret = (struct iso_bench_runs){0};
	bpf_object__for_each_program (program, k->skeleton->obj) {
		struct bpf_prog_info info = {0};
		__u32 size = sizeof info;
		int fd = bpf_program__fd(program);

		if (n == ISO_BENCH_PROGRAMS)
			return -E2BIG;
		if (fd >= 0) {
			if (bpf_obj_get_info_by_fd(fd, &info, &size))
				return -errno;
			ret->count[n] = info.run_cnt;
			ret->ns[n] = info.run_time_ns;
		}
		n++;
	}
	return 0;
}

void iso_bench_count_print(struct iso_kernel *k, const char *scene, const char *operation,
			   const struct iso_bench_runs *before, const struct iso_bench_runs *after,
			   uint64_t operations)
{
	struct bpf_program *program;
	unsigned int n = 0;

	bpf_object__for_each_program (program, k->skeleton->obj) {
		uint64_t runs = after->count[n] - before->count[n];
		uint64_t ns = after->ns[n] - before->ns[n];

		n++;
		if (runs)
			printf("program %s %s %s %.3f %.1f\n", scene, operation,
			       bpf_program__name(program), (double)runs / (double)operations,
			       (double)ns / (double)runs);
	}
}
