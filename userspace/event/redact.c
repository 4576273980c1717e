/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

int iso_redact_command_line(const char *command_line, char **ret)
{
	char out[ISO_COMMAND_LINE_MAX];

	iso_text_escape(command_line, strlen(command_line), out, sizeof out);
	*ret = strdup(out);
	return *ret ? 0 : -ENOMEM;
}
