/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The isolation manifest as the rest of the program sees it: read once, checked whole, frozen.
 * Every pointer is owned by the manifest and lives until iso_manifest_free(). Lists that are absent
 * have count 0. Defaults are filled in: no reader has to know one.
 *
 * Only what this version enforces has a place here; a manifest that asks for anything else does not
 * get past iso_manifest_check() ("not enforced by this version").
 */
#ifndef ISO_MANIFEST_MANIFEST_H
#define ISO_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISO_MANIFEST_MAX   (1u << 20) /* bytes of a manifest file */
#define ISO_MANIFEST_DEPTH 64
#define ISO_ATTEMPT_AUTO   0u

enum iso_profile {
	ISO_PROFILE_EXECUTE,
	ISO_PROFILE_BUILD,
};

enum iso_syscall_profile {
	ISO_SYSCALLS_STRICT,
	ISO_SYSCALLS_BUILD,
};

enum iso_response {
	ISO_RESPONSE_COUNT,
	ISO_RESPONSE_STOP,
};

/* Kinds of violation under /response; also the order of iso_manifest.response[]. */
enum iso_violation {
	ISO_VIOLATION_FILE,
	ISO_VIOLATION_EXEC,
	ISO_VIOLATION_NETWORK,
	ISO_VIOLATION_SYSCALL,
	ISO_VIOLATION_LIMIT,
	ISO_VIOLATION_MAX,
};

struct iso_strv {
	char **items;
	size_t count;
};

struct iso_pair {
	char *key;
	char *value;
};

struct iso_pairs {
	struct iso_pair *items;
	size_t count;
};

/* /filesystem/inputs[]: mode `snapshot`, storage `memory` */
struct iso_input {
	char *source;		 /* on the host */
	char *target;		 /* inside */
	struct iso_strv paths;	 /* relative; empty: the whole source */
	struct iso_strv protect; /* relative to the target; the always protected ones included */
	struct iso_pairs not_secret;
	bool writable;
	uint64_t size; /* bytes */
	uint64_t inodes;
};

/* /filesystem/scratch[]: storage `memory` */
struct iso_scratch {
	char *path;
	uint64_t size;
	uint64_t inodes;
	bool execute;
};

struct iso_manifest {
	struct {
		char *id;
		uint32_t attempt; /* ISO_ATTEMPT_AUTO: the next free one */
		char *purpose;	  /* or NULL */
		struct iso_pairs labels;
		struct iso_strv command; /* count 0: from the command line */
		struct iso_strv outputs, side_effects, supplementary; /* recorded only */
	} task;
	enum iso_profile profile;
	struct {
		struct iso_strv root_host; /* host paths shown read-only at the same path */
		struct iso_input *inputs;
		size_t input_count;
		struct iso_scratch *scratch;
		size_t scratch_count;
		struct iso_strv deny;
		struct iso_strv assert_absent;
	} filesystem;
	bool loopback_private; /* /network/proxy/loopback */
	struct {
		struct iso_strv execute; /* empty: the entry command only */
		bool daemons_contain;	 /* false: deny */
		enum iso_syscall_profile syscalls;
		struct iso_strv syscalls_deny, syscalls_allow;
		struct {
			uint64_t cpus_milli; /* 1000 = one cpu */
			uint64_t memory;
			uint64_t pids;
			uint64_t files;
			uint64_t file_size; /* 0: no limit of its own */
		} limits;
		struct iso_pairs environment_set;
		struct iso_strv environment_pass;
		bool stdin_inherit;
		char *directory; /* never NULL: the first input or HOME */
		char *home;	 /* never NULL: HOME as the task will see it */
		char *tmpdir;	 /* never NULL */
		char *hostname;	 /* never NULL */
		uint32_t umask;
	} process;
	struct {
		uint64_t wall_ms;
		uint64_t stop_grace_ms;
		uint64_t log_bytes;
		bool log_raw; /* log_encoding raw: bytes pass; utf-8: invalid ones end the run */
		uint32_t events_per_second;
		uint32_t concurrent; /* 0: the ceiling's */
	} limits;
	enum iso_response response[ISO_VIOLATION_MAX];
	struct iso_strv response_expected;
	struct iso_strv elevation_names; /* always empty in this version */

	void *private; /* the JSON document and positions; manifest/ only */
};

/* One finding of the checker. */
struct iso_finding {
	unsigned line, column; /* from 1; 0: the document as a whole */
	char *pointer;	       /* JSON pointer (RFC 6901) */
	char *message;	       /* what is wrong; what would be right */
	const char *code;      /* stable word, a row of the message table */
};

struct iso_findings {
	struct iso_finding *items;
	size_t count;
};

/*
 * Parses and checks text[0..size) (a file's bytes). Returns 0 and *ret when there is no finding;
 * -EINVAL and at least one finding in *findings when the manifest is not valid; another negative
 * errno (-ENOMEM) when it could not be judged. Pure: asks nothing of the host. A size above
 * ISO_MANIFEST_MAX is refused without a look at the text.
 */
int iso_manifest_parse(const char *text, size_t size, struct iso_manifest **ret,
		       struct iso_findings *findings);
void iso_manifest_free(struct iso_manifest *m);
void iso_findings_free(struct iso_findings *f);

#endif
