/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks chains of events: that no record of a run was changed, removed or inserted. What it cannot
 * see by itself is a tail that was cut off (a run without its last record is shown as open) and a
 * change of the last record: the head in the run's result tells both.
 */
#ifndef ISO_EVENT_VERIFY_H
#define ISO_EVENT_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/chain.h"

enum iso_fault {
	ISO_FAULT_NONE,
	ISO_FAULT_CHANGED,
	ISO_FAULT_REMOVED,
	ISO_FAULT_INSERTED,
	ISO_FAULT_NO_START, /* its first records are not in these files */
	ISO_FAULT_HEAD,	    /* the chain is whole, and is not the one that was asked for */
};

/* What was found about one run. */
struct iso_verified {
	struct iso_verified *next;
	char *run;		       /* escaped */
	uint64_t records, first, last; /* sequence numbers */
	uint64_t lost;		       /* events that gaps report as lost */
	bool ended;		       /* its last record says that it is over */
	char head[ISO_CHAIN_TEXT];
	enum iso_fault fault;		  /* the first one */
	uint64_t fault_first, fault_last; /* records it is about */
	char fault_file[64];		  /* where it shows */
	uint64_t fault_line;
	void *state;
};

struct iso_verify;

int iso_verify_new(struct iso_verify **ret);
void iso_verify_free(struct iso_verify *v);

/*
 * The next line, in the order in which they were written. `file` and `number` say where it stands.
 * -EBADMSG: it is not a record (counted). -ENOMEM.
 */
int iso_verify_line(struct iso_verify *v, const char *file, uint64_t number, const char *line,
		    size_t n);
/* After the last line. Runs in the order of their first record; they belong to v. */
const struct iso_verified *iso_verify_finish(struct iso_verify *v);
/* Lines that are no records, and the first one's place. */
uint64_t iso_verify_strangers(const struct iso_verify *v, const char **file, uint64_t *number);

#endif
