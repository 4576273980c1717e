# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# iso_packages SECTION… prints the packages of those sections of
# tools/packages.txt, one a line, each once. An unknown section is an error: a
# misspelt one would otherwise install nothing and fail much later.

iso_packages() {
	local file section
	file=$(dirname "${BASH_SOURCE[0]}")/../packages.txt
	for section in "$@"; do
		grep -qxF "[$section]" "$file" || {
			echo "tools/packages.txt has no section [$section]" >&2
			return 1
		}
	done
	awk -v want=" $* " '
		/^#/ || NF == 0 { next }
		/^\[.*\]$/ { on = index(want, " " substr($0, 2, length($0) - 2) " "); next }
		on && !seen[$1]++ { print $1 }
	' "$file"
}
