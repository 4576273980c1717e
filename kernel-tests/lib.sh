# shellcheck shell=bash disable=SC2034,SC2154 # scripts that source this use `tests` and set `work`
# SPDX-License-Identifier: BSD-2-Clause
#
# What the guests' scripts share. They run as root in a guest, in the source tree, with the build
# directory in $GUEST_BUILD. A script fails unless it reaches the end of everything it planned.

tests=$(dirname "${BASH_SOURCE[0]}")
bin=${GUEST_BUILD:?this runs in a guest: see tools/guest}/bin
isoctl=$bin/isoctl
probe=/usr/local/lib/iso-probe
judge=$GUEST_BUILD/kernel-tests/iso-kernel-judge
failed=0 passed=0

# The host as the cases expect it.
iso_host() {
	install -d /usr/local/lib /srv/iso-cases
	install -m 755 "$GUEST_BUILD/kernel-tests/iso-probe" "$probe"
	install -m 755 /usr/bin/true /usr/local/lib/iso-allowed
	printf '#!/usr/bin/wc\n' >/usr/local/lib/iso-script
	chmod 755 /usr/local/lib/iso-script
}

patience=300 # seconds: an emulated machine that is busy loads the BPF object in a minute

# until_true COMMAND…: asks again until it succeeds, or patience is over. What it waits for gives no
# sign that a script could wait on.
until_true() {
	local until=$((SECONDS + patience))
	while ((SECONDS < until)); do
		"$@" && return 0
		[[ -p $work/never ]] || mkfifo "$work/never"
		read -rt 0.1 <>"$work/never" || [[ $? -gt 128 ]]
	done
	return 1
}

answers() {
	"$isoctl" ps >/dev/null 2>&1
}

# killed_by_cgroup PID…: no signal of a process reaches isod or isoinit, so they are put into a cgroup
# that is killed: the kernel does that itself.
killed_by_cgroup() {
	local group=/sys/fs/cgroup/iso-kills pid
	[[ -d $group ]] || mkdir "$group"
	for pid in "$@"; do
		echo "$pid" >"$group/cgroup.procs"
	done
	echo 1 >"$group/cgroup.kill"
}

# The agent that iso_agent started, as an operator would end it.
iso_agent_end() {
	"$isoctl" guard release || killed_by_cgroup "$iso_agent_pid"
	wait "$iso_agent_pid" || iso_agent_status=$?
}

# An isod that stays for all runs of the script: each would load the BPF object anew otherwise. Its
# ceiling is the file $ceiling, if that is set.
iso_agent() {
	"$bin/isod" ${ceiling:+--ceiling "$ceiling"} >"$work/isod.log" 2>&1 </dev/null &
	iso_agent_pid=$!
	trap iso_agent_end EXIT
	if until_true answers; then
		return 0
	fi
	cat "$work/isod.log"
	echo "  isod does not answer"
	return 1
}

# verdict NAME COMMAND…: PASS when the command succeeds.
verdict() {
	local name=$1
	shift
	if "$@"; then
		echo "PASS $name"
		passed=$((passed + 1))
	else
		echo "FAIL $name"
		failed=$((failed + 1))
	fi
}

# seal NAME MANIFEST COMMAND…: leaves NAME.out, NAME.err, NAME.status and NAME.json in $work.
seal() {
	local name=$1 manifest=$2 status=0
	shift 2
	"$isoctl" seal --result "$work/$name.json" "$manifest" -- "$@" \
		>"$work/$name.out" 2>"$work/$name.err" </dev/null || status=$?
	echo "$status" >"$work/$name.status"
}

# result NAME PATH: a value of the result document: exit.status
result() {
	"$judge" value "$work/$1.json" "$2"
}

# events NAME: the run's events as OCSF lines.
events() {
	"$isoctl" events --format ocsf --run "$(result "$1" run)"
}

# show NAME: what a failed run said.
show() {
	sed 's/^/  | /' "$work/$1.err"
}

# is WHAT GOT WANT
is() {
	[[ $2 == "$3" ]] && return 0
	echo "  $1 is \"$2\", not \"$3\""
	return 1
}

# judged NAME: the probe's cases of that name in a sandbox of that manifest, and what came of them.
judged() {
	seal "$1" "$tests/manifest-$1.json" "$probe" run "$1"
	events "$1" >"$work/$1.events"
	is "result of the run" "$(result "$1" error)" null || {
		show "$1"
		return 1
	}
	"$judge" "$1" "$work/$1.out" "$work/$1.events"
}

# No process of a sandbox, no cgroup, no mount of one.
nothing_left() {
	local left
	left=$(find /sys/fs/cgroup -mindepth 2 -path '*isoctl*' -type d -name '*-*-*' -print)
	is "what is left of cgroups" "$left" "" || return 1
	if pgrep -f "^$probe" >/dev/null; then
		echo "  probes are still running: $(pgrep -af "^$probe")"
		return 1
	fi
}

summary() {
	echo "$1: $passed passed, $failed failed"
	[[ $failed == 0 && $passed -gt 0 ]]
}
