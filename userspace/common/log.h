/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line to standard error for people, with systemd's <N> priority prefix when the journal reads
 * it (JOURNAL_STREAM is set; sd-daemon(3)). Text that comes from a task must be escaped by
 * iso_text_escape() before it gets here.
 */
#ifndef ISO_COMMON_LOG_H
#define ISO_COMMON_LOG_H

enum iso_log_level {
	ISO_LOG_ERROR = 3,
	ISO_LOG_WARNING = 4,
	ISO_LOG_INFO = 6,
	ISO_LOG_DEBUG = 7,
};

/* Name that starts each line, and the most talkative level that is printed. */
void iso_log_setup(const char *program, enum iso_log_level max);
void iso_log(enum iso_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define iso_log_error(...)   iso_log(ISO_LOG_ERROR, __VA_ARGS__)
#define iso_log_warning(...) iso_log(ISO_LOG_WARNING, __VA_ARGS__)
#define iso_log_info(...)    iso_log(ISO_LOG_INFO, __VA_ARGS__)
#define iso_log_debug(...)   iso_log(ISO_LOG_DEBUG, __VA_ARGS__)

#endif
