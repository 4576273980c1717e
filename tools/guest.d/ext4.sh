# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause

# iso_ext4 DIR IMAGE makes an image that is read only ever after: no journal, no
# room to spare.
iso_ext4() {
	local blocks inodes
	blocks=$(du -s --block-size=4k "$1" | cut -f1) &&
		inodes=$(find "$1" | wc -l) || return
	iso_as_root mke2fs -q -t ext4 -b 4096 -O ^has_journal,^resize_inode -m 0 -N $((inodes + 64)) \
		-E root_owner=0:0,lazy_itable_init=0 -d "$1" "$2" $((blocks + blocks / 16 + inodes / 8 + 1024)) >/dev/null
}
