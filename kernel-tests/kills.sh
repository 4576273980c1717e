#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# SIGKILL for isoctl, isod and isoinit at several moments, by cgroup.kill: no task goes on, and the next run finds
# a host that it can use and leaves nothing of the last one.

set -euo pipefail
# shellcheck source=kernel-tests/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
work=$(mktemp -d)
manifest=$tests/manifest-limits.json
running() {
	pgrep -f "^$probe stay" >/dev/null
}

# Processes of a sandbox: the task and its pid 1.
gone() {
	if pgrep -f "^$probe" >/dev/null || pgrep -x isoinit >/dev/null; then
		return 1
	fi
}

started() {
	[[ -n $(find /sys/fs/cgroup -path '*isoctl*' -name 'cases-limits-*' -print -quit) ]]
}

# start: a run that stays, in the background; its pid in $run.
start() {
	"$isoctl" seal --result "$work/run.json" "$manifest" -- "$probe" stay >"$work/run.out" 2>"$work/run.err" </dev/null &
	run=$!
}

# The run's own agent: a child of isoctl.
agent() {
	pgrep -x isod
}

# No task is left, the caller is told, and the host can be used again.
clean_after() {
	local status=0
	if ! until_true gone; then
		echo "  still running: $(pgrep -af "$probe"; pgrep -a isoinit)"
		return 1
	fi
	wait "$run" || status=$?
	[[ $status != 0 ]] || {
		echo "  isoctl says that all went well"
		return 1
	}
	seal after "$manifest" /bin/true
	is "the next run's exit status" "$(cat "$work/after.status")" 0 || {
		show after
		return 1
	}
	nothing_left
}

# An isod that dies before it has captured anything is replaced: the run goes on with another.
replaced() {
	start
	until_true agent >/dev/null || return 1
	# shellcheck disable=SC2046 # words on purpose
	killed_by_cgroup $(agent)
	until_true running || {
		echo "  no other isod was started"
		cat "$work/run.err"
		return 1
	}
	kill -TERM "$run"
	clean_after
}

# killed WHO WHEN: WHEN is a command that succeeds when the moment has come.
killed() {
	local who=$1 pids
	shift
	start
	until_true "$@" || {
		echo "  the moment did not come"
		cat "$work/run.err"
		kill -TERM "$run"
		wait "$run"
		return 1
	}
	case $who in
	isoctl) pids=$run ;;
	isod) pids=$(agent) ;;
	isoinit) pids=$(pgrep -x isoinit) ;;
	both) pids="$run $(agent)" ;;
	esac
	# shellcheck disable=SC2086 # words on purpose
	killed_by_cgroup $pids
	clean_after
}

iso_host
verdict isoctl-while-running killed isoctl running
verdict isod-while-running killed isod running
verdict isoinit-while-running killed isoinit running
verdict both-while-running killed both running
verdict isod-while-building killed isod started
verdict isoctl-while-building killed isoctl started
verdict isod-at-once replaced
summary kills
