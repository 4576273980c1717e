/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Network rules, inference backends, and the elevations and credentials that they name. This
 * version enforces none of them and says so; what is wrong in them is said all the same, so that a
 * manifest can be written now.
 */
#include <stdio.h>
#include <string.h>

#include "manifest/check.h"

static json_t *by_name(struct iso_check *c, const char *list, const char *name)
{
	json_t *rows = iso_get_list(c, NULL, list), *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		const char *other = iso_get_text(c, row, "/name");

		if (other && !strcmp(other, name))
			return row;
	}
	return NULL;
}

/* Is every method of "allow A,B /path" one that only reads? What is denied needs nothing. */
static bool reads_only(const char *request)
{
	const char *p = strchr(request, ' ');
	size_t n;

	if (strncmp(request, "allow ", 6) || !p)
		return true;
	for (p++; *p && *p != ' '; p += n + (p[n] == ',')) {
		n = strcspn(p, ", ");
		if (!(n == 3 && !strncmp(p, "GET", n)) && !(n == 4 && !strncmp(p, "HEAD", n)) &&
		    !(n == 7 && !strncmp(p, "OPTIONS", n)))
			return false;
	}
	return true;
}

/* Does an earlier rule match everything that this one matches? Texts alone: the same methods. */
static bool covers(const char *earlier, const char *later)
{
	const char *a = strchr(earlier, ' '), *b = strchr(later, ' ');
	const char *pa, *pb;
	size_t n;

	if (!a || !b || !(pa = strchr(a + 1, ' ')) || !(pb = strchr(b + 1, ' ')))
		return false;
	if (strncmp(a, " * ", 3) && (pa - a != pb - b || strncmp(a, b, (size_t)(pa - a))))
		return false;
	if (!strcmp(pa, pb))
		return true;
	pa++, pb++;
	pb += *pb == '=';
	n = strlen(pa);
	return *pa != '=' && pa[n - 1] == '/' && !strncmp(pb, pa, n);
}

static void check_requests(struct iso_check *c, json_t *row, const char *pointer, bool elevated)
{
	json_t *requests = iso_get_list(c, row, "/requests"), *v;
	size_t i;

	json_array_foreach (requests, i, v) {
		const char *request = json_string_value(v), *at;

		if (!request)
			continue;
		at = iso_at(c, "%s/requests/%zu", pointer, i);
		if (!elevated && !reads_only(request))
			iso_report(c, at, NEEDS_ELEVATION, request);
		for (size_t k = 0; k < i; k++) {
			const char *other = json_string_value(json_array_get(requests, k));

			if (other && covers(other, request)) {
				iso_report(c, at, REQUEST_COVERED, other);
				break;
			}
		}
	}
}

static void check_names(struct iso_check *c, json_t *row, const char *pointer)
{
	const char *elevation = iso_get_text(c, row, "/elevation");
	const char *credential = iso_get_text(c, row, "/credential");

	if (elevation && !by_name(c, "/elevations", elevation))
		iso_report(c, iso_at(c, "%s/elevation", pointer), ELEVATION_UNKNOWN, elevation);
	if (credential && !by_name(c, "/credentials", credential))
		iso_report(c, iso_at(c, "%s/credential", pointer), CREDENTIAL_UNKNOWN, credential);
	if (credential && !elevation)
		iso_report(c, iso_at(c, "%s/credential", pointer), NEEDS_ELEVATION, credential);
}

static void check_rule(struct iso_check *c, json_t *rules, size_t i)
{
	json_t *rule = json_array_get(rules, i);
	const char *host = iso_get_text(c, rule, "/host");
	json_int_t port = json_integer_value(iso_get(c, rule, "/port"));
	const char *pointer = iso_at(c, "/network/rules/%zu", i);

	if (host && !strncmp(host, "*.", 2) && !strchr(host + 2, '.'))
		iso_report(c, iso_at(c, "%s/host", pointer), HOST_SUFFIX, host);
	for (size_t k = 0; host && k < i; k++) {
		json_t *other = json_array_get(rules, k);
		const char *name = iso_get_text(c, other, "/host");

		if (name && !strcmp(name, host) &&
		    json_integer_value(iso_get(c, other, "/port")) == port) {
			iso_report(c, pointer, RULE_TWICE,
				   iso_at(c, "%s:%lld", host, (long long)port));
			break;
		}
	}
	check_requests(c, rule, pointer, iso_get_text(c, rule, "/elevation") != NULL);
	check_names(c, rule, pointer);
}

void iso_check_network(struct iso_check *c)
{
	json_t *rules = iso_get_list(c, NULL, "/network/rules");
	json_t *backends = iso_get_list(c, NULL, "/inference/backends"), *row;
	json_t *credentials = iso_get_list(c, NULL, "/credentials");
	size_t i;

	for (i = 0; i < json_array_size(rules); i++)
		check_rule(c, rules, i);
	json_array_foreach (backends, i, row) {
		const char *pointer = iso_at(c, "/inference/backends/%zu", i);

		check_requests(c, row, pointer, iso_get_text(c, row, "/elevation") != NULL);
		check_names(c, row, pointer);
	}
	json_array_foreach (credentials, i, row)
		check_names(c, row, iso_at(c, "/credentials/%zu", i));
}
