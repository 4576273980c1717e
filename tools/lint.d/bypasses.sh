# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The bypass catalogue names a test in each row, and each test that it names exists.

# bypass_tests: the names of all tests, one a line.
bypass_tests() {
	local -a files
	mapfile -t files < <(lint_files bypasses kernel-tests/cases.def kernel-tests/uring.def 'kernel-tests/*.sh' \
		'kernel-tests/*.c' 'bpf/tests/*.c' 'userspace/tests/*.c')
	((${#files[@]})) || return 0
	sed -nE -e 's/^(ALLOW|DENY|SILENT)\([a-z_]+, "([a-z0-9_-]+)",.*/\2/p' \
		-e 's/^verdict ([a-z0-9-]+) .*/\1/p' \
		-e 's/.*\{"([a-z0-9-]+)", [a-z0-9_]+\}.*/\1/p' \
		-e 's/.*(cmocka_unit_test|TEST|WITH_AGENT|IN_PLACE)\(([a-z0-9_]+)\).*/\2/p' -- "${files[@]}"
}

check_bypasses() {
	local number line name names tests catalogue=kernel-tests/bypasses.md
	[[ -f $catalogue ]] || return 0
	tests=$(bypass_tests)
	while IFS=: read -r number line; do
		names=$(grep -oE $'\x60[a-z0-9_-]+\x60' <<<"${line##*| }" | tr -d '\140') || {
			lint_found "$catalogue" "$number" 'names no test; a row without one is not closed'
			continue
		}
		for name in $names; do
			grep -qxF -- "$name" <<<"$tests" ||
				lint_found "$catalogue" "$number" "no test is called $name; name one that is there"
		done
	done < <(grep -nE '^\| [0-9]+ \|' "$catalogue" || [[ $? == 1 ]])
}
