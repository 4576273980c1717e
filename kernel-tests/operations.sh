#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every traced operation of operations.def: in a sandbox, and outside any on the same kernel.

set -euo pipefail
# shellcheck source=kernel-tests/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
work=$(mktemp -d)

# The tree of both: as the sandbox's input, and at the same place outside.
tree() {
	local name
	mkdir -p "$1"/{.git,keep,d,d2,denied/list,denied/rmdir}
	for name in fchmod fsetxattr flock; do
		echo protected >"$1/.git/$name"
	done
	for name in open_rdonly read mmap_read open_path reopen write ftruncate fallocate sendfile copy_range \
		open_trunc truncate chmod chown utimes setxattr removexattr setacl pointed rename link unlink watch; do
		echo closed >"$1/denied/$name"
	done
	echo inner >"$1/keep/inner"
	for name in f acl uring-unlink; do
		echo plain >"$1/$name"
	done
	ln -s denied/pointed "$1/to-denied"
}

# Outside, the operations need a file system that has attributes on all kernels: /scratch of the test.
outside_tree() {
	tree /scratch/work
	chmod 755 /scratch /scratch/work
	mkdir /work
	mount --bind /scratch/work /work
}

servers() {
	"$probe" add-address 192.0.2.1
	echo 0 0 >/proc/sys/net/ipv4/ping_group_range
	"$probe" serve /usr/local/lib/iso-socket /usr/local/lib/iso-datagram @iso-host
	"$probe" pass-file /usr/local/lib/iso-passer "$work/passed"
	local port
	for port in 80 81 82; do
		"$probe" serve-tcp 192.0.2.1 $port
	done
}

outside() {
	"$probe" outside "$1" >"$work/$1.outside" 2>&1 </dev/null || return 1
	"$judge" outside "$1" "$work/$1.outside"
}

iso_host
iso_agent
install -m 4755 "$probe" /usr/local/lib/iso-setuid
tree /srv/iso-operations
outside_tree
echo passed >"$work/passed"
servers
exec 9<>/work/f # what a caller may have open
for name in operations operations_closed; do
	verdict "$name-inside" judged "$name"
	verdict "$name-outside" outside "$name"
done
pkill -KILL -f "^$probe (serve|serve-tcp|pass-file) "
verdict nothing-left nothing_left
summary operations
