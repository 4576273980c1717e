#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The main job (tools/demo/job.sh) in a guest, on Debian's zlib: a kernel test.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# shellcheck disable=SC2034 # lib/common.sh starts its messages with it
ISO_TOOL=tools/tests/main-job.sh
for part in common packages debian real-input; do
	# shellcheck source=/dev/null
	source "$here/lib/$part.sh"
done
(($# == 2)) || ISO_DIE_STATUS=2 iso_die "usage: tools/tests/main-job.sh KERNEL BUILD-DIRECTORY"

work=$(mktemp -d /var/tmp/isoctl-main-job.XXXXXX)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
iso_fetch_zlib "$work/zlib"
# shellcheck disable=SC2016 # for the guest's shell
"$here/guest" --kernel "$1" --build "$2" --share "$work" --timeout 20m -- \
	sh -c 'exec tools/demo/job.sh --bin "$GUEST_BUILD" --source /share/zlib --out /tmp/out'
