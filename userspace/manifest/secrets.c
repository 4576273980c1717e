/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/secrets.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define RUN_LEAST 32 /* shorter runs are words and versions as often as keys */
#define DIFFERENT 16 /* characters; 32 random ones of 62 have 25 on average */

#define WORD(word)
#define PREFIX(text, least, what)
#define AGENT(name)
#define LOADER(name, kind)

#undef WORD
#define WORD(word) word,
static const char *const words[] = {
#include "manifest/secrets.def"
	NULL};
#undef WORD
#define WORD(word)

static const struct prefix {
	const char *text;
	size_t least;
	const char *what;
} prefixes[] = {
#undef PREFIX
#define PREFIX(text, least, what) {text, least, what},
#include "manifest/secrets.def"
#undef PREFIX
#define PREFIX(text, least, what)
	{NULL, 0, NULL}};

static const char *const agents[] = {
#undef AGENT
#define AGENT(name) name,
#include "manifest/secrets.def"
#undef AGENT
#define AGENT(name)
	NULL};

static const struct loader {
	const char *name;
	enum iso_loader kind;
} loaders[] = {
#undef LOADER
#define LOADER(name, kind) {name, ISO_LOADER_##kind},
#include "manifest/secrets.def"
	{NULL, ISO_LOADER_NONE}};

const char *iso_secret_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; words[i]; i++) {
		size_t m = strlen(words[i]);

		/* whole last words, or glued to the word before (GITHUBTOKEN); not MAX_TOKENS */
		if (n < m || strcasecmp(name + n - m, words[i]))
			continue;
		if (n == m || name[n - m - 1] == '_' || m >= 5)
			return words[i];
	}
	return NULL;
}

static bool token_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-+=.", c));
}

static const char *known_prefix(const char *value)
{
	for (const char *p = value; *p; p++) {
		/* only where a token can begin: not inside a word */
		if (p != value && isalnum((unsigned char)p[-1]))
			continue;
		for (size_t i = 0; prefixes[i].text; i++) {
			size_t n = strlen(prefixes[i].text), more = 0;

			if (strncmp(p, prefixes[i].text, n))
				continue;
			while (token_char(p[n + more]) || p[n + more] == '/')
				more++;
			if (more >= prefixes[i].least)
				return prefixes[i].what;
		}
	}
	return NULL;
}

/* header.payload.signature, all base64url; a header always begins with {" */
static bool web_token(const char *value)
{
	const char *p = strstr(value, "eyJ");

	for (; p; p = strstr(p + 3, "eyJ")) {
		size_t n = 0, dots = 0;

		while (token_char(p[n])) {
			dots += p[n] == '.';
			n++;
		}
		if (n >= 40 && dots == 2)
			return true;
	}
	return false;
}

/* scheme://user:password@host */
static bool url_password(const char *value)
{
	const char *p = strstr(value, "://");

	for (; p; p = strstr(p + 3, "://")) {
		size_t n = strcspn(p + 3, "/?# \t\"'");
		const char *colon = memchr(p + 3, ':', n), *at = memchr(p + 3, '@', n);

		if (colon && at && colon + 1 < at)
			return true;
	}
	return false;
}

static int class_of(char c)
{
	return isdigit((unsigned char)c) ? 1 : isupper((unsigned char)c) ? 2 : 3;
}

static bool looks_random(const char *s, size_t n)
{
	size_t changes = 0, digit_groups = 0, different = 0;
	bool seen[256] = {false}, upper = false, lower = false;

	if (n < RUN_LEAST)
		return false;
	for (size_t i = 0; i < n; i++) {
		int now = class_of(s[i]), before = i ? class_of(s[i - 1]) : 0;

		different += !seen[(unsigned char)s[i]];
		seen[(unsigned char)s[i]] = true;
		changes += i && now != before;
		digit_groups += now == 1 && before != 1;
		upper |= now == 2;
		lower |= now == 3;
	}
	return upper && lower && digit_groups >= 2 && changes >= n / 4 && different >= DIFFERENT;
}

static bool random_run(const char *value)
{
	for (const char *p = value; *p;) {
		size_t n = 0;

		while (isalnum((unsigned char)p[n]))
			n++;
		if (looks_random(p, n))
			return true;
		p += n ? n : 1;
	}
	return false;
}

const char *iso_secret_value(const char *value)
{
	const char *what = known_prefix(value);

	if (what)
		return what;
	if (strstr(value, "PRIVATE KEY-----") || strstr(value, "PGP PRIVATE KEY"))
		return "a private key";
	if (web_token(value))
		return "a JSON web token";
	if (url_password(value))
		return "a URL with a password";
	if (random_run(value))
		return "32 or more random characters";
	return NULL;
}

bool iso_agent_name(const char *name)
{
	for (size_t i = 0; agents[i]; i++)
		if (!strcasecmp(name, agents[i]))
			return true;
	return false;
}

enum iso_loader iso_loader_name(const char *name)
{
	for (size_t i = 0; loaders[i].name; i++)
		if (!strcmp(name, loaders[i].name))
			return loaders[i].kind;
	/* what glibc adds next is not known by name: none of it is passed on unseen */
	return strncmp(name, "LD_", 3) ? ISO_LOADER_NONE : ISO_LOADER_PATH;
}
