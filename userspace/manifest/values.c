/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of a document whose shape may be wrong: what is not as it should be is not there. */
#include <errno.h>
#include <string.h>

#include "manifest/check.h"
#include "manifest/path.h"
#include "manifest/units.h"

json_t *iso_get(struct iso_check *c, json_t *from, const char *pointer)
{
	json_t *v = from ? from : c->root;
	char name[64];

	while (v && *pointer == '/') {
		size_t n = strcspn(++pointer, "/");

		memcpy(name, pointer, n);
		name[n] = '\0';
		v = json_object_get(v, name);
		pointer += n;
	}
	return v;
}

json_t *iso_get_list(struct iso_check *c, json_t *from, const char *pointer)
{
	json_t *v = iso_get(c, from, pointer);

	/* a list with too many entries is refused as a whole: nothing looks at its entries */
	return json_is_array(v) && json_array_size(v) <= ISO_LIST_MOST ? v : NULL;
}

json_t *iso_get_map(struct iso_check *c, json_t *from, const char *pointer)
{
	json_t *v = iso_get(c, from, pointer);

	return json_is_object(v) && json_object_size(v) <= ISO_LIST_MOST ? v : NULL;
}

const char *iso_get_text(struct iso_check *c, json_t *from, const char *pointer)
{
	return json_string_value(iso_get(c, from, pointer));
}

const char *iso_as_path(json_t *value)
{
	const char *s = json_string_value(value);

	return s && iso_path_absolute(s) == ISO_PATH_OK ? s : NULL;
}

const char *iso_as_relative(json_t *value)
{
	const char *s = json_string_value(value);

	return s && iso_path_relative(s) == ISO_PATH_OK ? s : NULL;
}

const char *iso_get_path(struct iso_check *c, json_t *from, const char *pointer)
{
	return iso_as_path(iso_get(c, from, pointer));
}

int iso_as_size(json_t *value, uint64_t *ret)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*ret = (uint64_t)json_integer_value(value);
		return 0;
	}
	return json_is_string(value) ? iso_size_parse(json_string_value(value), ret) : -EINVAL;
}

const struct iso_shown *iso_shown_of(const struct iso_check *c, const char *path)
{
	for (size_t i = 0; i < c->shown_count; i++)
		if (iso_path_within(path, c->shown[i].path))
			return &c->shown[i];
	return NULL;
}
