#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The main job in a guest: tools/demo/job.sh on the real project of the guest's image, and what a
# SOC may expect of it beyond that: a clean build is quiet, and its event stream holds.

set -euo pipefail
# shellcheck source=kernel-tests/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
work=$(mktemp -d)
source=/usr/src/isoctl-real/zlib

job() {
	tools/demo/job.sh --bin "$GUEST_BUILD" --source "$source" --out "$work/out"
}

# Refusals of the build, by whatever layer: 5 events at most, and none lost. What every runtime
# provokes is marked as expected and one count.
quiet() {
	local told
	cp "$work/out/build.json" "$work/"
	is "lost events" "$(result build events.lost)" 0 || return 1
	told=$(events build | grep -E '"kind":"(file|absent-path|network|exec|kernel)"' || [[ $? == 1 ]])
	told=$(grep -v '"expected":true' <<<"$told" || [[ $? == 1 ]])
	if (($(grep -c . <<<"$told") > 5)); then
		echo "  the clean build was refused:"
		echo "$told"
		return 1
	fi
}

settled() {
	is "settled" "$(result build settled)" true
}

verdict main-job job
verdict clean-build-is-quiet quiet
verdict settled settled
verdict events-verify "$isoctl" events verify /var/log/isoctl/events.ndjson
verdict source-clean is "git status of the source" "$(git -C "$source" status --porcelain)" ""
verdict nothing-left nothing_left
summary main-job
