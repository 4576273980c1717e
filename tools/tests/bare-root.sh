#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs README's two commands in a Debian 12 root that has nothing but its essential packages, to
# find what this machine had by chance. Needs root, mmdebstrap and half an hour or more; not a part
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

Makes a Debian 12 root with essential packages only, clones the last commit of this repository
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
iso_need mmdebstrap git findmnt

# Mounts go before anything is removed: rm must never reach the machine's own /dev.
clean() {
	local mount
	[[ -n $root ]] || return 0
	findmnt -rno TARGET | grep -F "$root/" | sort -r | while read -r mount; do
		umount -l "$mount" || return
	done
	if [[ -n $keep ]]; then
		iso_say "the root is $root"
	else
		rm -rf --one-file-system -- "$root"
	fi
}
trap clean EXIT
trap 'exit 130' INT TERM

make_root() {
	iso_say "making a root of essential packages"
	iso_deb_sources bookworm | grep -v '^deb-src' |
		mmdebstrap --quiet --variant=essential --include=apt,ca-certificates bookworm "$root"
	iso_deb_reach >"$root/etc/apt/apt.conf.d/90reach"
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
	mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys"
	mount -t tmpfs tmpfs "$root/run"
	git clone -q --no-hardlinks "$here/.." "$root/srv/isoctl"
}

run_command() {
	local status=0 began=$SECONDS
	iso_say "== $1"
	chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		/bin/sh -c "cd /srv/isoctl && exec $1" </dev/null || status=$?
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
