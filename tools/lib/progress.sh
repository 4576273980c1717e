# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Long steps, shown. Needs common.sh.

iso_progress_group=

# iso_progress TEXT LOG COMMAND… runs it with its output in LOG and shows that it goes on: on a
# terminal a line that is rewritten, else a line every half minute. On failure the log's end.
# Ctrl-C reaches COMMAND through iso_progress_stop, for which the caller sets a trap.
iso_progress() {
	local text=$1 log=$2 status=0 began=$SECONDS next=30
	shift 2
	printf '%s …\n' "$text"
	# A process group of its own: bash gives background commands no interrupt otherwise.
	set -m
	"$@" >"$log" 2>&1 </dev/null &
	iso_progress_group=$!
	set +m
	while kill -0 "$iso_progress_group" 2>/dev/null; do
		sleep 0.5
		iso_progress_line $((SECONDS - began)) "$log"
	done
	wait "$iso_progress_group" || status=$?
	iso_progress_group=
	[[ ! -t 1 ]] || printf '\r\033[K'
	((status == 0)) || {
		tail -n 25 "$log"
		iso_say "failed with status $status after $((SECONDS - began)) s; the whole log is $log"
	}
	return "$status"
}

iso_progress_line() {
	local last
	if [[ -t 1 ]]; then
		last=$(tail -n 1 "$2" | tr -dc '[:print:]' | cut -c1-60)
		printf '\r\033[K  %4d s  %s' "$1" "$last"
	elif (($1 >= next)); then
		next=$(($1 + 30))
		printf '  %4d s  %s\n' "$1" "$(tail -n 1 "$2" | tr -dc '[:print:]' | cut -c1-60)"
	fi
}

# iso_progress_stop ends what iso_progress is running, with all of its processes.
iso_progress_stop() {
	[[ -n $iso_progress_group ]] || return 0
	if kill -TERM -- "-$iso_progress_group" 2>/dev/null; then
		wait "$iso_progress_group" || return 0
	fi
}
