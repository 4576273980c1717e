/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/text.h"

#define RED    "\033[1;31m"
#define YELLOW "\033[1;33m"
#define GREEN  "\033[32m"
#define DIM    "\033[2m"
#define PLAIN  "\033[0m"

struct out {
	char *text;
	size_t used, size;
};

static void add(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct out *o, const char *format, ...)
{
	va_list args;
	int n;

	if (o->used + 1 >= o->size)
		return;
	va_start(args, format);
	n = vsnprintf(o->text + o->used, o->size - o->used, format, args);
	va_end(args);
	o->used = (size_t)n < o->size - o->used ? o->used + (size_t)n : o->size - 1;
}

/*
 * Text in a record has been escaped once, so its backslashes stand for themselves; a file that
 * somebody else wrote may still hold anything.
 */
static void add_text(struct out *o, const char *s)
{
	char part[4096];

	while (*s) {
		size_t n = strcspn(s, "\\");

		add(o, "%s", iso_text_escape(s, n, part, sizeof part));
		s += n;
		for (; *s == '\\'; s++)
			add(o, "\\");
	}
}

static const json_t *get(const json_t *o, const char *path)
{
	char key[64];

	while (o && *path) {
		size_t n = strcspn(path, ".");

		snprintf(key, sizeof key, "%.*s", (int)n, path);
		o = json_object_get(o, key);
		path += n + (path[n] == '.');
	}
	return o;
}

static const char *text(const json_t *o, const char *path)
{
	const char *s = json_string_value(get(o, path));

	return s ? s : "";
}

static long long number(const json_t *o, const char *path)
{
	return json_integer_value(get(o, path));
}

static void add_object(struct out *o, const json_t *r)
{
	static const char *const places[] = {"file.path", "process.file.path", "dst_endpoint.name",
					     "kernel.path"};
	const char *ip = text(r, "dst_endpoint.ip"), *path2 = text(r, "unmapped.isoctl.path2");

	if (get(r, "unmapped.isoctl.arguments")) {
		add(o, " ");
		add_text(o, text(r, "kernel.system_call"));
		add(o, "(");
		add_text(o, text(r, "unmapped.isoctl.arguments"));
		add(o, ")");
		return;
	}
	if (*ip) {
		add(o, " ");
		add(o, "%s", strchr(ip, ':') ? "[" : "");
		add_text(o, ip);
		add(o, "%s:%lld", strchr(ip, ':') ? "]" : "", number(r, "dst_endpoint.port"));
		return;
	}
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!*text(r, places[i]))
			continue;
		add(o, " ");
		add_text(o, text(r, places[i]));
		break;
	}
	if (*path2) {
		add(o, " -> ");
		add_text(o, path2);
	}
}

static void add_process(struct out *o, const char *before, const json_t *process)
{
	long long pid = number(process, "namespace_pid");
	const char *name = text(process, "name");

	if (!pid)
		pid = number(process, "pid");
	if (!*name && !pid)
		return;
	add(o, "%s", before);
	add_text(o, *name ? name : "process");
	if (pid)
		add(o, "[%lld]", pid);
}

static void add_refusal(struct out *o, const json_t *r)
{
	const char *rule = text(r, "firewall_rule.uid");

	add(o, " ");
	add_text(o, text(r, "unmapped.isoctl.operation"));
	add_object(o, r);
	if (*text(r, "status_detail")) {
		add(o, " — ");
		add_text(o, text(r, "status_detail"));
	}
	if (*rule && strcmp(rule, "none")) {
		add(o, " (rule ");
		add_text(o, rule);
		add(o, ")");
	}
	add_process(o, " by ", get(r, "actor.process"));
	add(o, " ");
	add_text(o, text(r, "status_code"));
}

#define COMMAND_SHOWN 200 /* bytes of a command line that a person is shown; the record has all */

static void add_command(struct out *o, const char *command)
{
	char shown[COMMAND_SHOWN + 1];
	size_t n = COMMAND_SHOWN;

	if (strlen(command) <= COMMAND_SHOWN) {
		add_text(o, command);
		return;
	}
	while (n && ((unsigned char)command[n] & 0xc0) == 0x80) /* not within a character */
		n--;
	memcpy(shown, command, n);
	shown[n] = '\0';
	add_text(o, shown);
	add(o, " …");
}

static void add_started(struct out *o, const json_t *r)
{
	const char *command = text(r, "process.cmd_line");

	if (*command) {
		add(o, " ");
		add_command(o, command);
	} else {
		add_object(o, r);
	}
	add_process(o, " as ", get(r, "actor.process"));
}

static void add_ended(struct out *o, const json_t *r)
{
	add_object(o, r);
	add_process(o, " ", get(r, "actor.process"));
	if (number(r, "unmapped.isoctl.signal"))
		add(o, " — signal %lld", number(r, "unmapped.isoctl.signal"));
	else
		add(o, " — exit status %lld", number(r, "exit_code"));
}

static void add_survivor(struct out *o, const json_t *r)
{
	add_object(o, r);
	add_process(o, " ", get(r, "actor.process"));
	add(o, " — ");
	add_text(o, text(r, "status_detail"));
}

static void add_limit(struct out *o, const json_t *r)
{
	add(o, " ");
	add_text(o, text(r, "unmapped.isoctl.limit"));
	add(o, " — %lld of %lld", number(r, "unmapped.isoctl.observed"),
	    number(r, "unmapped.isoctl.max"));
}

static void add_state(struct out *o, const json_t *r)
{
	add(o, " task ");
	add_text(o, text(r, "unmapped.isoctl.task"));
	add(o, ", attempt %lld", number(r, "unmapped.isoctl.attempt"));
}

static void add_gap(struct out *o, const json_t *r)
{
	add(o, " %lld events lost — ", number(r, "unmapped.isoctl.lost"));
	add_text(o, text(r, "unmapped.isoctl.cause"));
}

/* By unmapped.isoctl.kind, and `state` where the kind is that. */
static const struct row {
	const char *kind, *word, *colour;
	void (*add)(struct out *o, const json_t *r);
} rows[] = {
	{"file", "DENIED", RED, add_refusal},
	{"absent-path", "DENIED", RED, add_refusal},
	{"network", "DENIED", RED, add_refusal},
	{"exec", "DENIED", RED, add_refusal},
	{"kernel", "DENIED", RED, add_refusal},
	{"tamper", "TAMPER", RED, add_refusal},
	{"started", "STARTED", GREEN, add_started},
	{"ended", "ENDED", GREEN, add_ended},
	{"survivor", "KILLED", YELLOW, add_survivor},
	{"limit", "LIMIT", YELLOW, add_limit},
	{"gap", "GAP", YELLOW, add_gap},
	{"sealed", "SEALED", GREEN, add_state},
	{"unsealed", "UNSEALED", GREEN, add_state},
	{"quarantined", "QUARANTINED", RED, add_state},
};

static const struct row *find_row(const json_t *r)
{
	const char *kind = text(r, "unmapped.isoctl.kind");

	if (!strcmp(kind, "state"))
		kind = text(r, "state");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].kind, kind))
			return &rows[i];
	return NULL;
}

static void add_time(struct out *o, const json_t *r, const struct iso_text_style *style)
{
	long long ms = number(r, "time");
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm = {0};
	char when[40] = "";

	if (style->utc)
		gmtime_r(&seconds, &tm);
	else
		localtime_r(&seconds, &tm);
	strftime(when, sizeof when, style->date ? "%F %T" : "%T", &tm);
	add(o, "%s.%03d ", when, (int)(ms % 1000 < 0 ? 0 : ms % 1000));
}

int iso_event_text(const json_t *record, const struct iso_text_style *style, char *out, size_t size)
{
	struct out o = {.text = out, .size = size};
	const struct row *row = find_row(record);
	bool expected = json_is_true(get(record, "unmapped.isoctl.expected"));
	long long count = number(record, "count");

	if (!row || !size)
		return -EBADMSG;
	*out = '\0';
	add_time(&o, record, style);
	if (style->run) {
		add_text(&o, text(record, "metadata.correlation_uid"));
		add(&o, " ");
	}
	add(&o, "%s%s%s", style->colour ? expected ? DIM : row->colour : "", row->word,
	    style->colour ? PLAIN : "");
	row->add(&o, record);
	if (count > 1)
		add(&o, " (%lld times)", count);
	if (expected)
		add(&o, " (expected)");
	return 0;
}

bool iso_text_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static int64_t ago(const char *s, int64_t now)
{
	static const char units[] = "smhd";
	static const int64_t ms[] = {1000, 60000, 3600000, 86400000};
	char *end;
	long long n = strtoll(s, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (end == s || *s < '0' || *s > '9' || !unit || end[1] || n > 100000)
		return -1;
	return now - n * ms[unit - units];
}

int64_t iso_text_time(const char *s, int64_t now)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S",
					      "%Y-%m-%dT%H:%M",
					      "%Y-%m-%d %H:%M:%S",
					      "%Y-%m-%d %H:%M",
					      "%Y-%m-%d",
					      "%H:%M:%S",
					      "%H:%M"};
	int64_t when = ago(s, now);
	time_t seconds = (time_t)(now / 1000);

	for (size_t i = 0; when < 0 && i < sizeof formats / sizeof *formats; i++) {
		const char *end;
		struct tm tm;

		localtime_r(&seconds, &tm);
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(s, formats[i], &tm);
		if (end && !*end)
			when = (int64_t)mktime(&tm) * 1000;
		else if (end && !strcmp(end, "Z"))
			when = (int64_t)timegm(&tm) * 1000;
	}
	return when;
}
