# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # guest_* are set by tools/guest
#
# One run of a command in a guest, from the disks to the exit status.

ISO_RUN_STARTS=3
iso_run_dir=

iso_run_clean() {
	iso_qemu_kill
	if [[ -n $iso_qemu_pump ]]; then
		kill "$iso_qemu_pump" 2>/dev/null || : # lint-allow(swallowed): may be gone
	fi
	rm -rf -- "$iso_run_dir"
}

iso_run_console() {
	tail -n 40 "$iso_run_dir/console" | tr -d '\r' | sed 's/^/  | /' >&2
	sed 's/^/  qemu: /' "$iso_run_dir/qemu-errors" >&2
}

# iso_run_failed STATUS REASON… ends the run with the end of the console.
iso_run_failed() {
	local status=$1
	shift
	iso_say "FAILED: $*; the end of its console:"
	iso_run_console
	exit "$status"
}

# iso_run_disks COMMAND… makes this run's disks in iso_run_dir.
iso_run_disks() {
	local build=$guest_build place
	case $build in
	none) build= ;;
	'')
		build=$ISO_TOP/build/release
		if [[ ! -d $build ]]; then
			iso_say "no build/release: the guest gets the sources only"
			build=
		fi
		;;
	*) [[ -d $build ]] || misuse "--build: no directory $build" ;;
	esac
	place=$(iso_job_payload "$build" "$iso_run_dir/payload") || iso_die "cannot pack the tree"
	guest_environment+=("GUEST_KERNEL=$guest_kernel" "GUEST_BUILD=$place")
	if [[ -n $guest_share ]]; then
		[[ -d $guest_share ]] || misuse "--share: no directory $guest_share"
		iso_job_share "$guest_share" "$iso_run_dir/share" || iso_die "cannot pack $guest_share"
	fi
	if [[ -n $guest_out ]]; then
		mkdir -p "$guest_out"
		truncate -s 4G "$iso_run_dir/out"
	fi
	if [[ -n $guest_scratch ]]; then
		truncate -s "$guest_scratch" "$iso_run_dir/scratch" || misuse "--scratch: not a size: $guest_scratch"
		mke2fs -q -t ext4 -m 0 "$iso_run_dir/scratch" >/dev/null || iso_die "cannot make the scratch disk"
	fi
}

# iso_run COMMAND… runs it and exits with its status.
iso_run() {
	local start nonce guest_status guest_kept
	trap iso_run_clean EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	iso_run_dir=$(mktemp -d "${TMPDIR:-/tmp}/isoctl-guest.XXXXXX")
	iso_run_disks
	for ((start = 1; start <= ISO_RUN_STARTS; start++)); do
		nonce=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
		iso_job_control "$iso_run_dir/control" "$nonce" "$guest_systemd" guest_environment "$@" ||
			iso_die "cannot make the control disk"
		iso_qemu_start "$iso_run_dir" || iso_die "cannot start QEMU"
		iso_qemu_wait "$iso_run_dir" "$guest_timeout"
		[[ $qemu_end == unbegun ]] || break
		iso_say "the guest did not begin (start $start of $ISO_RUN_STARTS; QEMU's status: $qemu_status)"
		iso_run_console
	done
	case $qemu_end in
	unbegun) iso_run_failed 254 "no start of the guest began" ;;
	timeout) iso_run_failed 124 "the guest ran longer than $guest_timeout s" ;;
	died) iso_run_failed 254 "the guest died" ;;
	esac
	iso_job_result "$iso_run_dir/control" "$nonce" ||
		iso_run_failed 254 "the guest ended without a result of this run"
	case $guest_kept in
	yes) tar -x --no-same-owner -C "$guest_out" -f "$iso_run_dir/out" || iso_die "cannot unpack $guest_out" ;;
	failed) iso_run_failed 254 "the guest could not return \$GUEST_OUT" ;;
	esac
	exit "$guest_status"
}
