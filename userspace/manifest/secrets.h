/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What looks like a credential. The same detector judges manifests and the command lines in events.
 * Each function returns what it looks like, for people, or NULL.
 */
#ifndef ISO_MANIFEST_SECRETS_H
#define ISO_MANIFEST_SECRETS_H

#include <stdbool.h>

/* By the name of a variable: whole words of it (API_TOKEN, DB_PASSWORD), whatever its value. */
const char *iso_secret_name(const char *name);
/*
 * By the value: a token's known beginning, a private key, a password in a URL, or a run of 32 or
 * more letters and digits that no person writes: upper and lower case and at least two groups of
 * digits, changing between the three at every fourth character or more often, 16 different ones at
 * least. Digests (hexadecimal), UUIDs, paths and versions are none.
 */
const char *iso_secret_value(const char *value);

/* Variables that lead to sockets of agents and daemons (SSH_AUTH_SOCK). */
bool iso_agent_name(const char *name);

/* Variables by which whoever sets them decides what code a program loads. */
enum iso_loader {
	ISO_LOADER_NONE,
	ISO_LOADER_PATH, /* where to look: a manifest may set it, a caller's is not passed */
	ISO_LOADER_CODE, /* code that runs inside every program: never */
};
enum iso_loader iso_loader_name(const char *name);

#endif
