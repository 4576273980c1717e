# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016 # expanded by those who get them
#
# The guests' root images: Debian 12, minimal, as an ext4 image that is mounted
# read only. `base` has what tests need to run; `build` can also build isoctl.

ISO_IMAGE_LIBS=(lib/debian.sh lib/packages.sh lib/real-input.sh guest.d/ext4.sh guest.d/image.sh)

iso_image_sections() {
	case $1 in
	base) echo image ;;
	build) echo image build test ;;
	*) return 1 ;;
	esac
}

# iso_image FLAVOUR sees to the cache entry and prints the image's path.
iso_image() {
	local entry packages
	# shellcheck disable=SC2046 # words on purpose
	packages=$(iso_packages $(iso_image_sections "$1")) || return
	entry=image-$1-$(cd "$ISO_TOP/tools" && iso_hash "${ISO_IMAGE_LIBS[@]}" <<<"$packages")
	iso_build "$entry" iso_image_make "$1" "$packages" || return
	echo "$ISO_CACHE/$entry/root.img"
}

# iso_image_make FLAVOUR PACKAGES DIR
iso_image_make() {
	local packages=${2//$'\n'/,} dir=$3
	iso_say "building the root image '$1' (about a minute)"
	iso_deb_sources bookworm | grep '^deb ' >"$dir/sources.list" || return
	iso_deb_reach >"$dir/apt.conf"
	# The mirror's address stays out of the image, with the settings to reach it.
	mmdebstrap --quiet --variant=minbase --format=tar --architectures=amd64 \
		--include="$packages" --aptopt="$dir/apt.conf" --aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
		--customize-hook='rm -rf "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/etc/apt/sources.list*' \
		--customize-hook='rm -rf "$1"/var/lib/apt/lists "$1"/var/cache/apt "$1"/var/log/*' \
		bookworm "$dir/root.tar" "$dir/sources.list" >&2 || return
	iso_fetch_zlib "$dir/zlib" || return
	iso_as_root bash -c "$(declare -f iso_ext4 iso_as_root iso_image_pack)"$'\n''iso_image_pack "$1"' _ "$dir" || return
	rm -rf "$dir/root.tar" "$dir/zlib" "$dir/apt.conf" "$dir/sources.list"
}

# iso_image_pack DIR makes DIR/root.img of DIR/root.tar and DIR/zlib; as root,
# so that the files in it are root's.
iso_image_pack() {
	local root=$1/root
	mkdir "$root" && tar -x --exclude='./dev/*' --numeric-owner -C "$root" -f "$1/root.tar" || return
	mkdir -p "$root/usr/src/isoctl-real" && cp -a "$1/zlib" "$root/usr/src/isoctl-real/zlib" &&
		chown -R 0:0 "$root/usr/src/isoctl-real" || return
	echo guest >"$root/etc/hostname"
	printf '127.0.0.1\tlocalhost guest\n::1\tlocalhost\n' >"$root/etc/hosts"
	# A fixed one: systemd would otherwise take each boot for the first.
	echo 00000000000000000000000000000001 >"$root/etc/machine-id"
	iso_ext4 "$root" "$1/root.img" || return
	rm -rf "$root"
}
