#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A task that has been taken over: tries what it must not be able to do, inside a sandbox made from
# policies/build-c.json, and says what it got. Run by tools/demo/job.sh as
#
#	bash -c "$(cat tools/demo/hostile.sh)" hostile WORK SCRATCH KEY
#
# WORK is the writable checkout, SCRATCH a writable directory, KEY a key file of the host. One line
# for each attempt: "refused NAME: what the kernel said" or "GOT THROUGH NAME". Nothing that a
# forbidden action yields is printed. Exit status: 0 everything was refused, 1 something got
# through, 2 what must work did not, so that the refusals prove nothing.

set -uo pipefail
work=$1 scratch=$2 key=$3
through=0

# The control: what the manifest grants works. Without it "refused" could mean a broken sandbox.
allowed() {
	: >"$work/hostile-was-here" && rm "$work/hostile-was-here" &&
		: >"$scratch/hostile-was-here" && rm "$scratch/hostile-was-here" &&
		/usr/bin/env true
}

# attempt NAME FUNCTION: the function tries it, and succeeds if it worked.
attempt() {
	local name=$1 said
	if said=$("$2" 2>&1 >/dev/null); then
		echo "GOT THROUGH $name"
		through=$((through + 1))
	else
		said=${said%%$'\n'*}
		echo "refused $name: ${said##*: }"
	fi
}

read_key() {
	cat "$key"
}

write_outside() {
	: >/usr/lib/hostile-was-here
}

change_hook() {
	printf '#!/bin/sh\nid\n' >"$work/.git/hooks/pre-commit"
}

# 192.0.2.1 is an address that RFC 5737 keeps for documentation: nothing answers there.
connect_out() {
	: >/dev/tcp/192.0.2.1/443
}

execute_from_scratch() {
	cp /usr/bin/env "$scratch/program" && chmod 755 "$scratch/program" && "$scratch/program" true
}

# A child whose parent has ended must not stay. Five seconds are fifty times what it is allowed.
outlive() {
	local pid left=50
	pid=$(sleep 1000 >/dev/null 2>&1 & echo $!)
	while kill -0 "$pid" 2>/dev/null; do
		((left-- > 0)) || return 0
		sleep 0.1
	done
	echo "hostile: child: Killed" >&2
	return 1
}

allowed || {
	echo "hostile: what the manifest grants does not work"
	exit 2
}
attempt read-key read_key
attempt write-outside write_outside
attempt change-git-hook change_hook
attempt connect-out connect_out
attempt execute-from-scratch execute_from_scratch
attempt outlive-the-task outlive
[[ $through == 0 ]]
