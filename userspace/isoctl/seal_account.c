/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "isoctl/seal.h"

static bool coloured(void)
{
	static int known = -1;

	if (known < 0)
		known = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
	return known;
}

static const char *paint(const char *code)
{
	return coloured() ? code : "";
}

#define RED   paint("\033[31m")
#define GREEN paint("\033[32m")
#define DIM   paint("\033[2m")
#define PLAIN paint("\033[0m")

static const char *text(json_t *object, const char *name)
{
	const char *s = json_string_value(json_object_get(object, name));

	return s ? s : "";
}

void seal_progress(const struct seal_session *s, const char *state)
{
	if (s->options->quiet || !isatty(STDERR_FILENO) || strcmp(state, "settled") == 0 ||
	    strcmp(state, "ended") == 0)
		return;
	fprintf(stderr, "%sisoctl: %s: %s%s\n", DIM, s->run, state, PLAIN);
}

void seal_say_failure(const char *what, const struct iso_failure *f)
{
	fprintf(stderr, "%sisoctl: %s%s: %s: %s\n", RED, what, PLAIN, f->error.step,
		f->error.message);
	if (*f->error.remedy)
		fprintf(stderr, "isoctl: remedy: %s\n", f->error.remedy);
}

static void print_refusal(json_t *refusal)
{
	json_int_t count = json_integer_value(json_object_get(refusal, "count"));
	const char *object = text(refusal, "object"), *rule = text(refusal, "rule");

	fprintf(stderr, "  %-8s %-18s %-8s %s", text(refusal, "kind"), text(refusal, "hook"),
		text(refusal, "errno"), *object ? object : "-");
	if (count > 1)
		fprintf(stderr, " (%lld times)", (long long)count);
	/* A rule that the product makes for every manifest points to no place of it. */
	fprintf(stderr, " %s(%s; %s%s)%s\n", DIM, text(refusal, "why"),
		*rule ? "rule " : "built in", rule, PLAIN);
}

static void print_refusals(json_t *result)
{
	json_t *list = json_object_get(result, "refusals"), *refusal;
	json_t *events = json_object_get(result, "events");
	json_int_t more = json_integer_value(json_object_get(events, "more"));
	json_int_t lost = json_integer_value(json_object_get(events, "lost"));
	size_t i, unexpected = 0;

	json_array_foreach (list, i, refusal) {
		unexpected += !json_is_true(json_object_get(refusal, "expected"));
	}
	if (unexpected || more)
		fprintf(stderr, "isoctl: refused attempts:\n");
	json_array_foreach (list, i, refusal) {
		if (!json_is_true(json_object_get(refusal, "expected")))
			print_refusal(refusal);
	}
	if (more)
		fprintf(stderr, "  and %lld more; see isoctl events --run\n", (long long)more);
	if (lost)
		fprintf(stderr, "isoctl: %lld events were lost; the stream says which\n",
			(long long)lost);
}

/* One line: how it ended, in words and as the status that follows from it. */
static void print_verdict(const struct seal_session *s, json_t *result)
{
	json_t *end = json_object_get(result, "exit"), *error = json_object_get(result, "error");
	int status = (int)json_integer_value(json_object_get(end, "status"));
	const char *stop = text(result, "stop_reason"), *message = text(error, "message");
	json_t *signal = json_object_get(end, "signal");
	const char *colour = status == 0 ? GREEN : RED;

	fprintf(stderr, "%sisoctl: %s: ", colour, s->run);
	if (*stop)
		fprintf(stderr, "stopped: %s (%s)", stop, message);
	else if (json_is_object(error))
		fprintf(stderr, "failed: %s: %s", text(error, "step"), message);
	else if (json_is_integer(signal))
		fprintf(stderr, "ended by signal %lld (%s)", (long long)json_integer_value(signal),
			strsignal((int)json_integer_value(signal)));
	else
		fprintf(stderr, "ended with status %d", status);
	fprintf(stderr, "%s", PLAIN);
	if (status != 0)
		fprintf(stderr, "; exit status %d", status);
	fputc('\n', stderr);
	if (*text(error, "remedy"))
		fprintf(stderr, "isoctl: remedy: %s\n", text(error, "remedy"));
}

void seal_account(const struct seal_session *s, json_t *result)
{
	if (s->options->quiet)
		return;
	print_refusals(result);
	print_verdict(s, result);
	if (!json_is_true(json_object_get(result, "settled")))
		fprintf(stderr,
			"%sisoctl: something of it is left on this host; see isod's journal%s\n",
			RED, PLAIN);
	if (s->options->result)
		fprintf(stderr, "%sisoctl: result: %s%s\n", DIM, s->options->result, PLAIN);
}
