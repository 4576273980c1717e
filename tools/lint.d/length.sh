# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Checks on size.

lint_max_lines=500
lint_max_function=80

check_lines() {
	local file n
	lint_files lines | while read -r file; do
		n=$(wc -l <"$file")
		((n <= lint_max_lines)) ||
			lint_found "$file" "$n" "has $n lines; split it where it has two reasons to change (limit $lint_max_lines)"
	done
}

# check_format keeps a C function's braces in the first column, and scripts here are written so too.
check_functions() {
	local -a files
	mapfile -t files < <(lint_files functions '*.c' '*.h' && lint_scripts functions)
	((${#files[@]} > 0)) || return 0
	awk -v max="$lint_max_function" '
		FNR == 1 { open = 0 }
		/^\{$/ || /^[A-Za-z0-9_-]+\(\) [({]$/ {
			open = FNR
			name = /\(\)/ ? $0 : before
		}
		/^[})]$/ && open {
			n = FNR - open - 1
			sub(/\(.*/, "", name)
			sub(/^.*[ *]/, "", name)
			if (n > max)
				print FILENAME ":" open ": " name " has " n " lines; split it (limit " max ")"
			open = 0
		}
		/^[A-Za-z]/ { before = $0 }' "${files[@]}"
}
