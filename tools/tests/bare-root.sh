#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs README's two commands in a minimal Debian 12 root, to find what this machine had by chance.
# The root is that of a mount and process namespace, not of a chroot: in one of those the kernel
# refuses user namespaces (current_chrooted). Needs root, mmdebstrap and half an hour or more; not a part
# of tools/run-tests, which it runs.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# shellcheck disable=SC2034 # lib/common.sh starts its messages with it
ISO_TOOL=tools/tests/bare-root.sh
for part in common packages debian; do
	# shellcheck source=/dev/null
	source "$here/lib/$part.sh"
done

commands=('tools/quickstart' 'tools/run-tests')
keep='' root=''

usage() {
	cat <<'EOT'
Usage: tools/tests/bare-root.sh [--keep] [COMMAND…]

Makes a minimal Debian 12 root (required packages only), clones the last commit of this repository
into it, and runs there, as root, each COMMAND (default: tools/quickstart, tools/run-tests).

  --keep    leave the root where it is, and say where
  --help    print this

Exit status: 0 when every command succeeded.
EOT
}

while (($#)); do
	case $1 in
	--help) usage && exit 0 ;;
	--keep) keep=1 ;;
	-*) ISO_DIE_STATUS=2 iso_die "unknown option $1 (see --help)" ;;
	*) break ;;
	esac
	shift
done
(($# == 0)) || commands=("$@")
[[ $EUID == 0 ]] || iso_die "needs root"
iso_need mmdebstrap git unshare pivot_root

clean() {
	[[ -n $root ]] || return 0
	if [[ -n $keep ]]; then
		iso_say "the root is $root"
	else
		rm -rf --one-file-system -- "$root"
	fi
}
trap clean EXIT
trap 'exit 130' INT TERM

make_root() {
	iso_say "making a minimal root"
	iso_deb_sources bookworm | grep -v '^deb-src' |
		mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root"
	iso_deb_reach >"$root/etc/apt/apt.conf.d/90reach"
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	git clone -q --no-hardlinks "$here/.." "$root/srv/isoctl"
}

# What runs as pid 1 of the namespaces: $1 is the root, $2 the command.
# shellcheck disable=SC2016 # expanded there
entry='
set -e
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs tmpfs run
pivot_root . .
umount -l .
cd /srv/isoctl
exec env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$2"
'

# Mounts and processes go with the namespaces, however this ends.
run_command() {
	local status=0 began=$SECONDS
	iso_say "== $1"
	unshare --mount --propagation private --pid --fork --kill-child -- \
		/bin/sh -c "$entry" sh "$root" "$1" </dev/null || status=$?
	iso_say "== $1: status $status after $((SECONDS - began)) s"
	return "$status"
}

root=$(mktemp -d "${TMPDIR:-/var/tmp}/isoctl-bare.XXXXXX")
chmod 755 "$root"
make_root
failed=0
for command in "${commands[@]}"; do
	run_command "$command" || failed=$((failed + 1))
done
[[ $failed == 0 ]] || iso_die "$failed of ${#commands[@]} commands failed"
iso_say "all ${#commands[@]} commands succeeded on a bare Debian 12"
