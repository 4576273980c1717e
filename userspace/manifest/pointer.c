/* SPDX-License-Identifier: BSD-2-Clause */
#include "manifest/pointer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

/* One component without its escapes; ~ before anything but 0 and 1 is none. */
static char *component(const char *p, size_t n)
{
	char *out = malloc(n + 1);
	size_t used = 0;

	for (size_t i = 0; out && i < n; i++) {
		if (p[i] != '~') {
			out[used++] = p[i];
		} else if (i + 1 < n && (p[i + 1] == '0' || p[i + 1] == '1')) {
			out[used++] = p[++i] == '0' ? '~' : '/';
		} else {
			free(out);
			return NULL;
		}
	}
	if (out)
		out[used] = '\0';
	return out;
}

/* A list's index in plain digits, or its size for "-"; (size_t)-1 when it is neither. */
static size_t index_of(const json_t *list, const char *name)
{
	size_t n = strlen(name);

	if (!strcmp(name, "-"))
		return json_array_size(list);
	if (!n || n > 9 || strspn(name, "0123456789") != n || (n > 1 && name[0] == '0'))
		return (size_t)-1;
	return strtoul(name, NULL, 10);
}

static int put(json_t *at, const char *name, json_t *value)
{
	size_t i;

	if (json_is_object(at))
		return json_object_set_new(at, name, value) ? -ENOMEM : 0;
	i = json_is_array(at) ? index_of(at, name) : (size_t)-1;
	if (i > json_array_size(at)) {
		json_decref(value);
		return -ENOENT;
	}
	if (i == json_array_size(at))
		return json_array_append_new(at, value) ? -ENOMEM : 0;
	return json_array_set_new(at, i, value) ? -ENOMEM : 0;
}

/* The value that a component leads to; in an object it is made when it is missing. */
static json_t *step(json_t *at, const char *name)
{
	json_t *next;

	if (json_is_array(at))
		return json_array_get(at, index_of(at, name));
	if (!json_is_object(at))
		return NULL;
	next = json_object_get(at, name);
	if (!next && !json_object_set_new(at, name, json_object()))
		next = json_object_get(at, name);
	return next;
}

int iso_pointer_set(json_t *root, const char *pointer, json_t *value)
{
	json_t *at = root;

	if (!value)
		return -ENOMEM;
	while (at && *pointer == '/') {
		size_t n = strcspn(++pointer, "/");
		ISO_AUTO_FREE char *name = component(pointer, n);

		pointer += n;
		if (!name)
			break;
		if (!*pointer)
			return put(at, name, value);
		at = step(at, name);
	}
	json_decref(value);
	return -ENOENT;
}
