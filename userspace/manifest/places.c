/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/places.h"

#include <string.h>

#include "manifest/path.h"

struct place {
	const char *path, *reason;
};

#define SECRET(path, reason)
#define FILE(pattern, reason)
#define SOCKET(path, reason)
#define SOCKET_FILE(pattern, reason)
#define RESERVED(path)
#define PROTECTED(path)

#undef SECRET
#define SECRET(path, reason) {path, reason},
static const struct place secrets[] = {
#include "manifest/places.def"
	{NULL, NULL}};
#undef SECRET
#define SECRET(path, reason)

#undef FILE
#define FILE(pattern, reason) {pattern, reason},
static const struct place secret_files[] = {
#include "manifest/places.def"
	{NULL, NULL}};
#undef FILE
#define FILE(pattern, reason)

#undef SOCKET
#define SOCKET(path, reason) {path, reason},
static const struct place sockets[] = {
#include "manifest/places.def"
	{NULL, NULL}};
#undef SOCKET
#define SOCKET(path, reason)

#undef SOCKET_FILE
#define SOCKET_FILE(pattern, reason) {pattern, reason},
static const struct place socket_files[] = {
#include "manifest/places.def"
	{NULL, NULL}};
#undef SOCKET_FILE
#define SOCKET_FILE(pattern, reason)

#undef RESERVED
#define RESERVED(path) path,
static const char *const reserved[] = {
#include "manifest/places.def"
	NULL};
#undef RESERVED
#define RESERVED(path)

#undef PROTECTED
#define PROTECTED(path) path,
const char *const iso_always_protected[] = {
#include "manifest/places.def"
	NULL};

/*
 * Does `pattern` occur in `path` as whole components, or, with `holds`, does the path end in its
 * beginning, so that the place lies below it ("/home/u/.config" holds ".config/gh")?
 */
static bool occurs(const char *path, const char *pattern, bool holds)
{
	for (const char *p = path; p; p = strchr(p, '/')) {
		size_t i = 0;

		p += *p == '/';
		while (p[i] && p[i] == pattern[i])
			i++;
		if (!pattern[i] && (!p[i] || p[i] == '/'))
			return true;
		if (holds && i && !p[i] && pattern[i] == '/')
			return true;
	}
	return false;
}

static bool is_place(const char *path, const char *pattern)
{
	if (pattern[0] != '/')
		return occurs(path, pattern, true);
	if (path[0] != '/')
		return false;
	/* /var/run is another name of /run on every current system */
	if (iso_path_within(path, "/var/run"))
		path += strlen("/var");
	return iso_path_overlaps(path, pattern);
}

static const char *find(const struct place *places, const char *path)
{
	for (; places->path; places++)
		if (is_place(path, places->path))
			return places->reason;
	return NULL;
}

static const char *find_file(const struct place *files, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name);

	for (; files->path; files++) {
		const char *pattern = files->path;
		size_t m = strlen(pattern);

		if (pattern[0] == '*' ? n >= m && !strcmp(name + n - (m - 1), pattern + 1)
				      : !strcmp(name, pattern))
			return files->reason;
	}
	return NULL;
}

const char *iso_place_secret(const char *path)
{
	const char *reason = find(secrets, path);

	return reason ? reason : find_file(secret_files, path);
}

const char *iso_place_secret_itself(const char *path)
{
	for (const struct place *p = secrets; p->path; p++)
		if (p->path[0] != '/' && occurs(path, p->path, false))
			return p->reason;
	return find_file(secret_files, path);
}

const char *iso_place_socket(const char *path)
{
	const char *reason = find(sockets, path);

	return reason ? reason : find_file(socket_files, path);
}

bool iso_place_device(const char *path)
{
	return iso_path_within(path, "/dev");
}

bool iso_place_kernel(const char *path)
{
	return iso_path_within(path, "/proc") || iso_path_within(path, "/sys");
}

bool iso_place_home(const char *path)
{
	/* /home/X is a home directory, /home/X/project is not */
	return !strcmp(path, "/root") || !strcmp(path, "/home") ||
	       (iso_path_within(path, "/home") && !strchr(path + strlen("/home/"), '/'));
}

const char *iso_place_reserved(const char *path)
{
	for (size_t i = 0; reserved[i]; i++)
		if (iso_path_overlaps(path, reserved[i]))
			return reserved[i];
	return NULL;
}
