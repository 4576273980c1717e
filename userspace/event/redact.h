/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines on their way into an event. */
#ifndef ISO_EVENT_REDACT_H
#define ISO_EVENT_REDACT_H

#define ISO_COMMAND_LINE_MAX 2048 /* bytes kept of an escaped one, with its NUL */

/* Credentials masked, the rest escaped; *ret is allocated. -ENOMEM. */
int iso_redact_command_line(const char *command_line, char **ret);

#endif
