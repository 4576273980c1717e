/* SPDX-License-Identifier: BSD-2-Clause */
/* Between ocsf.c and ocsf_class.c. */
#ifndef ISO_EVENT_OCSF_H
#define ISO_EVENT_OCSF_H

#include "event/run.h"

/*
 * Sets what is special to a class in the event and in unmapped.isoctl; returns the activity_id.
 */
typedef int (*iso_ocsf_encode_fn)(json_t *event, json_t *unmapped, const struct iso_run *run,
				  const struct iso_record *r, uint64_t sequence);

struct iso_ocsf_class {
	int uid, category, severity, status;
	bool denial; /* something was refused or ended: Denied/Blocked, else Observed/Logged */
	iso_ocsf_encode_fn encode;
};

int iso_ocsf_file(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		  uint64_t sequence);
int iso_ocsf_network(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		     uint64_t sequence);
int iso_ocsf_exec(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		  uint64_t sequence);
int iso_ocsf_process(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		     uint64_t sequence);
int iso_ocsf_kernel(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		    uint64_t sequence);
int iso_ocsf_finding(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		     uint64_t sequence);
int iso_ocsf_state(json_t *o, json_t *u, const struct iso_run *run, const struct iso_record *r,
		   uint64_t sequence);

/* Text of a task's choosing, escaped. */
json_t *iso_json_text(const char *s, size_t n);
json_t *iso_json_path(const char *path, bool truncated);
/* Takes value, also when it is NULL: then the line is given up as a whole. */
void iso_json_put(json_t *o, const char *key, json_t *value);
/* Sets a number that is not zero. */
void iso_json_number(json_t *o, const char *key, uint64_t n);
json_t *iso_ocsf_file_object(const char *path, bool truncated, uint32_t mode);
json_t *iso_ocsf_process_object(const struct iso_run *run, uint64_t exec, uint32_t pid);

#endif
