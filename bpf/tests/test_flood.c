/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of refusals (account.bpf.h): repeats, rate, first ones, a full ring, and two
 * sandboxes of which one makes a great many.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "rig.h"

#define CLOSED	    RIG_TREE "/closed"
#define CLOSED_FILE CLOSED "/file"
#define OPEN_FILE   RIG_TREE "/open"
#define MILLION	    1000000L
#define QUIET_MS    10

/* Nothing below CLOSED may be read or made. */
static bool closed_tree(struct rig *r, uint32_t rate)
{
	return rig_prepare(r, 0, rate) && rig_rule(r, CLOSED, 0, 2) && rig_seal(r);
}

static bool prepare(struct rig *r, uint32_t rate)
{
	bool ok = rig_tree() && rig_directory(CLOSED) && rig_file(CLOSED_FILE) &&
		  rig_file(OPEN_FILE) && closed_tree(r, rate);

	while (rig_read_events())
		;
	return ok;
}

/* What a reader of the ring knows of one sandbox's refusals. */
struct reader {
	uint64_t sandbox;
	uint64_t events, told; /* told: refusals that the events stand for, the window's too */
	uint64_t last, holes;
};

/* Does as isod does (userspace/event/window.c), for sums: each event stands for itself, and says
 * what the place that it took had counted beyond the event before it. */
static void hear(struct reader *r, const struct iso_event *e)
{
	if (e->sandbox != r->sandbox)
		return;
	r->events++;
	r->told++;
	if (e->slot && e->before)
		r->told += (uint32_t)e->before - 1;
	if (e->sequence > r->last + 1)
		r->holes += e->sequence - r->last - 1;
	r->last = e->sequence;
}

static int hear_both(void *context, const void *data, size_t size)
{
	struct reader *both = context;

	if (size != sizeof(struct iso_event))
		return 0;
	hear(&both[0], data);
	hear(&both[1], data);
	return 0;
}

/* What the window still holds. */
static void settle(struct reader *r)
{
	struct iso_tally tally = {};

	CHECK(!iso_kernel_ask_tally(rig_kernel, r->sandbox, &tally), "no tally");
	for (unsigned i = 0; i < ISO_WINDOW; i++)
		if (tally.window[i])
			r->told += (uint32_t)tally.window[i] - 1;
}

static void repeats_are_one_event_and_a_count(void)
{
	struct iso_account a;
	struct iso_tally tally = {};
	struct rig r;

	REQUIRE(prepare(&r, RIG_RATE), "no sandbox");
	CHECK_EQUAL(rig_ask(&r, "flood " CLOSED_FILE " 500"), EACCES);
	CHECK_EQUAL(rig_read_events(), 1);
	CHECK_EQUAL(rig_events[0].sequence, 1);
	CHECK(!strcmp(rig_path(&rig_events[0]), CLOSED_FILE), "path %s", rig_path(&rig_events[0]));
	CHECK(rig_events[0].slot > 0 && rig_events[0].slot <= ISO_WINDOW, "slot %u",
	      rig_events[0].slot);
	CHECK_EQUAL(iso_kernel_ask_tally(rig_kernel, r.id, &tally), 0);
	CHECK(tally.window[(rig_events[0].slot - 1) % ISO_WINDOW] ==
		      ((uint64_t)rig_events[0].tag << 32 | 500),
	      "the window says %llx",
	      (unsigned long long)tally.window[(rig_events[0].slot - 1) % ISO_WINDOW]);
	a = rig_account(&r);
	CHECK_EQUAL(a.emitted, 1);
	CHECK_EQUAL(a.collapsed, 499);
	CHECK_EQUAL(a.sequence, 1);
	/* another program's refusal of the same is an event of its own */
	CHECK_EQUAL(rig_ask(&r, "open " CLOSED_FILE " r"), EACCES);
	CHECK_EQUAL(rig_read_events(), 1);
	rig_end(&r);
}

/* Names, directions, addresses of the same kind are told apart. */
static void others_are_not_repeats(void)
{
	struct rig r;
	size_t n;

	REQUIRE(prepare(&r, RIG_RATE), "no sandbox");
	CHECK_EQUAL(rig_ask(&r, "spray " CLOSED " 500"), EACCES);
	n = rig_read_events();
	CHECK_EQUAL(n, 500);
	for (size_t i = 0; i < n; i++)
		if (!CHECK(rig_events[i].sequence == i + 1, "event %zu has sequence %llu", i,
			   (unsigned long long)rig_events[i].sequence))
			break;
	CHECK_EQUAL(rig_account(&r).emitted, 500);
	CHECK_EQUAL(rig_account(&r).collapsed, 0);
	CHECK_EQUAL(rig_ask(&r, "direct open " CLOSED_FILE " r"), EACCES);
	CHECK_EQUAL(rig_ask(&r, "direct open " CLOSED_FILE " w"), EACCES);
	CHECK_EQUAL(rig_ask(&r, "direct link " CLOSED_FILE " " CLOSED "/a"), EACCES);
	CHECK_EQUAL(rig_ask(&r, "direct link " CLOSED_FILE " " CLOSED "/b"), EACCES);
	CHECK_EQUAL(rig_read_events(), 4);
	CHECK_EQUAL(rig_ask(&r, "direct link " CLOSED_FILE " " CLOSED "/b"), EACCES);
	CHECK_EQUAL(rig_read_events(), 0);
	rig_end(&r);
}

/* More of them than the window has places, each twice and again: no refusal is forgotten. */
static void window_gives_up_no_count(void)
{
	struct reader both[2] = {};
	struct iso_account a;
	struct rig r;

	REQUIRE(prepare(&r, 1u << 30), "no sandbox");
	both[0].sandbox = r.id;
	for (int i = 0; i < 3; i++) {
		CHECK_EQUAL(rig_ask(&r, "spray " CLOSED " 3000"), EACCES);
		CHECK_EQUAL(rig_ask(&r, "flood-twice " CLOSED_FILE " 1000"), EACCES);
		iso_kernel_ring_consume(rig_kernel, hear_both, both);
	}
	settle(&both[0]);
	a = rig_account(&r);
	CHECK_EQUAL(rig_denials(&a), 15000);
	CHECK_EQUAL(a.lost_rate + a.lost_full, 0);
	CHECK(a.collapsed > 0 && a.emitted > ISO_WINDOW, "%llu collapsed, %llu emitted",
	      (unsigned long long)a.collapsed, (unsigned long long)a.emitted);
	CHECK_EQUAL(both[0].events, a.emitted);
	CHECK_EQUAL(both[0].told, 15000);
	CHECK_EQUAL(both[0].holes, 0);
	rig_end(&r);
}

/* What is over the rate is not said, is counted, and leaves a hole in the sequence. */
static void losses_are_counted(void)
{
	struct reader both[2] = {};
	struct iso_account a;
	struct rig r;

	REQUIRE(prepare(&r, 20), "no sandbox");
	both[0].sandbox = r.id;
	CHECK_EQUAL(rig_ask(&r, "spray " CLOSED " 3000"), EACCES);
	iso_kernel_ring_consume(rig_kernel, hear_both, both);
	a = rig_account(&r);
	CHECK_EQUAL(rig_denials(&a), 3000);
	CHECK_EQUAL(a.sequence, 3000 - a.collapsed);
	CHECK_EQUAL(a.emitted, both[0].events);
	CHECK_EQUAL(a.lost_full, 0);
	CHECK(a.emitted >= 20 && a.lost_rate > 0, "%llu events at 20 a second",
	      (unsigned long long)a.emitted);
	CHECK_EQUAL(both[0].holes + (a.sequence - both[0].last), a.lost_rate);
	rig_end(&r);
}

/* With the bucket empty the first of a kind is said, and the second is not. */
static void first_of_a_kind_passes(void)
{
	struct rig r;

	REQUIRE(prepare(&r, 1), "no sandbox");
	CHECK_EQUAL(rig_ask(&r, "spray " CLOSED " 200"), EACCES);
	rig_read_events();
	CHECK(rig_account(&r).lost_rate > 0, "the bucket is not empty");
	CHECK_EQUAL(rig_ask(&r, "mkdir " CLOSED "/new"), EACCES);
	CHECK_EQUAL(rig_read_events(), 1);
	CHECK_EQUAL(rig_events[0].hook, ISO_HOOK_path_mkdir);
	CHECK_EQUAL(rig_ask(&r, "spray " CLOSED " 200"), EACCES);
	CHECK_EQUAL(rig_ask(&r, "symlink x " CLOSED "/new"), EACCES);
	CHECK_EQUAL(rig_ask(&r, "spray " CLOSED " 200"), EACCES);
	CHECK(rig_read_events() >= 1, "no first event");
	CHECK_EQUAL(rig_account(&r).kinds_full, 0);
	rig_end(&r);
}

#define KINDS 400

/* More kinds than are told apart: they come at the rate, and the account says so. */
static void kinds_are_bounded(void)
{
	struct iso_account a;
	char path[64];
	struct rig r;

	REQUIRE(rig_tree() && rig_prepare(&r, 0, 1), "no sandbox");
	for (int i = 0; i < KINDS; i++) {
		snprintf(path, sizeof path, RIG_TREE "/%d", i);
		if (!rig_file(path) || !rig_rule(&r, path, 0, 10 + (uint32_t)i))
			return;
	}
	REQUIRE(rig_seal(&r), "not sealed");
	for (int i = 0; i < KINDS; i++)
		CHECK_EQUAL(rig_ask(&r, "direct open " RIG_TREE "/%d r", i), EACCES);
	a = rig_account(&r);
	CHECK_EQUAL(a.emitted + a.lost_rate, KINDS);
	CHECK(a.kinds_full > 0 && a.lost_rate > 0, "%llu without a place, %llu lost",
	      (unsigned long long)a.kinds_full, (unsigned long long)a.lost_rate);
	CHECK(a.emitted >= ISO_KINDS / 2, "%llu kinds were said", (unsigned long long)a.emitted);
	rig_end(&r);
}

/* A full ring changes no verdict. */
static void full_ring_changes_no_verdict(void)
{
	struct iso_account a;
	struct rig r;
	size_t n;

	REQUIRE(prepare(&r, 1u << 30), "no sandbox");
	CHECK_EQUAL(rig_ask(&r, "spray " CLOSED " 20000"), EACCES);
	CHECK_EQUAL(rig_ask(&r, "open " OPEN_FILE " r"), 0);
	a = rig_account(&r);
	CHECK_EQUAL(rig_denials(&a), 20000);
	CHECK(a.lost_full > 0, "the ring took %llu records", (unsigned long long)a.emitted);
	CHECK_EQUAL(a.sequence, a.emitted + a.lost_full);
	/* a first one that found no room is still the first */
	CHECK_EQUAL(rig_ask(&r, "mkdir " CLOSED "/new"), EACCES);
	do
		n = rig_read_events();
	while (n);
	CHECK_EQUAL(rig_ask(&r, "mkdir " CLOSED "/new"), EACCES);
	CHECK_EQUAL(rig_read_events(), 1);
	rig_end(&r);
}

static void count(const char *what, uint64_t n)
{
	printf("  %s: %llu\n", what, (unsigned long long)n);
}

/*
 * The quiet one's refusals, one every 10 ms and each of another name, until the other's program has
 * answered. How many; -1: one was not refused.
 */
static long drip(struct rig *noisy, struct rig *quiet, struct reader *both)
{
	struct pollfd ended = {.fd = noisy->answers, .events = POLLIN};
	static long name;
	long first = name;

	for (; poll(&ended, 1, QUIET_MS) == 0; name++) {
		if (rig_ask(quiet, "direct create " CLOSED "/quiet%ld", name) != EACCES)
			return -1;
		iso_kernel_ring_consume(rig_kernel, hear_both, both);
	}
	return name - first;
}

/*
 * One sandbox makes a million refusals (ISO_FLOOD: how many), repeats by two programs at once and
 * others, while another makes one every 10 ms: nothing of the other's is lost, and the first's
 * account is exact.
 */
static void one_floods_another_loses_nothing(void)
{
	const char *wanted = getenv("ISO_FLOOD");
	long many = wanted ? strtol(wanted, NULL, 10) : MILLION, quiet_made = 0, n;
	struct iso_account a, b;
	struct reader both[2] = {};
	struct rig noisy = {}, quiet = {};

	many -= many % 4;
	REQUIRE(many > 0 && prepare(&noisy, 200) && closed_tree(&quiet, 200), "no sandboxes");
	both[0].sandbox = noisy.id;
	both[1].sandbox = quiet.id;
	for (int i = 0; i < 2; i++) {
		CHECK(i ? rig_tell(&noisy, "spray " CLOSED " %ld", many / 2)
			: rig_tell(&noisy, "flood-twice " CLOSED_FILE " %ld", many / 4),
		      "the noisy one is not told");
		n = drip(&noisy, &quiet, both);
		REQUIRE(n > 0, "the quiet one was not refused (%ld)", n);
		quiet_made += n;
		CHECK_EQUAL(rig_answer(&noisy), EACCES);
	}
	iso_kernel_ring_consume(rig_kernel, hear_both, both);
	settle(&both[0]);
	settle(&both[1]);
	a = rig_account(&noisy);
	b = rig_account(&quiet);
	count("noisy: refusals", rig_denials(&a));
	count("noisy: emitted", a.emitted);
	count("noisy: collapsed", a.collapsed);
	count("noisy: lost, rate", a.lost_rate);
	count("noisy: lost, ring full", a.lost_full);
	count("quiet: refusals", rig_denials(&b));
	count("quiet: emitted", b.emitted);
	CHECK_EQUAL(rig_denials(&a), many);
	CHECK_EQUAL(both[0].events, a.emitted);
	CHECK_EQUAL(both[0].told + a.lost_rate + a.lost_full, many);
	CHECK_EQUAL(both[0].holes + (a.sequence - both[0].last), a.lost_rate + a.lost_full);
	CHECK_EQUAL(rig_denials(&b), quiet_made);
	CHECK_EQUAL(b.emitted, quiet_made);
	CHECK_EQUAL(both[1].events, quiet_made);
	CHECK_EQUAL(both[1].holes, 0);
	CHECK_EQUAL(both[1].last, quiet_made);
	rig_end(&noisy);
	rig_end(&quiet);
}

const struct iso_case rig_flood_cases[] = {
	{"repeats-are-one-event-and-a-count", repeats_are_one_event_and_a_count},
	{"others-are-not-repeats", others_are_not_repeats},
	{"window-gives-up-no-count", window_gives_up_no_count},
	{"losses-are-counted", losses_are_counted},
	{"first-of-a-kind-passes", first_of_a_kind_passes},
	{"kinds-are-bounded", kinds_are_bounded},
	{"full-ring-changes-no-verdict", full_ring_changes_no_verdict},
	{"one-floods-another-loses-nothing", one_floods_another_loses_nothing},
};
const size_t rig_flood_count = sizeof rig_flood_cases / sizeof *rig_flood_cases;
