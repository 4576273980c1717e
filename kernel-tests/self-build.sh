#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# In a guest with the build image: policies/self-build.json builds this repository's release preset
# and runs its unit label, sealed. Everything must pass. What is refused is shown and not bounded:
# some of the unit tests try what they may not.

set -euo pipefail

isoctl=$GUEST_BUILD/bin/isoctl
source=/srv/isoctl
work=/tmp/self-build

mkdir -p "$source" "$work"
tar --exclude=./build -C /isoctl -cf - . | tar -C "$source" -xf -
(
	cd "$source"
	git init -q
	git add -A
	git -c user.name=tests -c user.email=tests@localhost commit -q -m 'the sources under test'
)

"$isoctl" manifest render policies/self-build.json \
	--set "/filesystem/inputs/0/source=$source" >"$work/manifest.json"
status=0
"$isoctl" seal --result "$work/result.json" "$work/manifest.json" || status=$?
if [[ $status != 0 ]]; then
	cat "$work/result.json"
	echo "FAIL self-build: exit status $status"
	exit 1
fi
"$isoctl" events --format text
if [[ -n $(git -C "$source" status --porcelain) ]]; then
	git -C "$source" status --short
	echo "FAIL self-build: the source changed"
	exit 1
fi
echo "PASS self-build"
