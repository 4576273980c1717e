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
	bool uring; /* this kernel shows which request of io_uring is being done */
	iso_kernel_event_fn event;
	void *event_context;
	/* guard.c; there from the first lock on */
	struct iso_guard_object *objects;
	size_t object_count;
	struct iso_found *found;
	size_t found_count;
};

/* One call of the installer or of the query program; answers come back in *c. */
int iso_kernel_install(struct iso_kernel *k, struct iso_command *c);
int iso_kernel_ask(struct iso_kernel *k, struct iso_inquiry *c);
int iso_kernel_claim(struct iso_kernel *k);

/* guard.c: is a guard locked that this process is not the agent of? */
bool iso_guard_of_another(void);
/* guard.c: the program at the root cgroup, which libbpf does not attach by itself. */
int iso_guard_attach(struct iso_kernel *k, struct iso_error *e);

/* foreign.c: "NAME TAG", as a line of the list has it; is it one; the list (NULL: none). */
void iso_found_line(const struct iso_found *f, char out[64]);
bool iso_found_listed(const struct iso_found *f, const char *list);
int iso_found_list(const char *path, char **ret, struct iso_error *e);

#endif
