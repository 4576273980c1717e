/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/libbpf.h>
#include <errno.h>

#include "kernel/internal.h"

static int deliver(void *context, void *data, size_t size)
{
	struct iso_kernel *k = context;

	return k->event(k->event_context, data, size);
}

int iso_kernel_ring_fd(const struct iso_kernel *k)
{
	return bpf_map__fd(k->skeleton->maps.iso_ring);
}

int iso_kernel_ring_consume(struct iso_kernel *k, iso_kernel_event_fn fn, void *context)
{
	if (!k->ring) {
		k->ring = ring_buffer__new(iso_kernel_ring_fd(k), deliver, k, NULL);
		if (!k->ring)
			return -errno;
	}
	k->event = fn;
	k->event_context = context;
	return ring_buffer__consume(k->ring);
}
