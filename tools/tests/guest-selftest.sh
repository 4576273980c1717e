#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Checks of tools/guest itself: that a status comes back exact, that nothing but
# a finished command can pass, and that each kernel offers what the kernel tests
# need. Prints a line for each check and exits non-zero if any failed.
#
# usage: guest-selftest.sh [CHECK…]    (default: all; names are the check_… below)

set -uo pipefail
guest=$(dirname "$0")/../guest
work=$(mktemp -d "${TMPDIR:-/tmp}/guest-selftest.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
failed=0 passed=0

# run STATUS OPTION-OR-COMMAND… runs a guest; passes if that is its exit status.
# Output is left in $work/out and $work/err.
run() {
	local want=$1 got=0
	shift
	"$guest" --build none "$@" >"$work/out" 2>"$work/err" || got=$?
	verdict "exit status $want of: $(tr -s '\n\t' '  ' <<<"$*" | cut -c1-70)" "$got" "$want"
}

# verdict WHAT GOT WANT
verdict() {
	if [[ $2 == "$3" ]]; then
		echo "ok: $1"
		((passed++))
		return 0
	fi
	echo "FAILED: $1: got '$2', expected '$3'"
	sed 's/^/    /' "$work/err" 2>/dev/null | tail -n 60
	((failed++))
	return 1
}

# has FILE REGEX, deny FILE REGEX: some line matches, no line matches.
has() {
	verdict "'$2' is in the ${1##*/} of it" "$(grep -cE -- "$2" "$1" | sed 's/^[1-9].*/some/')" some
}

deny() {
	verdict "'$2' is not in the ${1##*/} of it" "$(grep -cE -- "$2" "$1")" 0
}

check_status() {
	local s
	for s in 0 1 137 255; do
		run "$s" -- sh -c "exit $s"
	done
	run 137 -- sh -c 'kill -KILL $$'
	run 127 -- /no/such/program
}

# Arguments, environment and output arrive byte for byte.
check_exact() {
	# shellcheck disable=SC2016 # for the guest's shell
	run 0 --env 'WORD=a b' -- sh -c 'printf "%s\n" "$WORD" "$@"; printf "\001\377\r\n" >&2' _ '' "x'y" $'n\nl' --
	printf 'a b\n\nx'\''y\nn\nl\n--\n\001\377\r\n' >"$work/want"
	verdict "the output is exact" "$(od -c "$work/out")" "$(od -c "$work/want")"
	# More than any pipe or FIFO holds, and a process that stays behind.
	run 0 -- sh -c 'sleep 1000 & seq 100000'
	verdict "long output is whole" "$(cksum <"$work/out")" "$(seq 100000 | cksum)"
}

check_panic() {
	run 254 -- sh -c 'echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger; exit 0'
	has "$work/err" '^tools/guest: FAILED: the guest died'
	has "$work/err" 'Kernel panic|sysrq triggered crash'
}

check_hang() {
	local before=$SECONDS
	# Long enough for a start on a host that is busy with other things.
	run 124 --timeout 90s -- sh -c 'echo before; exec sleep 1000'
	verdict "the limit ended it" "$((SECONDS - before < 150))" 1
	has "$work/out" '^before$'
	has "$work/err" '^tools/guest: FAILED: the guest ran longer'
	deny "$work/err" 'setpriv'
}

# The command ends the guest itself: in order, as far as QEMU can tell.
check_no_result() {
	run 254 -- guest-exit
	has "$work/err" 'without a result of this run'
	run 254 -- sh -c 'reboot -f || echo b >/proc/sysrq-trigger; sleep 100' # lint-allow(sleeps): ends with the guest
}

check_spoof() {
	# shellcheck disable=SC2016 # for the guest's shell
	local spoof='
		record="isoctl-guest-result $(printf "%032d" 0) 0 none"
		echo "$record"; echo "$record" >/dev/console
		for disk in /sys/block/vd*; do
			read -r serial <$disk/serial
			[ "$serial" = control ] || continue
			tr -d "\0" </dev/${disk##*/} | head -c 32 | grep -qE "^[0-9a-f]{32}" && exit 99
			printf "%-511s\n" "$record" | dd of=/dev/${disk##*/} bs=512 seek=1 count=1 conv=notrunc,fsync
		done'
	run 3 -- bash -c "$spoof; exit 3"
	run 254 -- bash -c "$spoof; guest-exit"
	run 254 -- bash -c "$spoof; kill -STOP 1; echo 1 >/proc/sys/kernel/sysrq; echo b >/proc/sysrq-trigger; sleep 100" # lint-allow(sleeps): ends with the guest
}

check_out() {
	# shellcheck disable=SC2016 # for the guest's shell
	run 7 --out "$work/kept" -- sh -c 'echo deep >$GUEST_OUT/file; mkdir $GUEST_OUT/d; ln -s /etc $GUEST_OUT/d/l; exit 7'
	verdict "a file came back" "$(cat "$work/kept/file")" deep
	verdict "a link came back as a link" "$(readlink "$work/kept/d/l")" /etc
	run 0 --scratch 1G -- sh -c 'cd /scratch && stat -f -c %T . && echo x >x && sync x && df -BM --output=size . | tail -n1'
	has "$work/out" 'ext2/ext3'
	mkdir "$work/shared"
	echo shared >"$work/shared/a"
	run 0 --share "$work/shared" -- cat /share/a
	verdict "a shared file is there" "$(cat "$work/out")" shared
}

check_tree() {
	local got=0
	mkdir -p "$work/build/sub/CMakeFiles"
	printf '#!/bin/sh\necho built\nexit 9\n' >"$work/build/sub/program"
	chmod +x "$work/build/sub/program"
	: >"$work/build/sub/CMakeFiles/object.o"
	# shellcheck disable=SC2016 # for the guest's shell
	"$guest" --build "$work/build" -- sh -c '
		pwd; ls tools/guest; find $GUEST_BUILD -name CMakeFiles; exec $GUEST_BUILD/sub/program' \
		>"$work/out" 2>"$work/err" || got=$?
	verdict "a program of the build directory runs" "$got" 9
	verdict "the tree is there" "$(cat "$work/out")" $'/isoctl\ntools/guest\nbuilt'
}

check_kernels() {
	local k c
	for k in 6.1 6.12 7.2; do
		# shellcheck disable=SC2016 # for the guest's shell
		run 0 --kernel $k -- sh -ec '
			echo "release $(uname -r)"
			echo "lsm $(cat /sys/kernel/security/lsm)"
			echo "controllers $(cat /sys/fs/cgroup/cgroup.controllers)"
			echo "enabled $(cat /sys/fs/cgroup/cgroup.subtree_control)"
			for t in /sys/fs/bpf:bpf_fs /sys/kernel/tracing:tracefs /dev/shm:tmpfs /var/lib/isoctl:tmpfs; do
				echo "mount $(stat -f -c %T ${t%:*}) ${t#*:}"
			done
			for m in loop nft_socket nft_ct nft_reject_inet nft_log nft_limit nft_quota; do
				modprobe $m && echo "module $m"
			done
			nft add table inet t && nft list tables && ip -br link show lo
			ls /sys/kernel/btf/vmlinux
			test -s /usr/src/isoctl-real/zlib/zlib.h
			echo "commits $(git -C /usr/src/isoctl-real/zlib log --oneline | wc -l)"
		'
		has "$work/out" '^release [0-9]'
		has "$work/out" '^lsm (.*,)?bpf(,|$)'
		for c in memory pids cpu io; do
			has "$work/out" "^controllers (.* )?$c( |\$)"
			has "$work/out" "^enabled (.* )?$c( |\$)"
		done
		has "$work/out" '^mount tracefs tracefs$'
		has "$work/out" '^module nft_quota$'
		has "$work/out" '^table inet t$'
		has "$work/out" '^lo .*LOWER_UP'
		has "$work/out" '^commits 1$'
	done
}

# Instruction counts of one loop: the same in two guests, and within one.
check_icount() {
	# shellcheck disable=SC2016 # for the guest's shell
	local loop='
		t() { local a b i; a=$(date +%s%N); for ((i = 0; i < 20000; i++)); do :; done; b=$(date +%s%N); echo $((b - a)); }
		t; t; t'
	local a b low high
	run 0 --icount -- bash -c "$loop"
	a=$(sort -n "$work/out" | head -n1)
	run 0 --icount -- bash -c "$loop"
	b=$(sort -n "$work/out" | head -n1)
	low=$((a < b ? a : b)) high=$((a < b ? b : a))
	verdict "counts $a and $b agree to 2 %" "$((low > 100000 && (high - low) * 50 < low))" 1
}

check_systemd() {
	local k
	for k in 6.1 7.2; do
		# shellcheck disable=SC2016 # for the guest's shell
		run 201 --systemd --kernel $k -- bash -c '
			cat /proc/1/comm; cg=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
			cat $cg/cgroup.controllers
			mkdir $cg/a $cg/b && echo $$ >$cg/a/cgroup.procs
			echo "+memory +pids +cpu +io" >$cg/cgroup.subtree_control && cat $cg/b/cgroup.controllers
			systemd-run --wait --pipe -q echo from a unit
			exit 201'
		has "$work/out" '^systemd$'
		has "$work/out" '^(cpuset )?cpu io memory pids$'
		has "$work/out" '^from a unit$'
	done
}

# A signal to tools/guest leaves neither guest nor files.
check_signal() {
	local pid got=0 n
	mkdir "$work/tmp"
	TMPDIR=$work/tmp "$guest" --build none -- sleep 1000 >"$work/out" 2>"$work/err" &
	pid=$!
	for ((n = 0; n < 300; n++)); do
		if grep -qs began "$work"/tmp/*/console; then break; fi
		sleep 0.2 # lint-allow(sleeps): bounded, until the console says so
	done
	verdict "it began" "$((n < 300))" 1
	verdict "its guest runs" "$(pgrep -cP "$pid" qemu-system)" 1
	kill -TERM "$pid"
	wait "$pid" || got=$?
	verdict "exit status after a signal" "$got" 143
	verdict "no guest of it is left" "$(pgrep -cf "$work/tmp/")" 0
	verdict "no file of it is left" "$(ls -A "$work/tmp")" ''
}

check_two() {
	local first=0 second=0 pid
	"$guest" --build none -- sh -c 'echo one; exit 11' >"$work/one" 2>"$work/err" &
	pid=$!
	"$guest" --build none -- sh -c 'echo two; exit 12' >"$work/two" 2>"$work/err2" || second=$?
	wait "$pid" || first=$?
	verdict "two at once" "$first $second $(cat "$work/one" "$work/two" | tr '\n' ' ')" "11 12 one two "
}

# Indexes that the archive's keys did not sign are refused.
check_signature() {
	local keys want got
	for keys in keyring:accepted removed-keys:refused; do
		want=${keys#*:} got=accepted
		# shellcheck disable=SC2016 # for the inner shell
		ISO_GUEST_CACHE=$work/cache-$want bash -c '
			cd "$1" && source lib/common.sh && source lib/debian.sh && ISO_DEB_KEYRING=$2 &&
			iso_deb_locked bookworm iso_deb_open bookworm' _ "$(dirname "$guest")" \
			"/usr/share/keyrings/debian-archive-${keys%:*}.gpg" >"$work/err" 2>&1 || got=refused
		verdict "an index checked with ${keys%:*} is $want" "$got" "$want"
	done
	has "$work/err" 'NO_PUBKEY|not signed'
}

check_usage() {
	run 2 --kernel 5.0 -- true
	run 2 --nonsense
	run 2
	run 2 --timeout soon -- true
	run 0 --list
	has "$work/out" '^7\.2 '
}

if (($# == 0)); then
	set -- usage signature status exact panic hang no_result spoof out tree kernels icount systemd signal two
fi
for check in "$@"; do
	if ! declare -F "check_$check" >/dev/null; then
		echo "no check $check" >&2
		exit 2
	fi
	echo "== $check"
	"check_$check"
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
