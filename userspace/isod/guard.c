/* SPDX-License-Identifier: BSD-2-Clause */
/* The guard of the enforcement itself, as the agent drives it and its callers see it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/text.h"
#include "isod/daemon.h"
#include "iso_abi.h"
#include "kernel/kernel.h"

#define MS 1000000ull

/* What happens outside of sandboxes has no manifest. */
#define NO_MANIFEST "0000000000000000000000000000000000000000000000000000000000000000"

static void woken(struct iso_source *source, uint32_t events)
{
	struct iso_daemon *d =
		(struct iso_daemon *)((char *)source - offsetof(struct iso_daemon, ring));

	(void)events;
	iso_daemon_drain(d);
}

int iso_daemon_guard(struct iso_daemon *d, struct iso_error *e)
{
	int r = iso_kernel_lock(d->host.kernel, NULL, e);

	if (r < 0)
		return r;
	d->ring.ready = woken;
	r = iso_loop_add(&d->loop, iso_kernel_ring_fd(d->host.kernel), EPOLLIN, &d->ring);
	return r < 0 ? iso_error_set(e, r, "guard", NULL, "cannot wait for the ring: %m") : 0;
}

/* From the first attempt on: an agent that sees none writes nothing about the host. */
static void begin_host_run(struct iso_daemon *d)
{
	char id[64];
	const struct iso_run_context context = {
		.sandbox = ISO_RUN_HOST,
		.run_id = id,
		.task_id = "host",
		.attempt = 1,
		.manifest_sha256 = NO_MANIFEST,
		.hostname = d->host.hostname,
		.machine_id = d->host.machine_id,
		.kernel_release = d->host.kernel_release,
	};

	if (d->host_run)
		return;
	snprintf(id, sizeof id, "host-%" PRIu64, iso_realtime_ms());
	d->host_run = iso_stream_add_run(d->host.events, &context) == 0;
}

bool iso_daemon_tampered(struct iso_daemon *d, const void *data, size_t size)
{
	struct iso_supervised *run;
	struct iso_record record;
	struct iso_tamper t;
	char exe[256], what[256];

	if (iso_tamper_decode(data, size, &t) < 0)
		return false;
	begin_host_run(d);
	iso_stream_tamper(d->host.events, &t);
	iso_record_from_tamper(&t, 0, &record);
	iso_log_warning("refused: process %u (%s) reached for the enforcement: %s", t.pid,
			iso_text_escape(t.exe, strlen(t.exe), exe, sizeof exe),
			iso_text_escape(record.path, strlen(record.path), what, sizeof what));
	run = t.sandbox ? iso_daemon_run_of(d, t.sandbox) : NULL;
	if (run)
		iso_supervise_violation(run, &record);
	return true;
}

void iso_daemon_guard_end(struct iso_daemon *d)
{
	struct iso_run_summary summary = {0};

	if (!d->host_run)
		return;
	iso_daemon_drain(d);
	if (iso_stream_end_run(d->host.events, ISO_RUN_HOST, NULL, &summary) == 0)
		iso_run_summary_free(&summary);
	d->host_run = false;
}

/* ------------------------------------------------------------------------------ methods */

static const char *object_word(uint32_t kind)
{
	static const char *const words[] = {
		[0] = "",
#define ISO_OBJECT(number, name, word) [number] = (word),
#include "iso_objects.def"
#undef ISO_OBJECT
	};

	return kind < sizeof words / sizeof *words ? words[kind] : "";
}

static json_t *objects_json(const struct iso_guard_status *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->object_count; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "kind",
						      object_word(s->objects[i].kind), "id",
						      (json_int_t)s->objects[i].id, "name",
						      s->objects[i].name));
	return list;
}

static json_t *programs_json(const struct iso_guard_status *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->found_count; i++) {
		const struct iso_found *f = &s->found[i];
		char tag[2 * sizeof f->tag + 1], name[sizeof f->name + 1];

		for (size_t k = 0; k < sizeof f->tag; k++)
			snprintf(tag + 2 * k, 3, "%02x", f->tag[k]);
		snprintf(name, sizeof name, "%.16s", f->name);
		json_array_append_new(list, json_pack("{s:I, s:s, s:s, s:I}", "id",
						      (json_int_t)f->id, "name", name, "tag", tag,
						      "uid", (json_int_t)f->uid));
	}
	return list;
}

static uint64_t boottime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

void iso_guard_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	static const char *const states[] = {"open", "closing", "locked"};
	struct iso_guard_status s = {0};
	struct iso_failure f = {0};
	uint64_t since;
	int r;

	(void)parameters;
	(void)fds;
	if (!c->daemon->host.kernel) {
		iso_reply_failure(c, &c->daemon->refusal);
		return;
	}
	r = iso_kernel_guard(c->daemon->host.kernel, &s);
	if (r < 0 || s.state > ISO_GUARD_LOCKED) {
		iso_failure_set(&f, ISO_CLASS_SETUP, r, "guard", NULL,
				"the kernel side does not say how it is guarded");
		iso_reply_failure(c, &f);
		return;
	}
	since = iso_realtime_ms() - (boottime_ns() - s.since) / MS;
	iso_reply(c,
		  json_pack("{s:{s:s, s:I, s:I, s:o, s:o}}", "guard", "state", states[s.state],
			    "since_ms", (json_int_t)since, "refused", (json_int_t)s.refused,
			    "objects", objects_json(&s), "programs", programs_json(&s)),
		  false, NULL, 0);
}

/* Whoever comes next starts an agent of its own, which locks again. */
void iso_release_method(struct iso_connection *c, json_t *parameters, struct iso_fds *fds)
{
	struct iso_daemon *d = c->daemon;
	struct iso_failure f = {0};
	int r = -EBUSY;

	(void)parameters;
	(void)fds;
	if (c->caller.uid != 0) {
		iso_failure_set(&f, ISO_CLASS_PERMISSION, -EPERM, "guard", NULL,
				"only root gives the guard up");
		iso_reply_failure(c, &f);
		return;
	}
	if (!iso_daemon_any_live(d) && d->workers.busy == 0)
		r = d->host.kernel ? iso_kernel_release(d->host.kernel) : 0;
	if (r < 0) {
		iso_failure_set(&f, ISO_CLASS_BUSY, r, "guard",
				"wait for the runs to end: isoctl ps lists them",
				"the guard is not given up while a sandbox lives");
		iso_reply_failure(c, &f);
		return;
	}
	iso_failure_set(&d->refusal, ISO_CLASS_BUSY, -EBUSY, "guard", "try again",
			"this isod is ending: its guard was given up");
	iso_log_info("the guard was given up: ending");
	iso_reply(c, json_object(), false, NULL, 0);
	d->ending = true;
}
