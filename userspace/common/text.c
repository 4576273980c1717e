/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/text.h"

#include <stdio.h>
#include <string.h>

size_t iso_utf8_decode(const char *s, size_t n, uint32_t *ret)
{
	const unsigned char *b = (const unsigned char *)s;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c;
	size_t need;

	if (n == 0)
		return 0;
	if (b[0] < 0x80) {
		*ret = b[0];
		return 1;
	}
	if (b[0] >= 0xc2 && b[0] <= 0xdf)
		need = 2, c = b[0] & 0x1f;
	else if (b[0] >= 0xe0 && b[0] <= 0xef)
		need = 3, c = b[0] & 0x0f;
	else if (b[0] >= 0xf0 && b[0] <= 0xf4)
		need = 4, c = b[0] & 0x07;
	else
		return 0;
	if (n < need)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (b[i] & 0x3f);
	}
	if (c < least[need] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return need;
}

bool iso_utf8_valid(const char *s, size_t n)
{
	uint32_t c;

	for (size_t i = 0, step; i < n; i += step) {
		step = iso_utf8_decode(s + i, n - i, &c);
		if (!step)
			return false;
	}
	return true;
}

/* Unicode 15: controls, and format characters that reorder or hide what a reader sees. */
static bool invisible(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c || c == 0x180e ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

char *iso_text_escape(const char *s, size_t n, char *out, size_t size)
{
	size_t used = 0;

	if (!size)
		return out;
	for (size_t i = 0, step; i < n; i += step) {
		char unit[16];
		uint32_t c;
		int len;

		step = iso_utf8_decode(s + i, n - i, &c);
		if (!step) {
			step = 1;
			len = snprintf(unit, sizeof unit, "\\x%02x", (unsigned char)s[i]);
		} else if (c == '\\') {
			len = snprintf(unit, sizeof unit, "\\\\");
		} else if (invisible(c)) {
			len = snprintf(unit, sizeof unit, "\\u{%x}", (unsigned)c);
		} else {
			memcpy(unit, s + i, step);
			len = (int)step;
		}
		if (used + (size_t)len + 4 > size) {
			size_t dots = size - 1 - used < 3 ? size - 1 - used : 3;

			memcpy(out + used, "...", dots);
			used += dots;
			break;
		}
		memcpy(out + used, unit, (size_t)len);
		used += (size_t)len;
	}
	out[used] = '\0';
	return out;
}
