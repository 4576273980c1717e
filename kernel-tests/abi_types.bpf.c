// SPDX-License-Identifier: BSD-2-Clause
/*
 * Carries the types of the contract that no map of the object names (the ring's record), so that
 * their layout under the BPF compiler can be read from BTF. Never loaded.
 */
#define __bpf__ 1
#include "iso_kernel.h"

#include <bpf/bpf_helpers.h>

#include "iso_abi.h"

SEC("syscall")
int iso_abi_types(void *context)
{
	return 0;
}

/* A function's prototype is in BTF with all that its arguments point to. */
__attribute__((noinline)) int iso_abi_event(struct iso_event *event)
{
	return event ? (int)event->kind : 0;
}

__attribute__((noinline)) int iso_abi_path(struct iso_event_path *path)
{
	return path ? path->length : 0;
}

__attribute__((noinline)) int iso_abi_found(struct iso_found *found)
{
	return found ? (int)found->id : 0;
}

__attribute__((noinline)) int iso_abi_tamper(struct iso_tamper *tamper)
{
	return tamper ? (int)tamper->id : 0;
}

char iso_license[] SEC("license") = "Dual BSD/GPL";
