/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that comes from outside: UTF-8 (RFC 3629) and escaping for terminals and logs. */
#ifndef ISO_COMMON_TEXT_H
#define ISO_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes one code point of s[0..n). Returns its length in bytes (1-4) and sets *ret, or 0 when
 * the bytes are not well-formed UTF-8 (overlong, surrogate, truncated, above U+10FFFF).
 */
size_t iso_utf8_decode(const char *s, size_t n, uint32_t *ret);
bool iso_utf8_valid(const char *s, size_t n);

/*
 * Writes s[0..n) into out[0..size) with everything unsafe on a terminal or a page made visible:
 * control characters and DEL, C1 controls, bidirectional and other invisible format characters as
 * \u{XXXX}, bytes that are not UTF-8 as \xNN, a backslash as \\. Always ends in NUL; what does not
 * fit is cut at a whole unit and ends in "...". Returns out.
 */
char *iso_text_escape(const char *s, size_t n, char *out, size_t size);

#endif
