#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Bounds that end a run, exit statuses, and what tries to outlive it. Each run: exit status, stop
# reason, event of the limit, and nothing left.

set -euo pipefail
# shellcheck source=kernel-tests/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
work=$(mktemp -d)
manifest=$tests/manifest-limits.json

# ends NAME STATUS REASON COMMAND…: REASON null when the command ends by itself.
ends() {
	local name=$1 status=$2 reason=$3
	shift 3
	seal "$name" "${with:-$manifest}" "$@"
	if is "exit status" "$(cat "$work/$name.status")" "$status" &&
		is "stop reason" "$(result "$name" stop_reason)" "$reason" &&
		is "settled" "$(result "$name" settled)" true && nothing_left; then
		return 0
	fi
	show "$name"
	return 1
}

# told NAME KIND PATTERN: exactly one event of that kind, and its line has the pattern.
told() {
	local lines
	lines=$(events "$1" | grep -F "\"kind\":\"$2\"" || [[ $? == 1 ]])
	is "number of $2 events" "$(grep -c . <<<"$lines")" 1 || return 1
	[[ -z $3 ]] || grep -qF -- "$3" <<<"$lines" || {
		echo "  no $3 in: $lines"
		return 1
	}
}

# What the command's own end gives: as by a shell.
statuses() {
	ends own-status 7 null /bin/sh -c 'exit 7' &&
		ends own-signal 143 null /bin/sh -c 'kill -TERM $$' &&
		ends not-found 127 null /usr/bin/no-such-program &&
		ends not-executable 126 null /usr/lib/os-release
}

# Refused before there is anything: no run, no cgroup, no events.
invalid() {
	local before after
	before=$(wc -c </var/log/isoctl/events.ndjson)
	echo '{"manifest_version": 1}' >"$work/invalid-manifest.json"
	seal invalid "$work/invalid-manifest.json" /bin/true
	after=$(wc -c </var/log/isoctl/events.ndjson)
	is "exit status" "$(cat "$work/invalid.status")" 125 &&
		is "started" "$(result invalid exit.started)" false &&
		is "size of the event file" "$after" "$before" && nothing_left
}

# The wall limit, with everything ignored that can be.
deadline() {
	"$isoctl" manifest render "$manifest" --set /limits/wall_time=3s >"$work/short.json"
	with=$work/short.json ends deadline 124 deadline "$probe" stay && told deadline limit '"limit":"wall-time"'
}

memory() {
	ends memory 137 limit-memory "$probe" memory 300 && told memory limit '"limit":"memory"'
}

# Over several processes that are small each.
memory_spread() {
	ends memory-spread 137 limit-memory /bin/sh -c \
		"for i in 1 2 3 4 5 6; do $probe memory 40 & done; wait; wait; $probe memory 300" &&
		told memory-spread limit '"limit":"memory"'
}

pids() {
	ends pids 11 null "$probe" many-processes && told pids limit '"limit":"pids"'
}

# A fork bomb: it is refused new processes, and ends with the run. What a refused fork had charged
# goes an RCU grace period later: with little memory that bound could come first on a busy machine.
fork_bomb() {
	"$isoctl" manifest render "$manifest" --set /limits/wall_time=10s \
		--set /process/limits/memory=1GiB >"$work/bomb.json"
	with=$work/bomb.json ends fork-bomb 124 deadline "$probe" bomb
}

log() {
	ends log 137 limit-log "$probe" talk 4000000 && told log limit '"limit":"log"' &&
		[[ $(wc -c <"$work/log.out") -le 65536 ]]
}

# Errnos 27 and 28: the limit of one file, the storage itself.
storage() {
	ends file-size 27 null "$probe" fill /tmp/large &&
		ends inodes 28 null "$probe" fill-inodes /tmp
}

# One survivor's event where its parent was reaped before the entry command ended.
survivor() {
	local how
	for how in plain double stopped closed; do
		ends "survivor-$how" 0 null /bin/sh -c "$probe leave $how; i=0; while [ \$i -lt 3000 ]; do i=\$((i + 1)); done" || return 1
		told "survivor-$how" survivor iso-probe || return 1
	done
	# setsid is refused; the child goes on as one that was left
	ends survivor-session 0 null "$probe" leave session
}

# Left behind by the entry command itself: ended with it.
left_at_the_end() {
	local how
	for how in plain double session stopped closed; do
		ends "left-$how" 0 null "$probe" leave "$how" || return 1
	done
}

iso_host
verdict agent iso_agent
verdict statuses statuses
verdict invalid-manifest invalid
verdict deadline deadline
verdict memory memory
verdict memory-spread memory_spread
verdict pids pids
verdict fork-bomb fork_bomb
verdict log log
verdict storage storage
verdict survivor survivor
verdict left-at-the-end left_at_the_end
verdict events-verify "$isoctl" events verify /var/log/isoctl/events.ndjson
summary limits
