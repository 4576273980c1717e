# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016 # expanded by those who get them
#
# The guests' kernels: Debian's cloud kernels, unpacked into a cache entry of
#   vmlinuz     the kernel
#   modules.img ext4 image of /lib/modules
#   early/      the modules that reach the root image, uncompressed; early/order
#               lists them in the order to insert
#   release     what uname -r says
#   package     name and version of the package

# name, suite, and whether a newer series stands in once the suite has moved on
ISO_KERNELS=(
	"6.1 bookworm exact"
	"6.12 trixie exact"
	"7.2 sid newer"
)
ISO_KERNEL_EARLY=(virtio_pci virtio_blk ext4 overlay)

iso_kernel_names() {
	printf '%s\n' "${ISO_KERNELS[@]}" | cut -d' ' -f1
}

# iso_kernel_row NAME sets suite and mode.
iso_kernel_row() {
	local row
	for row in "${ISO_KERNELS[@]}"; do
		if [[ ${row%% *} == "$1" ]]; then
			read -r _ suite mode <<<"$row"
			return 0
		fi
	done
	return 1
}

iso_kernel_entry() {
	echo "kernel-$1-$(iso_hash "$ISO_TOP"/tools/{lib/debian,guest.d/kernel,guest.d/ext4}.sh <<<"$1")"
}

# iso_kernel NAME sees to the cache entry and prints its directory.
iso_kernel() {
	local entry
	entry=$(iso_kernel_entry "$1")
	iso_build "$entry" iso_kernel_make "$1" || return
	echo "$ISO_CACHE/$entry"
}

iso_kernel_make() {
	local suite mode
	iso_kernel_row "$1" || return
	iso_deb_locked "$suite" iso_kernel_download "$1" "$suite" "$mode" "$2" || return
	iso_kernel_unpack "$2"
}

# iso_kernel_pick NAME MODE reads package names and prints the release to use:
# the newest of the series NAME; with MODE "newer" and none in it, of the lowest
# series above.
iso_kernel_pick() {
	local release series lowest='' best=''
	while read -r release; do
		series=$(grep -oE '^[0-9]+\.[0-9]+' <<<"$release")
		if [[ $series != "$1" ]]; then
			[[ $2 == newer && $(printf '%s\n' "$1" "$series" | sort -V | head -n1) == "$1" ]] || continue
		fi
		if [[ -z $lowest || $series != "$lowest" &&
			$(printf '%s\n' "$lowest" "$series" | sort -V | head -n1) == "$series" ]]; then
			lowest=$series
			best=$release
		elif [[ $series == "$lowest" ]]; then
			best=$(printf '%s\n' "$best" "$release" | sort -V | tail -n1)
		fi
	done < <(sed -nE 's/^linux-(image|binary)-([0-9].*)-cloud-amd64(-unsigned)?$/\2/p' | sort -u)
	[[ -n $best ]] && echo "$best"
}

# iso_kernel_download NAME SUITE MODE DIR
iso_kernel_download() {
	local name=$1 suite=$2 mode=$3 dir=$4 names release p wanted=()
	iso_deb_open "$suite" || return
	names=$(iso_deb_apt "$suite" apt-cache pkgnames linux-) || return
	release=$(iso_kernel_pick "$name" "$mode" <<<"$names") || {
		iso_say "no kernel $name in $suite"
		return 1
	}
	# One package in older series; 7.2 has vmlinuz, modules and their lists apart.
	for p in "linux-image-$release-cloud-amd64-unsigned" "linux-binary-$release-cloud-amd64" \
		"linux-image-$release-cloud-amd64"; do
		if grep -qxF "$p" <<<"$names"; then
			wanted=("$p")
			break
		fi
	done
	for p in "linux-modules-$release-cloud-amd64" "linux-base-$release-cloud-amd64"; do
		if grep -qxF "$p" <<<"$names"; then
			wanted+=("$p")
		fi
	done
	mkdir "$dir/debs" && iso_deb_download "$suite" "$dir/debs" "${wanted[@]}" || return
	dpkg-deb --show --showformat '${Package} ${Version}\n' "$(echo "$dir/debs/${wanted[0]}"_*.deb)" >"$dir/package"
}

# iso_kernel_unpack DIR makes the entry from DIR/debs.
iso_kernel_unpack() {
	local dir=$1 release kind file early vmlinuz
	iso_deb_unpack "$dir"/debs/*.deb "$dir/root" || return
	release=$(ls "$dir/root/usr/lib/modules") || return
	vmlinuz=$(find "$dir/root" -type f -name 'vmlinuz*') || return
	mv "$vmlinuz" "$dir/vmlinuz" && echo "$release" >"$dir/release" || return
	depmod -b "$dir/root" "$release" || return

	mkdir "$dir/early" || return
	early=$(modprobe -d "$dir/root" -S "$release" --show-depends -a "${ISO_KERNEL_EARLY[@]}") || return
	while read -r kind file _; do
		[[ $kind == insmod ]] || continue
		case $file in
		*.xz) xz -dc "$file" >"$dir/early/$(basename "$file" .xz)" ;;
		*) cp "$file" "$dir/early/" ;;
		esac || return
		basename "$file" .xz
	done < <(awk '!seen[$0]++' <<<"$early") >"$dir/early/order" || return

	iso_ext4 "$dir/root/usr/lib/modules" "$dir/modules.img" || return
	rm -rf "$dir/debs" "$dir/root"
}
