/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every row of backstops.def, with what decides before it detached. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/internal.h"
#include "rig.h"

#define CLOSED	    3u	 /* rule */
#define DETACHED_MS 5000 /* links are released by a worker, which nothing announces */

struct backstop {
	const char *hook, *older, *off, *action;
	int error, outside;
};

static const struct backstop backstops[] = {
#define BACKSTOP(hook, off, error, action, outside) {#hook, NULL, off, action, error, outside},
#define BACKSTOPS(hook, older, off, error, action, outside) \
	{#hook, #older, off, action, error, outside},
#define UNREACHED(hook, why)
#include "backstops.def"
#undef BACKSTOP
#undef BACKSTOPS
#undef UNREACHED
};

static const char *const hook_names[] = {
#define ISO_HOOK(number, name, category, presence, operation) [number] = #name,
#include "iso_hooks.def"
#undef ISO_HOOK
};

static struct bpf_prog_skeleton *program_of(const char *hook)
{
	struct bpf_object_skeleton *s = rig_kernel->skeleton->skeleton;
	char name[64];

	snprintf(name, sizeof name, "iso_%s", hook);
	for (int i = 0; i < s->prog_cnt; i++)
		if (!strcmp(s->progs[i].name, name))
			return &s->progs[i];
	return NULL;
}

/* Kernels that have no such hook have no program of it. */
static bool is_there(const char *hook)
{
	struct bpf_prog_skeleton *p = program_of(hook);

	return p && bpf_program__autoload(*p->prog);
}

static void detach(const char *hook)
{
	struct bpf_prog_skeleton *p = program_of(hook);

	if (!p || !*p->link)
		return;
	bpf_link__destroy(*p->link);
	*p->link = NULL;
}

static void attach(const char *hook)
{
	struct bpf_prog_skeleton *p = program_of(hook);

	if (p && !*p->link && bpf_program__autoload(*p->prog))
		*p->link = bpf_program__attach(*p->prog);
	CHECK(!p || *p->link || !bpf_program__autoload(*p->prog), "%s does not attach again", hook);
}

static void for_each_word(const char *words, void (*act)(const char *word))
{
	char text[128], *save;

	snprintf(text, sizeof text, "%s", words);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		act(w);
}

static const char *probe(void)
{
	static char path[1024];
	char self[960];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n < 0 ? 0 : n] = 0;
	for (int i = 0; i < 3 && strrchr(self, '/'); i++)
		*strrchr(self, '/') = 0;
	snprintf(path, sizeof path, "%s/kernel-tests/iso-probe", self);
	return path;
}

/* What the action does where no sandbox is. */
static int outside(const struct backstop *b)
{
	char command[1280];
	int status;

	snprintf(command, sizeof command, "exec %s apart %s", probe(), b->action);
	status = system(command); /* NOLINT(cert-env33-c): the words are the table's */
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The answer of the sandbox, and its events in rig_events. */
static int inside(struct rig *r, const struct backstop *b, size_t *ret_events)
{
	int answer;

	rig_read_events();
	answer = rig_ask(r, "probe %s %s", probe(), b->action);
	*ret_events = rig_read_events();
	return answer;
}

static size_t count(size_t events, const char *hook)
{
	size_t n = 0;

	for (size_t i = 0; i < events; i++)
		n += hook && !strcmp(hook_names[rig_events[i].hook], hook);
	return n;
}

/* Refused by this hook and no other; asked again while the others are being detached. */
static void is_refused(struct rig *r, const struct backstop *b, const char *hook)
{
	size_t events = 0;
	int answer = 0;

	for (int i = 0; i < DETACHED_MS / 10; i++) {
		answer = inside(r, b, &events);
		if (answer == b->error && events && count(events, hook) == events)
			break;
		poll(NULL, 0, 10);
	}
	CHECK(answer == b->error, "%s: %s is %d, not %d", hook, b->action, answer, b->error);
	CHECK(events && count(events, hook) == events, "%s: %s: %zu events, the first of %s", hook,
	      b->action, events, events ? hook_names[rig_events[0].hook] : "none");
}

/* Without the hook there is no such refusal: the check above can fail. */
static void is_not_refused(struct rig *r, const struct backstop *b, const char *hook)
{
	size_t events = 1;

	for (int i = 0; i < DETACHED_MS / 10; i++) {
		inside(r, b, &events);
		if (!count(events, hook))
			break;
		poll(NULL, 0, 10);
	}
	CHECK(!count(events, hook), "%s: is refused by it although it is detached", hook);
}

static void one_row(struct rig *r, const struct backstop *given)
{
	struct backstop row = *given, *b = &row;
	const char *hook = is_there(b->hook) ? b->hook : b->older;
	char action[64];
	int got = outside(b);

	if (!strcmp(b->action, "signal-by-file INIT")) {
		snprintf(action, sizeof action, "signal-by-file %d", (int)r->init);
		b->action = action;
	}
	if (!hook) {
		printf("         %s is not on this kernel\n", b->hook);
		return;
	}
	CHECK(got == b->outside, "%s: %s is %d outside, not %d", b->hook, b->action, got,
	      b->outside);
	for_each_word(b->off, detach);
	is_refused(r, b, hook);
	detach(hook);
	is_not_refused(r, b, hook);
	attach(hook);
	for_each_word(b->off, attach);
}

static bool tree(void)
{
	char command[1280];

	snprintf(
		command, sizeof command,
		"%s copy /usr/bin/true /tmp/rig/program && exec %s pass-file /tmp/rig/passer /tmp/rig/closed",
		probe(), probe());
	return rig_tree() && rig_directory(RIG_TREE "/d") && rig_directory(RIG_TREE "/mounted") &&
	       rig_file(RIG_TREE "/closed") && rig_file(RIG_TREE "/f") &&
	       CHECK(!mount("rig", RIG_TREE "/mounted", "tmpfs", 0, NULL), "no mount") &&
	       /* NOLINTNEXTLINE(cert-env33-c): a path of the build */
	       CHECK(!system(command), "no files");
}

static void each_hook_decides_by_itself(void)
{
	struct rig r = {};

	REQUIRE(tree() && rig_prepare(&r, 0, RIG_RATE) &&
			rig_rule(&r, RIG_TREE "/closed", 0, CLOSED) &&
			rig_rule(&r, RIG_TREE "/program", ISO_READ, CLOSED) && rig_seal(&r),
		"no sandbox");
	for (size_t i = 0; i < sizeof backstops / sizeof *backstops; i++)
		one_row(&r, &backstops[i]);
	rig_end(&r);
}

const struct iso_case rig_backstop_cases[] = {
	{"each-hook-decides-by-itself", each_hook_decides_by_itself},
};
const size_t rig_backstop_count = sizeof rig_backstop_cases / sizeof *rig_backstop_cases;
