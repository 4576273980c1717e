#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# One sandbox makes a great many refusals through the whole product while another makes one every
# 10 ms: the second's are all in the stream, the first's are counted exactly.

set -euo pipefail
# shellcheck source=kernel-tests/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
work=$(mktemp -d)
manifest=$tests/manifest-limits.json
many=200000 few=100

# refusals NAME KIND: what the run's records of this kind add up to.
refusals() {
	local count sum=0
	while read -r count; do
		sum=$((sum + count))
	done < <(events "$1" | grep -F "\"kind\":\"$2\"" |
		sed -n 's/.*"count":\([0-9]*\).*/\1/p; t; s/.*/1/p')
	echo "$sum"
}

both() {
	seal noisy "$manifest" "$probe" flood "$many" /usr/lib/os-release &
	seal quiet "$manifest" "$probe" drip "$few" 192.0.2.1
	wait "$!"
}

# shown NAME COMMAND…: a run that failed the command says what it said.
shown() {
	local name=$1
	shift
	"$@" && return 0
	show "$name"
	return 1
}

# 13: EACCES, by the file's mode and before every hook
noisy() {
	is "exit status" "$(cat "$work/noisy.status")" 13 &&
		is "refusals in the account" "$(result noisy events.denials)" "$many" &&
		is "refusals by the records" "$(refusals noisy file)" "$many" &&
		is "lost events" "$(result noisy events.lost)" 0 || return 1
	(($(result noisy events.records) < 100)) && return 0
	echo "  $(result noisy events.records) records of one refusal"
	return 1
}

# 13: EACCES, by the address
quiet() {
	is "exit status" "$(cat "$work/quiet.status")" 13 &&
		is "refusals in the account" "$(result quiet events.denials)" "$few" &&
		is "ports on record" "$(events quiet | grep -o '"port":[0-9]*' | sort -u | grep -c .)" "$few" &&
		is "lost events" "$(result quiet events.lost)" 0 &&
		is "gaps" "$(result quiet events.gaps)" 0
}

iso_host
verdict agent iso_agent
verdict both both
verdict noisy shown noisy noisy
verdict quiet shown quiet quiet
verdict nothing-left nothing_left
verdict events-verify "$isoctl" events verify /var/log/isoctl/events.ndjson
summary flood
