# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The guests' initramfs: busybox, the early modules of one kernel, the guest's
# scripts and guest-exit.

ISO_INITRD_PARTS=(init stage2 runner guest-exit.c initrd.sh)

# iso_initrd KERNEL-DIR sees to the cache entry and prints the file's path.
iso_initrd() {
	local entry
	entry=initrd-$(cd "$ISO_TOP/tools/guest.d" && iso_hash "${ISO_INITRD_PARTS[@]}" <<<"$1")
	iso_build "$entry" iso_initrd_make "$1" || return
	echo "$ISO_CACHE/$entry/initrd"
}

iso_busybox_entry() {
	echo "busybox-$(iso_hash "$ISO_TOP"/tools/{lib/debian,guest.d/initrd}.sh </dev/null)"
}

# From the archive: the host's own may be linked dynamically.
iso_busybox_make() {
	iso_deb_locked bookworm iso_busybox_download "$1" || return
	dpkg-deb --fsys-tarfile "$1"/busybox-static_*.deb | tar -x -C "$1" ./bin/busybox
}

iso_busybox_download() {
	iso_deb_open bookworm && iso_deb_download bookworm "$1" busybox-static
}

# iso_initrd_make KERNEL-DIR DIR
iso_initrd_make() {
	local root=$2/root here=$ISO_TOP/tools/guest.d
	iso_build "$(iso_busybox_entry)" iso_busybox_make || return
	mkdir -p "$root/bin" && cp -r "$1/early" "$root/early" || return
	cp "$ISO_CACHE/$(iso_busybox_entry)/bin/busybox" "$root/bin/busybox" || return
	install -m 755 "$here/init" "$here/stage2" "$here/runner" "$root/" || return
	gcc -static -Os -Wall -Wextra -Werror -o "$root/guest-exit" "$here/guest-exit.c" || return
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$2/initrd" || return
	rm -rf "$root"
}
