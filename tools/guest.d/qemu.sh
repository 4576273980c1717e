# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # guest_* are set by tools/guest
#
# One start of a guest. QEMU emulates (TCG): no host needs KVM. `-M pc`, not
# microvm: that one hangs at random before the kernel's first line.

ISO_QEMU_ENDED=85  # 0x2a << 1 | 1: guest-exit.c
ISO_QEMU_BEGIN=120 # seconds until init's first line; a loaded host needs 30

iso_qemu_pid=
iso_qemu_pump=

# iso_qemu_start RUN-DIR starts the guest described by the guest_* variables of
# tools/guest; the command's output goes to standard output.
iso_qemu_start() {
	# All processors in one thread: with a thread each, QEMU 7.2 now and then lets one run an int3 that
	# another has patched away (text_poke, at each attach and detach), and the guest panics.
	local run=$1 n accel=tcg,thread=single args=() append
	append="console=ttyS0 quiet panic=-1 no_timer_check lsm=lockdown,capability,landlock,bpf mitigations=off"
	append+=" random.trust_cpu=on${guest_append:+ $guest_append}"
	if [[ -n $guest_icount ]]; then
		args+=(-icount "shift=0,sleep=off")
	fi
	for n in root:"$guest_image" modules:"$guest_kernel_dir/modules.img" payload:"$run/payload" \
		share:"$run/share"; do
		if [[ -e ${n#*:} ]]; then
			iso_qemu_disk "${n%%:*}" "${n#*:}" readonly=on
		fi
	done
	iso_qemu_disk control "$run/control" readonly=off
	for n in out scratch; do
		if [[ -e $run/$n ]]; then
			iso_qemu_disk "$n" "$run/$n" readonly=off
		fi
	done

	: >"$run/console"
	rm -f "$run/output"
	mkfifo "$run/output" || return
	# QEMU would make our standard output non-blocking, for all who share it.
	cat "$run/output" &
	iso_qemu_pump=$!
	# pdeathsig: no guest survives this script, however that ends.
	setpriv --pdeathsig KILL -- qemu-system-x86_64 -name isoctl-guest -M pc -accel "$accel" -cpu max \
		-m "$guest_memory" -smp "$guest_cpus" -nodefaults -display none -monitor none -no-reboot \
		-chardev file,id=console,path="${run//,/,,}/console" -serial chardev:console \
		-chardev stdio,id=output,signal=off -serial chardev:output \
		-device isa-debug-exit,iobase=0x501,iosize=4 \
		-kernel "$guest_kernel_dir/vmlinuz" -initrd "$guest_initrd" -append "$append" \
		"${args[@]}" </dev/null >"$run/output" 2>"$run/qemu-errors" &
	iso_qemu_pid=$!
}

# iso_qemu_disk SERIAL FILE OPTION adds a virtio disk to args.
iso_qemu_disk() {
	args+=(-drive "file=${2//,/,,},format=raw,if=none,id=$1,cache=unsafe,$3"
		-device "virtio-blk-pci,drive=$1,serial=$1")
}

# iso_qemu_wait RUN-DIR SECONDS waits for the guest's end and sets qemu_status and
# qemu_end: ended (in order), died, timeout, or unbegun (no line of init in time).
iso_qemu_wait() {
	local run=$1 limit=$((SECONDS + $2)) begin=$((SECONDS + ISO_QEMU_BEGIN)) tick
	qemu_end=
	qemu_status=0
	exec {tick}<> <(:)
	while kill -0 "$iso_qemu_pid" 2>/dev/null; do
		read -r -t 0.1 -u "$tick" || : # lint-allow(swallowed): the time-out is the point
		if ((SECONDS >= limit)); then
			qemu_end=timeout
		elif ((SECONDS >= begin)) && ! iso_qemu_began "$run"; then
			qemu_end=unbegun
		else
			continue
		fi
		iso_qemu_kill
		break
	done
	exec {tick}<&-
	# Without the shell's own line about a killed job.
	wait "$iso_qemu_pid" 2>/dev/null || qemu_status=$?
	iso_qemu_pid=
	wait "$iso_qemu_pump" || : # lint-allow(swallowed): it is ended by a signal
	iso_qemu_pump=
	if [[ -z $qemu_end ]]; then
		if ((qemu_status == ISO_QEMU_ENDED)); then
			qemu_end=ended
		else
			qemu_end=died
		fi
	fi
	if [[ $qemu_end != ended ]] && ! iso_qemu_began "$run"; then
		qemu_end=unbegun
	fi
}

iso_qemu_began() {
	grep -q '^isoctl-guest: began' "$1/console"
}

# iso_qemu_kill ends our own guest, if one runs.
iso_qemu_kill() {
	if [[ -n $iso_qemu_pid ]]; then
		kill -KILL "$iso_qemu_pid" 2>/dev/null || : # lint-allow(swallowed): may be gone
	fi
}
