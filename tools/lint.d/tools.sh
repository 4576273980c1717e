# shellcheck shell=bash disable=SC2154 # lint_here and lint_build are tools/lint's
# SPDX-License-Identifier: BSD-2-Clause
#
# Checks that other programs do. Their versions are those of Debian 12: another one formats and
# warns differently.

check_format() {
	local tool=clang-format-14
	local -a files
	lint_need "$tool" clang-format
	mapfile -t files < <(lint_files format 'bpf/*.[ch]' 'userspace/*.[ch]' 'kernel-tests/*.[ch]' 'man/*.[ch]')
	((${#files[@]} > 0)) || return 0
	local output status=0
	output=$("$tool" --style=file --fallback-style=none --dry-run -Werror "${files[@]}" 2>&1) || status=$?
	[[ $status != 0 ]] || return 0
	# Without a line of its own form the tool itself has failed: show what it said.
	{ grep -E '^[^ :]+:[0-9]+:[0-9]+: error: ' <<<"$output" || echo "$tool:1:0: $output"; } |
		sort -t: -k1,1 -u | sed -E "s/^([^:]+:[0-9]+):.*clang-formatted.*/\1: is not formatted; run $tool -i on it/"
}

check_shellcheck() {
	local -a files
	lint_need shellcheck shellcheck
	mapfile -t files < <(lint_scripts shellcheck)
	((${#files[@]} > 0)) || return 0
	shellcheck --format=gcc --severity=style "${files[@]}" | sed -E 's/^([^:]+:[0-9]+):[0-9]+: /\1: /'
}

# One clang-tidy process per file that changed since it was last found clean (lint.d/tidy.py).
check_tidy() {
	lint_need clang-tidy-14 clang-tidy
	lint_need python3 python3
	[[ -f $lint_build/compile_commands.json ]] || {
		echo "tools/lint: $lint_build/compile_commands.json is missing; run cmake --preset dev && cmake --build --preset dev"
		exit 1
	}
	lint_files tidy 'userspace/*.c' 'kernel-tests/*.c' 'man/*.c' ':!*.bpf.c' | python3 "$lint_here/tidy.py" "$lint_build"
}

# The pages that are built from man/, and those that lie there as they are. Whether a page that
# another one names is installed says nothing about the page.
check_manual() {
	local -a pages
	lint_need mandoc mandoc
	mapfile -t pages < <(find "$lint_build/generated" -name '*.[1-8]' && lint_files manual 'man/*.[1-8]')
	if ((${#pages[@]} == 0)); then
		echo "tools/lint: $lint_build/generated has no manual page; build first"
		exit 1
	fi
	mandoc -T lint -W style "${pages[@]}" | sed -E 's/^mandoc: ([^:]+:[0-9]+):[0-9]+: /\1: /' |
		grep -v 'referenced manual not found' || [[ $? == 1 ]]
	[[ ! -f $lint_build/generated/isoctl.bash ]] || shellcheck --format=gcc "$lint_build/generated/isoctl.bash"
}
