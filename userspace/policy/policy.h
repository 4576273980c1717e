/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manifest, compiled: the tree that the sandbox will show, and the rules the kernel will hold it
 * to. Pure: the same manifest gives the same policy and the same digest on every host.
 */
#ifndef ISO_POLICY_POLICY_H
#define ISO_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "manifest/manifest.h"

#define ISO_POLICY_RULES_MAX 10000u
#define ISO_POLICY_DIGEST    32 /* bytes: SHA-256 */

/* What is mounted at a place of the tree, in the order in which it must be mounted. */
enum iso_tree_kind {
	ISO_TREE_HOST,	  /* a host path, read-only, at the same path; a link stays a link */
	ISO_TREE_INPUT,	  /* index into manifest inputs: memory storage filled by the snapshot */
	ISO_TREE_SCRATCH, /* index into manifest scratch: empty memory storage */
	ISO_TREE_PROC,
	ISO_TREE_DEV, /* null zero full random urandom tty fd links; pts and shm below */
	ISO_TREE_ETC, /* the files that are made for the sandbox: passwd, hosts... */
};

struct iso_tree {
	enum iso_tree_kind kind;
	const char *path; /* inside; owned by the policy */
	size_t index;	  /* into the manifest's list of that kind */
	bool writable;
	bool executable; /* mounted without noexec: some execute entry lies in it */
};

/* How a rule's object is found and kept. */
enum iso_rule_kind {
	ISO_RULE_TREE,	  /* root of one of the trees above: its mount pins it */
	ISO_RULE_PATH,	  /* an existing path below one: pinned by a self bind mount */
	ISO_RULE_PROTECT, /* the same, and the self bind mount is read-only */
	ISO_RULE_HELD,	  /* ancestor of a protected path: keeps its own name */
	ISO_RULE_NAME,	  /* a name in a directory that may not exist yet */
	ISO_RULE_ABSENT,  /* a path that must not exist */
};

struct iso_policy_rule {
	enum iso_rule_kind kind;
	const char *path;    /* inside, absolute; for NAME the parent directory */
	const char *name;    /* NAME only: one path component */
	uint32_t rights;     /* ISO_READ...; 0: closed */
	const char *pointer; /* JSON pointer into the manifest of what made it, for events */
	bool may_be_missing; /* PATH and PROTECT: when the object does not exist, a NAME rule for
				the first missing component takes its place (same number) */
};

struct iso_policy {
	const struct iso_manifest *manifest; /* not owned */
	struct iso_tree *trees;
	size_t tree_count;
	struct iso_policy_rule *rules; /* rule number in the kernel = index + 1 */
	size_t rule_count;
	uint32_t flags;			   /* ISO_SB_* */
	uint8_t digest[ISO_POLICY_DIGEST]; /* iso_policy_digest() of itself */
	void *strings;			   /* owner of every text above */
};

/*
 * Compiles a checked manifest. With an empty /process/execute only the entry command may be
 * executed; the caller therefore puts the command that will run into m->task.command first. -EINVAL
 * with *e when the manifest asks for what the enforcer cannot express, -E2BIG over
 * ISO_POLICY_RULES_MAX.
 */
int iso_policy_compile(const struct iso_manifest *m, struct iso_policy **ret, struct iso_error *e);
void iso_policy_free(struct iso_policy *p);

/*
 * SHA-256 over the policy in canonical text: version, flags, one line a rule. `rights` (rule_count
 * numbers, NULL for the policy's own) are those that the kernel answered for each rule, so that the
 * digest of what is installed can be held against the digest of what was compiled.
 */
int iso_policy_digest(const struct iso_policy *p, const uint32_t *rights,
		      uint8_t ret[ISO_POLICY_DIGEST]);

/* The rule that decides for an absolute, normal path inside; NULL: nothing grants it. */
const struct iso_policy_rule *iso_policy_decide(const struct iso_policy *p, const char *path);

/* FNV-1a of bytes, as the kernel side hashes names (iso_abi.h). */
uint64_t iso_name_hash(const char *s, size_t n);

#endif
