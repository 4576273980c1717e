/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/text.h"

/* What of a record the chain is about. */
struct link {
	const char *run;
	uint64_t sequence;
	const char *prev;
	uint64_t gap_first, gap_last, lost; /* 0: no gap */
	bool ended;
};

struct iso_verify {
	struct iso_verified *first, **end;
	uint64_t strangers, stranger_line;
	char stranger_file[64];
};

/* What is remembered between a record and the next one of its run. */
struct state {
	char file[64];
	uint64_t line;	   /* of the last record */
	bool doubtful;	   /* it does not continue the one before it: one of the two was changed */
	uint64_t previous; /* ... which is this one */
	char previous_file[64];
	uint64_t previous_line;
	char *run; /* as it stands in the records */
};

int iso_verify_new(struct iso_verify **ret)
{
	struct iso_verify *v = calloc(1, sizeof *v);

	if (!v)
		return -ENOMEM;
	v->end = &v->first;
	*ret = v;
	return 0;
}

void iso_verify_free(struct iso_verify *v)
{
	if (!v)
		return;
	while (v->first) {
		struct iso_verified *run = v->first;
		struct state *s = run->state;

		v->first = run->next;
		free(s->run);
		free(s);
		free(run->run);
		free(run);
	}
	free(v);
}

static bool read_number(const json_t *o, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(o, key);

	*ret = 0;
	if (!v)
		return true;
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

static bool read_link(const json_t *o, struct link *ret)
{
	const json_t *meta = json_object_get(o, "metadata");
	const json_t *own = json_object_get(json_object_get(o, "unmapped"), "isoctl");
	const char *state = json_string_value(json_object_get(o, "state"));

	ret->run = json_string_value(json_object_get(meta, "correlation_uid"));
	ret->prev = json_string_value(json_object_get(own, "prev"));
	ret->ended = state && !strcmp(state, "unsealed");
	return ret->run && ret->prev && strlen(ret->prev) == ISO_CHAIN_TEXT - 1 &&
	       read_number(meta, "sequence", &ret->sequence) && ret->sequence > 0 &&
	       read_number(own, "first_seq", &ret->gap_first) &&
	       read_number(own, "last_seq", &ret->gap_last) && read_number(own, "lost", &ret->lost);
}

static struct iso_verified *find(const struct iso_verify *v, const char *run)
{
	for (struct iso_verified *r = v->first; r; r = r->next)
		if (!strcmp(((struct state *)r->state)->run, run))
			return r;
	return NULL;
}

static struct iso_verified *add(struct iso_verify *v, const char *name)
{
	struct iso_verified *run = calloc(1, sizeof *run);
	struct state *s = calloc(1, sizeof *s);
	char shown[512];

	if (run && s) {
		s->run = strdup(name);
		run->run = strdup(iso_text_escape(name, strlen(name), shown, sizeof shown));
	}
	if (!run || !s || !s->run || !run->run) {
		if (s)
			free(s->run);
		if (run)
			free(run->run);
		free(s);
		free(run);
		return NULL;
	}
	run->state = s;
	memcpy(run->head, ISO_CHAIN_START, sizeof run->head);
	*v->end = run;
	v->end = &run->next;
	return run;
}

static void blame(struct iso_verified *run, enum iso_fault fault, uint64_t first, uint64_t last,
		  const char *file, uint64_t line)
{
	if (run->fault != ISO_FAULT_NONE)
		return;
	run->fault = fault;
	run->fault_first = first;
	run->fault_last = last;
	snprintf(run->fault_file, sizeof run->fault_file, "%s", file);
	run->fault_line = line;
}

/*
 * A record does not carry the digest of the one before it: one of the two was changed. The next
 * record knows which: it carries the digest of this one as it was.
 */
static void settle_doubt(struct iso_verified *run, bool this_one_is_whole)
{
	struct state *s = run->state;

	if (!s->doubtful)
		return;
	s->doubtful = false;
	if (this_one_is_whole)
		blame(run, ISO_FAULT_CHANGED, s->previous, s->previous, s->previous_file,
		      s->previous_line);
	else
		blame(run, ISO_FAULT_CHANGED, run->last, run->last, s->file, s->line);
}

/* Numbers are without a hole, but for those that a gap names. */
static bool continues(const struct iso_verified *run, const struct link *l)
{
	if (l->sequence == run->last + 1)
		return true;
	return l->lost && l->gap_first == run->last + 1 && l->gap_last == l->sequence - 1;
}

static void check(struct iso_verified *run, const struct link *l, const char *file, uint64_t line)
{
	struct state *s = run->state;
	bool follows = !strcmp(l->prev, run->head);

	settle_doubt(run, follows);
	if (l->sequence <= run->last) {
		blame(run, ISO_FAULT_INSERTED, l->sequence, l->sequence, file, line);
	} else if (!continues(run, l)) {
		bool start = run->records == 0;

		blame(run, start ? ISO_FAULT_NO_START : ISO_FAULT_REMOVED, run->last + 1,
		      l->sequence - 1, file, line);
	} else if (!follows) {
		if (run->records == 0) {
			blame(run, ISO_FAULT_CHANGED, l->sequence, l->sequence, file, line);
			return;
		}
		s->doubtful = run->fault == ISO_FAULT_NONE;
		s->previous = run->last;
		s->previous_line = s->line;
		memcpy(s->previous_file, s->file, sizeof s->file);
	}
}

int iso_verify_line(struct iso_verify *v, const char *file, uint64_t number, const char *line,
		    size_t n)
{
	json_t *o = n ? json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL) : NULL;
	struct iso_verified *run;
	struct state *s;
	struct link l;
	int r = 0;

	if (!o || !read_link(o, &l)) {
		json_decref(o);
		if (v->strangers++ == 0) {
			snprintf(v->stranger_file, sizeof v->stranger_file, "%s", file);
			v->stranger_line = number;
		}
		return -EBADMSG;
	}
	run = find(v, l.run);
	if (!run)
		run = add(v, l.run);
	if (run) {
		check(run, &l, file, number);
		s = run->state;
		snprintf(s->file, sizeof s->file, "%s", file);
		s->line = number;
		if (run->records++ == 0)
			run->first = l.sequence;
		run->last = l.sequence;
		run->lost += l.lost;
		run->ended = l.ended;
		iso_chain_hash(line, n, run->head);
	} else {
		r = -ENOMEM;
	}
	json_decref(o);
	return r;
}

const struct iso_verified *iso_verify_finish(struct iso_verify *v)
{
	/* Without a next record the older one is blamed: it is where a reader should look first. */
	for (struct iso_verified *run = v->first; run; run = run->next)
		settle_doubt(run, true);
	return v->first;
}

uint64_t iso_verify_strangers(const struct iso_verify *v, const char **file, uint64_t *number)
{
	*file = v->stranger_file;
	*number = v->stranger_line;
	return v->strangers;
}
