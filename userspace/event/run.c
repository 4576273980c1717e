/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/run.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/text.h"
#include "event/hash.h"
#include "event/names.h"
#include "event/redact.h"
#include "event/window.h"
#include "iso_abi.h"

#define RATE_DEFAULT 200

static bool id_ok(const char *id)
{
	size_t n = id ? strlen(id) : 0;

	if (n < 1 || n > 128)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)id[i]) && !strchr("._:-", id[i]))
			return false;
	return true;
}

static bool digest_ok(const char *hex)
{
	return hex && strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64;
}

static json_t *make_labels(const struct iso_pairs *labels)
{
	json_t *list = json_array();

	for (size_t i = 0; labels && i < labels->count; i++) {
		char whole[512], out[1024];
		int n = snprintf(whole, sizeof whole, "%s=%s", labels->items[i].key,
				 labels->items[i].value);
		size_t used = (size_t)n < sizeof whole ? (size_t)n : sizeof whole - 1;

		json_array_append_new(list,
				      json_string(iso_text_escape(whole, used, out, sizeof out)));
	}
	return list;
}

static json_t *make_device(const struct iso_run_context *ctx)
{
	/* type_id 1 Server, os.type_id 200 Linux; both are required by the schema */
	return json_pack("{s:s, s:s, s:i, s:{s:s, s:i, s:s}}", "hostname",
			 ctx->hostname ? ctx->hostname : "localhost", "uid",
			 ctx->machine_id ? ctx->machine_id : "unknown", "type_id", 1, "os", "name",
			 "Linux", "type_id", 200, "kernel_release",
			 ctx->kernel_release ? ctx->kernel_release : "unknown");
}

static int copy_expected(struct iso_run *run, const struct iso_strv *expected)
{
	if (!expected || !expected->count)
		return 0;
	run->expected = calloc(expected->count, sizeof *run->expected);
	if (!run->expected)
		return -ENOMEM;
	for (size_t i = 0; i < expected->count; i++) {
		run->expected[i] = strdup(expected->items[i]);
		if (!run->expected[i])
			return -ENOMEM;
		run->expected_count = i + 1;
	}
	return 0;
}

int iso_run_new(const struct iso_run_context *ctx, struct iso_run **ret)
{
	struct iso_run *run;
	int r;

	if (!id_ok(ctx->run_id) || !id_ok(ctx->task_id) || !digest_ok(ctx->manifest_sha256))
		return -EINVAL;
	run = calloc(1, sizeof *run);
	if (!run)
		return -ENOMEM;
	run->sandbox = ctx->sandbox;
	run->attempt = ctx->attempt;
	run->cgroup_id = ctx->cgroup_id;
	run->policy = ctx->policy;
	run->rate = ctx->events_per_second ? ctx->events_per_second : RATE_DEFAULT;
	run->tokens = run->rate;
	run->run_id = strdup(ctx->run_id);
	run->task_id = strdup(ctx->task_id);
	run->manifest_sha256 = strdup(ctx->manifest_sha256);
	run->labels = make_labels(ctx->labels);
	run->device = make_device(ctx);
	run->product = json_pack("{s:s, s:s, s:s}", "name", "isoctl", "version", ISO_VERSION,
				 "vendor_name", "isoctl");
	r = copy_expected(run, ctx->expected);
	memcpy(run->head, ISO_CHAIN_START, sizeof run->head);
	if (r < 0 || !run->run_id || !run->task_id || !run->manifest_sha256 || !run->labels ||
	    !run->device || !run->product) {
		iso_run_free(run);
		return -ENOMEM;
	}
	*ret = run;
	return 0;
}

static void free_program(struct iso_known_program *p)
{
	free(p->path);
	free(p->command_line);
	free(p);
}

void iso_run_free(struct iso_run *run)
{
	if (!run)
		return;
	while (run->programs) {
		struct iso_known_program *next = run->programs->next;

		free_program(run->programs);
		run->programs = next;
	}
	for (size_t i = 0; i < run->repeat_count; i++)
		free(run->repeats[i].record);
	iso_window_free(run);
	for (size_t i = 0; i < run->expected_count; i++)
		free(run->expected[i]);
	free(run->expected);
	iso_run_summary_free(&run->summary);
	json_decref(run->labels);
	json_decref(run->device);
	json_decref(run->product);
	free(run->run_id);
	free(run->task_id);
	free(run->manifest_sha256);
	free(run);
}

void iso_run_summary_free(struct iso_run_summary *summary)
{
	for (size_t i = 0; i < summary->refusal_count; i++) {
		free(summary->refusals[i].object);
		free(summary->refusals[i].rule);
	}
	summary->refusal_count = 0;
}

const struct iso_known_program *iso_run_program(const struct iso_run *run, uint64_t exec)
{
	for (const struct iso_known_program *p = run->programs; p; p = p->next)
		if (p->exec == exec)
			return p;
	return NULL;
}

/* Takes out the program with this exec id, or the oldest when the table is full. */
static void make_room(struct iso_run *run, uint64_t exec)
{
	struct iso_known_program **at = &run->programs;

	for (; *at; at = &(*at)->next) {
		struct iso_known_program *p = *at;

		if (p->exec != exec && (p->next || run->program_count < ISO_RUN_PROGRAMS))
			continue;
		*at = p->next;
		free_program(p);
		run->program_count--;
		return;
	}
}

int iso_run_add_program(struct iso_run *run, const struct iso_program *p)
{
	struct iso_known_program *known = calloc(1, sizeof *known);
	int r = known ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	known->exec = p->exec;
	known->pid = p->pid;
	known->start_time = p->start_time;
	if (p->path) {
		known->path = strdup(p->path);
		r = known->path ? 0 : -ENOMEM;
	}
	if (r == 0 && p->command_line)
		r = iso_redact_command_line(p->command_line, &known->command_line);
	if (r < 0) {
		free_program(known);
		return r;
	}
	make_room(run, p->exec);
	known->next = run->programs;
	run->programs = known;
	run->program_count++;
	return 0;
}

/* Everything that makes two refusals one and the same, packed. */
struct identity {
	uint64_t numbers[6];
	uint8_t address[16];
	char text[3 * ISO_RECORD_TEXT + 32];
};

uint64_t iso_record_key(const struct iso_record *r)
{
	size_t a = strlen(r->path) + 1, b = strlen(r->path2) + 1;
	size_t c = strlen(r->call) + 1, d = strlen(r->arguments) + 1;
	struct identity id;

	id.numbers[0] = (uint64_t)r->kind << 32 | r->hook;
	id.numbers[1] = (uint64_t)r->reason << 32 | r->rule;
	id.numbers[2] = (uint64_t)(uint32_t)r->error << 32 | r->wanted;
	id.numbers[3] = (uint64_t)r->family << 48 | (uint64_t)r->port << 32 |
			(uint64_t)r->protocol << 16 | r->type;
	id.numbers[4] = r->path_truncated;
	id.numbers[5] = r->path2_truncated;
	memcpy(id.address, r->address, sizeof id.address);
	memcpy(id.text, r->path, a);
	memcpy(id.text + a, r->path2, b);
	memcpy(id.text + a + b, r->call, c);
	memcpy(id.text + a + b + c, r->arguments, d);
	return iso_keyed_hash(&id, offsetof(struct identity, text) + a + b + c + d);
}

bool iso_record_is_refusal(const struct iso_record *r)
{
	return r->kind <= ISO_RECORD_TAMPER;
}

/* Kinds of /response/expected (manifest/types.c): which records they are about. */
static const struct {
	const char *prefix;
	enum iso_record_kind kind;
} expected_kinds[] = {
	{"file:", ISO_RECORD_FILE},   {"file:", ISO_RECORD_ABSENT},    {"exec:", ISO_RECORD_EXEC},
	{"network:", ISO_RECORD_NET}, {"syscall:", ISO_RECORD_KERNEL}, {"limit:", ISO_RECORD_LIMIT},
};

/*
 * What was asked for, as an item of /response/expected says it: the path of a file, the address and
 * port or the operation ("socket") on the network, a system call or a hook or its operation, the
 * name of a limit.
 */
static bool asked_for(const struct iso_record *r, const char *what)
{
	const struct iso_hook_name *hook = iso_hook_find(r->hook);
	char object[2 * ISO_RECORD_TEXT];

	if (r->kind == ISO_RECORD_LIMIT)
		return !strncmp(r->limit, what, sizeof r->limit);
	if (r->kind == ISO_RECORD_FILE || r->kind == ISO_RECORD_ABSENT ||
	    r->kind == ISO_RECORD_EXEC)
		return !r->path_truncated && !strcmp(r->path, what);
	if (r->hook == ISO_HOOK_seccomp)
		return !strcmp(r->call, what);
	if (hook && (!strcmp(what, hook->name) || !strcmp(what, hook->verb)))
		return true;
	return r->kind == ISO_RECORD_NET &&
	       !strcmp(what, iso_record_object(r, object, sizeof object));
}

bool iso_run_expects(const struct iso_run *run, const struct iso_record *r)
{
	for (size_t i = 0; i < run->expected_count; i++) {
		for (size_t k = 0; k < sizeof expected_kinds / sizeof *expected_kinds; k++) {
			size_t n = strlen(expected_kinds[k].prefix);

			if (expected_kinds[k].kind == r->kind &&
			    !strncmp(run->expected[i], expected_kinds[k].prefix, n) &&
			    asked_for(r, run->expected[i] + n))
				return true;
		}
	}
	return false;
}

const char *iso_run_rule(const struct iso_run *run, uint32_t rule, char scratch[24])
{
	if (rule == ISO_RULE_NONE)
		return "none";
	if (run->policy && rule <= run->policy->rule_count &&
	    run->policy->rules[rule - 1].pointer) {
		const char *pointer = run->policy->rules[rule - 1].pointer;

		/* "" would point at the whole manifest: what every sandbox has is not from there */
		return *pointer ? pointer : "built-in";
	}
	snprintf(scratch, 24, "rule:%" PRIu32, rule);
	return scratch;
}

static void address_text(const struct iso_record *r, char *out, size_t size)
{
	char ip[INET6_ADDRSTRLEN] = "";

	inet_ntop(r->family, r->address, ip, sizeof ip);
	if (r->family == AF_INET6)
		snprintf(out, size, "[%s]:%u", ip, r->port);
	else
		snprintf(out, size, "%s:%u", ip, r->port);
}

char *iso_record_object(const struct iso_record *r, char *out, size_t size)
{
	char whole[2 * ISO_RECORD_TEXT + 16];
	int n;

	if (r->kind == ISO_RECORD_NET && (r->family == AF_INET || r->family == AF_INET6)) {
		address_text(r, out, size);
		return out;
	}
	if (r->kind == ISO_RECORD_NET && !r->path[0]) {
		snprintf(out, size, "%s%u",
			 r->family == AF_UNIX ? "unix socket, family " : "family-", r->family);
		return out;
	}
	if (r->call[0]) {
		snprintf(out, size, "%s(%s)", r->call, r->arguments);
		return out;
	}
	n = snprintf(whole, sizeof whole, "%s%s%s%s%s", r->path_truncated ? "..." : "", r->path,
		     r->path2[0] ? " -> " : "", r->path2_truncated ? "..." : "", r->path2);
	return iso_text_escape(whole, (size_t)n, out, size);
}

static int list_refusal(struct iso_run *run, const struct iso_record *r, uint64_t key,
			uint64_t times)
{
	struct iso_run_summary *s = &run->summary;
	struct iso_refusal *f = &s->refusals[s->refusal_count];
	const struct iso_reason_name *reason = iso_reason_find(r->reason);
	const struct iso_hook_name *hook = iso_hook_find(r->hook);
	char object[2048], scratch[24], number[16];

	*f = (struct iso_refusal){
		.kind = r->kind,
		.hook = hook ? hook->name : "unknown",
		.operation = iso_hook_verb(r->hook, r->wanted),
		.reason = reason ? reason->word : "unknown",
		.why = reason ? reason->sentence : "unknown",
		.object = strdup(iso_record_object(r, object, sizeof object)),
		.rule = strdup(iso_run_rule(run, r->rule, scratch)),
		.count = times,
		.expected = r->expected,
	};
	snprintf(f->errno_name, sizeof f->errno_name, "%s", iso_errno_name(r->error, number));
	if (!f->object || !f->rule) {
		free(f->object);
		free(f->rule);
		return -ENOMEM;
	}
	run->refusal_keys[s->refusal_count++] = key;
	return 0;
}

void iso_run_account(struct iso_run *run, const struct iso_record *r, uint64_t key)
{
	struct iso_run_summary *s = &run->summary;
	uint64_t times = r->count ? r->count : 1;

	s->happened[r->kind] += times;
	if (!iso_record_is_refusal(r))
		return;
	if (r->expected)
		s->expected += times;
	for (size_t i = 0; i < s->refusal_count; i++) {
		if (run->refusal_keys[i] == key) {
			s->refusals[i].count += times;
			return;
		}
	}
	if (s->refusal_count == ISO_REFUSALS_MAX || list_refusal(run, r, key, times) < 0)
		s->refusals_more += times;
}
