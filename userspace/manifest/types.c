/* SPDX-License-Identifier: BSD-2-Clause */
/* One value against its row: type, format, range, words, and what this version enforces. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/shape.h"
#include "manifest/units.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static const char *json_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "text";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number with a fraction";
	case JSON_NULL:
		return "null";
	default:
		return "true or false";
	}
}

void iso_report_type(struct iso_check *c, const struct iso_field *row, const json_t *v)
{
	const struct iso_type_name *t = &iso_type_names[row->type];

	iso_report(c, c->at, TYPE, json_name(v), t->what, t->right);
}

static void report_format(struct iso_check *c, const struct iso_field *row, const char *s)
{
	const struct iso_type_name *t = &iso_type_names[row->type];

	iso_report(c, c->at, FORMAT, s, t->what, t->right);
}

static bool only(const char *s, const char *first, const char *rest, size_t most)
{
	size_t n = strlen(s);

	return n >= 1 && n <= most && strchr(first, s[0]) && strspn(s, rest) == n;
}

static bool dns_name(const char *s)
{
	if (strlen(s) > 253)
		return false;
	for (;;) {
		size_t n = strcspn(s, ".");

		if (n < 1 || n > 63 || strspn(s, LOWER DIGITS "-") < n || s[0] == '-' ||
		    s[n - 1] == '-')
			return false;
		if (!s[n])
			return true;
		s += n + 1;
	}
}

/* "allow METHODS PATH"; methods are `*` or names in capitals with commas between them. */
static bool request(const char *s)
{
	size_t n;

	if (strncmp(s, "allow ", 6) && strncmp(s, "deny ", 5))
		return false;
	s = strchr(s, ' ') + 1;
	if (*s == '*') {
		s++;
	} else {
		do {
			n = strspn(s, UPPER);
			if (!n)
				return false;
			s += n;
		} while (*s == ',' && s++);
	}
	if (*s++ != ' ')
		return false;
	if (*s == '=')
		s++;
	if (*s != '/')
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return false;
	return true;
}

static bool url(const char *s)
{
	char host[256];
	size_t n;

	if (!strncmp(s, "https://", 8))
		s += 8;
	else if (!strncmp(s, "http://", 7))
		s += 7;
	else
		return false;
	n = strcspn(s, ":");
	if (n >= sizeof host)
		return false;
	memcpy(host, s, n);
	host[n] = '\0';
	return dns_name(host) && (!s[n] || only(s + n + 1, DIGITS, DIGITS, 5));
}

static bool expected(const char *s)
{
	static const char *const kinds[] = {"file:", "exec:", "network:", "syscall:", "limit:"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i]);

		if (!strncmp(s, kinds[i], n))
			return i < 2 ? iso_path_absolute(s + n) == ISO_PATH_OK : s[n] != '\0';
	}
	return false;
}

/* Formats that are a set of texts; the others have functions of their own below. */
static bool format_ok(enum iso_type type, const char *s)
{
	switch (type) {
	case ISO_TYPE_ID:
		return only(s, LOWER DIGITS, LOWER DIGITS "._-", 63);
	case ISO_TYPE_LABEL:
		return only(s, LOWER UPPER DIGITS, LOWER UPPER DIGITS "._/-", 63);
	case ISO_TYPE_VARIABLE:
		return only(s, LOWER UPPER "_", LOWER UPPER DIGITS "_", 255);
	case ISO_TYPE_HOSTNAME:
		return !strchr(s, '.') && dns_name(s);
	case ISO_TYPE_SYSCALL:
		return only(s, LOWER "_", LOWER DIGITS "_", 64);
	case ISO_TYPE_HOST:
		return dns_name(strncmp(s, "*.", 2) ? s : s + 2);
	case ISO_TYPE_REQUEST:
		return request(s);
	case ISO_TYPE_URL:
		return url(s);
	case ISO_TYPE_DIGEST:
		return !strncmp(s, "sha256:", 7) && strlen(s) == 71 &&
		       strspn(s + 7, DIGITS "abcdef") == 64;
	case ISO_TYPE_EXPECTED:
		return expected(s);
	case ISO_TYPE_UMASK: {
		uint32_t mask;

		return iso_umask_parse(s, &mask) == 0;
	}
	default:
		return true;
	}
}

static bool control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

static void check_path(struct iso_check *c, const struct iso_field *row, const char *s)
{
	switch (row->type == ISO_TYPE_PATH ? iso_path_absolute(s) : iso_path_relative(s)) {
	case ISO_PATH_OK:
		return;
	case ISO_PATH_EMPTY:
		iso_report(c, c->at, TOO_SHORT);
		return;
	case ISO_PATH_RELATIVE:
		iso_report(c, c->at, PATH_RELATIVE, s);
		return;
	case ISO_PATH_ROOTED:
		iso_report(c, c->at, PATH_ROOTED, s);
		return;
	case ISO_PATH_NOT_NORMAL:
		iso_report(c, c->at, PATH_NOT_NORMAL, s);
		return;
	case ISO_PATH_LONG:
		iso_report(c, c->at, PATH_LONG);
		return;
	}
}

static void check_length(struct iso_check *c, const struct iso_field *row, const char *s)
{
	size_t n = strlen(s);
	char has[24], most[24];

	snprintf(has, sizeof has, "%zu", n);
	snprintf(most, sizeof most, "%llu", (unsigned long long)row->max);
	if (row->max && n > row->max)
		iso_report(c, c->at, TOO_LONG, has, most);
	else if (n < row->min)
		iso_report(c, c->at, TOO_SHORT);
	else if (row->type == ISO_TYPE_LINE && control(s))
		iso_report(c, c->at, CONTROL_CHARACTER);
	else if (!format_ok(row->type, s))
		report_format(c, row, s);
}

static char *show(enum iso_type type, uint64_t n, char *out, size_t size)
{
	if (type == ISO_TYPE_SIZE || type == ISO_TYPE_RATE) {
		iso_size_format(n, out, size);
		if (type == ISO_TYPE_RATE)
			strncat(out, "/s", size - strlen(out) - 1);
	} else if (type == ISO_TYPE_TIME) {
		iso_time_format(n, out, size);
	} else if (type == ISO_TYPE_CPUS) {
		snprintf(out, size, "%g", (double)n / 1000);
	} else {
		snprintf(out, size, "%llu", (unsigned long long)n);
	}
	return out;
}

static void check_range(struct iso_check *c, const struct iso_field *row, int r, uint64_t n,
			const json_t *v)
{
	char shown[64], low[32], high[32];

	if (!r && n >= row->min && n <= row->max)
		return;
	if (json_is_string(v))
		snprintf(shown, sizeof shown, "\"%s\"", json_string_value(v));
	else if (json_is_integer(v))
		snprintf(shown, sizeof shown, "%lld", (long long)json_integer_value(v));
	else
		snprintf(shown, sizeof shown, "%g", json_real_value(v));
	iso_report(c, c->at, RANGE, shown, show(row->type, row->min, low, sizeof low),
		   show(row->type, row->max, high, sizeof high));
}

static void check_quantity(struct iso_check *c, const struct iso_field *row, const json_t *v)
{
	const struct iso_type_name *t = &iso_type_names[row->type];
	const char *s = json_string_value(v);
	uint64_t n = 0;
	int r = 0;

	if (row->type == ISO_TYPE_CPUS) {
		r = iso_cpus_milli(json_number_value(v), &n);
	} else if (json_is_integer(v)) {
		n = (uint64_t)json_integer_value(v);
		r = json_integer_value(v) < 0 ? -ERANGE : 0;
	} else if (row->type == ISO_TYPE_ATTEMPT) {
		if (strcmp(s, "auto"))
			report_format(c, row, s);
		return;
	} else {
		r = row->type == ISO_TYPE_SIZE	 ? iso_size_parse(s, &n)
		    : row->type == ISO_TYPE_RATE ? iso_rate_parse(s, &n)
						 : iso_time_parse(s, &n);
	}
	if (r == -EINVAL) {
		iso_report(c, c->at, UNIT, s, t->what, t->right);
		return;
	}
	check_range(c, row, r, n, v);
}

static bool json_type_ok(enum iso_type type, const json_t *v)
{
	switch (type) {
	case ISO_TYPE_OBJECT:
	case ISO_TYPE_MAP:
		return json_is_object(v);
	case ISO_TYPE_LIST:
		return json_is_array(v);
	case ISO_TYPE_BOOL:
		return json_is_boolean(v);
	case ISO_TYPE_INTEGER:
		return json_is_integer(v);
	case ISO_TYPE_CPUS:
		return json_is_number(v);
	case ISO_TYPE_SIZE:
	case ISO_TYPE_ATTEMPT:
		return json_is_integer(v) || json_is_string(v);
	default:
		return json_is_string(v);
	}
}

bool iso_type_matches(const struct iso_field *row, const json_t *v)
{
	return json_type_ok(row->type, v);
}

bool iso_key_ok(enum iso_type type, const char *key)
{
	return type == ISO_TYPE_RELATIVE ? iso_path_relative(key) == ISO_PATH_OK
					 : format_ok(type, key);
}

void iso_check_scalar(struct iso_check *c, const struct iso_field *row, json_t *v)
{
	switch (row->type) {
	case ISO_TYPE_PATH:
	case ISO_TYPE_RELATIVE:
		check_path(c, row, json_string_value(v));
		return;
	case ISO_TYPE_INTEGER:
	case ISO_TYPE_CPUS:
	case ISO_TYPE_SIZE:
	case ISO_TYPE_RATE:
	case ISO_TYPE_TIME:
	case ISO_TYPE_ATTEMPT:
		check_quantity(c, row, v);
		return;
	case ISO_TYPE_WORD:
	case ISO_TYPE_BOOL:
		return; /* by their words, in shape.c */
	default:
		check_length(c, row, json_string_value(v));
	}
}
