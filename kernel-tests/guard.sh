#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The reverse guard around a real isod: attacks with an administrator's own tools, each refused and
# told of; what it says of itself; what keeps it from being locked; how it is given up.

set -euo pipefail
# shellcheck source=kernel-tests/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
work=$(mktemp -d)
manifest=$tests/manifest-limits.json
list=/etc/isoctl/foreign-programs

# told PATTERN: an attempt with the pattern is in the stream, as severity 5.
told() {
	"$isoctl" events --format ocsf | grep -F '"kind":"tamper"' | grep -F '"severity_id":5' | grep -qF -- "$1"
}

# refused PATTERN COMMAND…: the command fails, and the attempt is told of.
refused() {
	local pattern=$1
	shift
	if "$@" >"$work/refused" 2>&1; then
		echo "  not refused: $*"
		return 1
	fi
	until_true told "$pattern" && return 0
	echo "  no event with $pattern of: $*"
	cat "$work/refused"
	return 1
}

# object KIND NAME: its number, as isod gives it.
object() {
	"$isoctl" guard status --json | tr -d '\n ' | grep -o "{\"kind\":\"$1\",\"id\":[0-9]*,\"name\":\"$2\"}" |
		grep -o '[0-9]\+' | head -n 1
}

locked() {
	"$isoctl" guard status >"$work/status" && grep -q '^locked since' "$work/status"
}

no_map() {
	refused '"object":"map ' bpftool map dump id "$(object map iso_rules)"
}

no_program() {
	refused '"object":"program ' bpftool prog dump xlated id "$(object program iso_file_open)"
}

no_link() {
	refused '"object":"link ' bpftool link detach id "$(object link iso_sysctl)"
}

no_foreign_program() {
	refused '"object":"foreign-program"' "$GUEST_BUILD/bpf/tests/iso-kernel-test" hold-foreign </dev/null
}

trampolines_stay() {
	refused '"object":"kernel.ftrace_enabled"' sysctl -w kernel.ftrace_enabled=0 &&
		is "kernel.ftrace_enabled" "$(cat /proc/sys/kernel/ftrace_enabled)" 1
}

# What an administrator can ask without being refused: nothing of it is told of.
may_look() {
	sysctl -w kernel.domainname=guarded >/dev/null && cat "/proc/$iso_agent_pid/status" >/dev/null &&
		kill -0 "$iso_agent_pid"
}

isod_lives() {
	refused "\"object\":\"process $iso_agent_pid isod\"" kill -TERM "$iso_agent_pid" &&
		refused '"signal":9' kill -KILL "$iso_agent_pid" &&
		refused '"hook":"ptrace_access_check"' strace -p "$iso_agent_pid" && answers
}

running() {
	pgrep -f "^$probe stay" >/dev/null
}

# A run: its isoinit cannot be reached, the guard is not given up, and Ctrl-C of isoctl still ends it.
during_a_run() {
	local run init status=0
	"$isoctl" seal --result "$work/run.json" "$manifest" -- "$probe" stay >"$work/run.out" 2>"$work/run.err" </dev/null &
	run=$!
	until_true running || return 1
	init=$(pgrep -x isoinit)
	refused "\"object\":\"process $init isoinit\"" kill -KILL "$init" || return 1
	if "$isoctl" guard release 2>"$work/release"; then
		echo "  given up while a sandbox lives"
		return 1
	fi
	locked && running || return 1
	kill -INT "$run"
	wait "$run" || status=$?
	[[ $status != 0 ]] && is "stop reason" "$(result run stop_reason)" cancelled && nothing_left
}

gone() {
	if pgrep -x isod >/dev/null; then
		return 1
	fi
}

given_up() {
	"$isoctl" guard release && wait "$iso_agent_pid" && until_true gone
}

# A program that decides, loaded before: isod names it and what to do, and starts when it is listed.
foreign_program() {
	local holder line
	mkfifo "$work/input"
	"$GUEST_BUILD/bpf/tests/iso-kernel-test" hold-foreign <"$work/input" >"$work/holder" &
	holder=$!
	exec 9>"$work/input"
	until_true grep -q held "$work/holder" || return 1
	if "$bin/isod" --socket "$work/socket" >"$work/isod.err" 2>&1; then
		echo "  isod starts beside a program that decides"
		return 1
	fi
	if ! grep -q 'attack_lsm, of uid 0' "$work/isod.err" || ! grep -qF "$list" "$work/isod.err"; then
		cat "$work/isod.err"
		return 1
	fi
	line=$(grep -o 'attack_lsm [0-9a-f]\{16\}' "$work/isod.err" | head -n 1)
	mkdir -p "${list%/*}" && echo "$line" >"$list" && iso_agent || return 1
	"$isoctl" guard status | grep -q "beside it, as listed: [0-9]* $line" || return 1
	exec 9>&-
	wait "$holder"
	seal beside "$manifest" /bin/true && is "exit status" "$(cat "$work/beside.status")" 0
}

iso_host
verdict agent iso_agent
verdict guard-status locked
verdict no-map no_map
verdict no-program no_program
verdict no-link no_link
verdict no-foreign-program no_foreign_program
verdict trampolines trampolines_stay
verdict may-look may_look
verdict isod-lives isod_lives
verdict during-a-run during_a_run
verdict given-up given_up
verdict foreign-program foreign_program
verdict events-verify "$isoctl" events verify /var/log/isoctl/events.ndjson
summary guard
