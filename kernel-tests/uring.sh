#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every row of uring.def: sandboxes that may use io_uring, since the host's ceiling allows it.

set -euo pipefail
# shellcheck source=kernel-tests/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
work=$(mktemp -d)

tree() {
	local name
	mkdir -p "$1"/{.git,kept,kept2,kept3,d,denied/rmdir}
	for name in config worker unlink; do
		echo protected >"$1/.git/$name"
	done
	for name in kept/rename kept2/f kept3/f; do
		echo protected >"$1/$name"
	done
	for name in openat openat-worker truncate openat2 openat2-worker direct direct-worker message install rename rename-worker \
		link link-worker unlink unlink-worker setxattr setxattr-worker ftruncate; do
		echo closed >"$1/denied/$name"
	done
	echo plain >"$1/f"
}

# Root alone, and no ceiling: nobody has allowed it.
needs_the_ceiling() {
	seal refused "$tests/manifest-uring.json" "$probe" run uring
	is "exit status" "$(<"$work/refused.status")" 125 || return 1
	if ! grep -q io_uring "$work/refused.err"; then
		show refused
		return 1
	fi
}

iso_host
tree /srv/iso-uring
verdict needs-the-ceiling needs_the_ceiling
ceiling=$work/ceiling.json
cat >"$ceiling" <<'EOF'
{"ceiling_version": 1, "shared_kernel": true, "host_root": ["/usr", "/bin", "/lib", "/lib64"],
 "input_roots": ["/srv"], "io_uring": true}
EOF
iso_agent
for name in uring uring_closed; do
	verdict "$name" judged "$name"
done
verdict nothing-left nothing_left
summary uring
