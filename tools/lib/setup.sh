# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Setting up a Debian 12 machine. Needs common.sh and packages.sh.

# iso_absent SECTION… prints the packages of these sections that are not installed.
iso_absent() {
	local package
	iso_packages "$@" | while read -r package; do
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
	done
}

# iso_install SECTION… installs what is missing of these sections of tools/packages.txt.
iso_install() {
	local -a absent
	local list
	list=$(iso_absent "$@") || return
	[[ -n $list ]] || return 0
	mapfile -t absent <<<"$list"
	if [[ $EUID != 0 ]]; then
		iso_say "packages are missing; as root: apt-get install ${absent[*]}"
		return 1
	fi
	iso_say "installing ${#absent[@]} packages: ${absent[*]}"
	apt-get -q update || return
	DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${absent[@]}" || return
}
