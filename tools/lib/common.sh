# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What every script under tools/ shares: messages, the cache directory, and
# publishing into it so that two runs at once never see a half-made entry.

ISO_TOOL=${ISO_TOOL:-$(basename "$0")}
# shellcheck disable=SC2034 # for those who source this
ISO_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ISO_CACHE=${ISO_GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/isoctl/guest}

iso_say() {
	printf '%s: %s\n' "$ISO_TOOL" "$*" >&2
}

# Exit status of a failure that is not the command's own.
iso_die() {
	iso_say "$*"
	exit "${ISO_DIE_STATUS:-1}"
}

# iso_need COMMAND… refuses to go on without them and says which packages to
# install.
iso_need() {
	local c missing=
	# kmod and mke2fs live in sbin, which an unprivileged PATH lacks.
	PATH=$PATH:/usr/sbin:/sbin
	for c in "$@"; do
		command -v "$c" >/dev/null || missing+=" $c"
	done
	[[ -z $missing ]] || iso_die "missing:$missing; install the [guest] packages of tools/packages.txt"
}

# iso_hash FILE… prints a short digest of the files' contents and of the words
# on standard input.
iso_hash() {
	{ cat -- "$@" - | sha256sum; } | cut -c1-16
}

# iso_build ENTRY FUNCTION [ARG…] makes the cache entry by calling FUNCTION ARG…
# with an empty directory as its last argument, unless it is there already.
# One process builds, the others wait; the entry appears at once and whole.
# Entries not used for two weeks go when a new one is made.
#
# FUNCTION must check each of its steps: bash ignores set -e in whatever is
# called from a condition, subshells included.
iso_build() {
	local entry=$1 maker=$2 tmp
	shift 2
	if [[ -e $ISO_CACHE/$entry/.complete ]]; then
		touch -c "$ISO_CACHE/$entry"
		return 0
	fi
	mkdir -p "$ISO_CACHE/lock"
	(
		flock 9 || exit 1
		if [[ -e $ISO_CACHE/$entry/.complete ]]; then
			exit 0
		fi
		tmp=$(mktemp -d "$ISO_CACHE/tmp.XXXXXX") || exit 1
		trap 'rm -rf -- "$tmp"' EXIT
		trap 'exit 130' INT TERM HUP
		chmod 755 "$tmp" && "$maker" "$@" "$tmp" >&2 9>&- || exit 1
		: >"$tmp/.complete" && rm -rf -- "${ISO_CACHE:?}/$entry" &&
			mv -T "$tmp" "$ISO_CACHE/$entry" || exit 1
		find "$ISO_CACHE" -mindepth 1 -maxdepth 1 -name '*-*' -mtime +14 -exec rm -rf -- {} +
	) 9>"$ISO_CACHE/lock/$entry" || {
		iso_say "could not make $entry"
		return 1
	}
}

# iso_forget PREFIX drops the cache entries PREFIX-*: the next use makes them anew.
iso_forget() {
	find "$ISO_CACHE" -mindepth 1 -maxdepth 1 -name "$1-*" -exec rm -rf -- {} +
}

# iso_as_root COMMAND… runs it as root, or so that it believes to be (files it
# makes are seen as root's by itself only).
iso_as_root() {
	if [[ $EUID == 0 ]]; then
		"$@"
	else
		fakeroot -- "$@"
	fi
}
