/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ISO_MANIFEST_HOST_SECRETS_H
#define ISO_MANIFEST_HOST_SECRETS_H

#include "manifest/check.h"

/* Reports the first secret-bearing names in what an input would copy, at pointer `at`. */
void iso_host_secrets(struct iso_check *c, const struct iso_input *in, int dir, const char *at);

#endif
