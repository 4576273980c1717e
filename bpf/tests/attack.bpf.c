/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the guard must refuse, as programs of somebody else. Each is loaded by the test it is for.
 */
#define __bpf__ 1
#include "iso_kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} victim SEC(".maps");

/* Writes a map that bpf(2) may not write. */
SEC("?syscall")
int attack_write(void *context)
{
	__u64 value = 4711;
	__u32 zero = 0;

	return bpf_map_update_elem(&victim, &zero, &value, 0);
}

/* Refuses descriptors of the victim, as a guard would. */
SEC("?lsm/bpf_map")
int BPF_PROG(attack_guard, struct bpf_map *map)
{
	return map->name[0] == 'v' && map->name[1] == 'i' && map->name[2] == 'c' ? -EPERM : 0;
}

/* The caller of the hook tests for less than 0; the programs of the hook are not run. */
SEC("?fmod_ret/security_bpf_map")
int BPF_PROG(attack_skip, struct bpf_map *map)
{
	return 1;
}

SEC("?lsm/path_mkdir")
int BPF_PROG(attack_lsm)
{
	return 0;
}

/* Refuses every write of a sysctl, as a guard would. */
SEC("?cgroup/sysctl")
int attack_refuse(struct bpf_sysctl *context)
{
	return !context->write;
}

/* Later at the same cgroup: the refusal is taken back. */
SEC("?cgroup/sysctl")
int attack_sysctl(struct bpf_sysctl *context)
{
	bpf_set_retval(0);
	return 1;
}

/* Changes nothing: observers are left alone. */
SEC("?fexit/security_bpf_map")
int BPF_PROG(attack_observe)
{
	return 0;
}

char attack_license[] SEC("license") = "Dual BSD/GPL";
