#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs every row of cases.def: one sandbox for each manifest, the probe in it, the judge after it.

set -euo pipefail
# shellcheck source=kernel-tests/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
work=$(mktemp -d)

# Each protected or closed object is of one case alone, so that no two refusals are alike.
trees() {
	local name src=/srv/iso-cases/src
	mkdir -p "$src"/{.git/hooks,keep,denied/rmdir,d,d2} /srv/iso-cases/ro /usr/local/lib/iso-denied
	for name in config append unlink rename truncate chmod fchmod chown utimes setxattr removexattr \
		fremovexattr reopen setflags fssetxattr flock fcntl lease; do
		echo protected >"$src/.git/$name"
	done
	for name in read write reopen truncate chmod chown utimes setxattr removexattr setacl removeacl \
		watch unlink out link; do
		echo closed >"$src/denied/$name"
	done
	install -m 755 /usr/bin/true "$src/denied/program"
	echo inner >"$src/keep/inner"
	echo plain >"$src/f"
	echo plain >"$src/g"
	ln -s .git/config "$src/to-config"
	install -m 755 /usr/bin/true /srv/iso-cases/ro/f
	echo closed >/usr/local/lib/iso-denied/f
}

# A repository and a tree that is none (any more), of which the manifest protects nothing itself.
repository() {
	local src=/srv/iso-cases/git
	mkdir -p "$src"/{.git/hooks,.git/objects/info} /srv/iso-cases/plain/d
	for name in .git/config new-config other-config g; do
		echo plain >"$src/$name"
	done
	ln -s .git "$src/alias"
}

unchanged() {
	is "the source" "$(cd /srv/iso-cases && find . -print0 | sort -z | tar -c --null --no-recursion -T - -f - | sha256sum)" "$1"
}

iso_host
trees
repository
# What the caller has and the task must not see.
export SECRET=caller HOME=/root/caller
exec 9</etc/passwd
"$probe" serve /usr/local/lib/iso-socket /usr/local/lib/iso-datagram @iso-host
before=$(cd /srv/iso-cases && find . -print0 | sort -z | tar -c --null --no-recursion -T - -f - | sha256sum)
for name in "${@:-build}"; do
	verdict "cases-$name" judged "$name"
done
verdict source-unchanged unchanged "$before"
pkill -KILL -f "^$probe serve"
verdict nothing-left nothing_left
summary cases
