/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of kernel/ share and nobody else sees. */
#ifndef ISO_KERNEL_INTERNAL_H
#define ISO_KERNEL_INTERNAL_H

#include "iso.skel.h"
#include "kernel/kernel.h"

struct iso_kernel {
	struct iso_bpf *skeleton;
	int *link_fds;
	size_t link_count;
	struct ring_buffer *ring;
	iso_kernel_event_fn event;
	void *event_context;
};

int iso_kernel_claim(struct iso_kernel *k);

#endif
