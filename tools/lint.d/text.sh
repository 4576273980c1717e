# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Checks on lines of text.

# One grep over all files, not a few processes for each.
check_spdx() {
	local -a files
	mapfile -t files < <(lint_files spdx ':!*.json') # JSON has no comments
	{
		printf '%s\n' "${files[@]}"
		grep -nHm1 'SPDX-License-Identifier: ' -- "${files[@]}" || [[ $? == 1 ]]
	} | awk '
		!/:[0-9]+:/ { order[NR] = $0; next }
		{
			split($0, part, ":")
			name = $0
			sub(/.*SPDX-License-Identifier: */, "", name)
			sub(/ *(\*\/|-->).*$/, "", name)
			if (part[2] <= 5)
				licence[part[1]] = name
		}
		END {
			for (i = 1; i in order; i++) {
				file = order[i]
				want = "BSD-2-Clause"
				if (file ~ /^bpf\/.*\.(c|h|def)$/)
					want = "GPL-2.0-only OR BSD-2-Clause"
				if (licence[file] != want)
					print file ":1: licence is \"" licence[file] \
						"\"; its first lines must say SPDX-License-Identifier: " want
			}
		}'
}

check_whitespace() {
	local file
	local -a files
	mapfile -t files < <(lint_files whitespace)
	lint_grep whitespace '[[:blank:]]$' 'blanks at the end of the line; remove them' "${files[@]}"
	lint_grep whitespace $'\r' 'carriage return; end lines in a newline alone' "${files[@]}"
	# With -z the whole of a text is one record.
	{ grep -LzP '(\n|^)\z' -- "${files[@]}" || [[ $? == 1 ]]; } | while read -r file; do
		[[ ! -s $file ]] || lint_found "$file" "$(wc -l <"$file")" 'no newline at the end; add one'
	done
}

# Hosts are written with escaped dots and classes so that this file does not find itself.
lint_registries='(deb|security|snapshot|ftp)\.debian\.org|registry\.npmjs\.org|(files|test)\.pythonhosted\.org|pypi\.org|proxy\.golang\.org|(index|static)\.crates\.io'

# lint_machine_hosts prints the hosts that this machine's package tools are set to, as a pattern.
lint_machine_hosts() {
	local status=0 hosts
	hosts=$(grep -rhoE 'https?://[^/[:blank:]]+' /etc/apt/sources.list /etc/apt/sources.list.d 2>&1) || status=$?
	((status < 3)) || exit 1
	sed -nE 's#^https?://([A-Za-z0-9.:-]+)$#\1#p' <<<"$hosts" | sed 's/\./\\./g' | sort -u | paste -sd'|'
}

# lint_machine_paths prints the absolute paths of this repository's working trees, where there are
# several, and of where it was cloned from. A single clone may lie at any path, also at one that a
# test or an example names. Paths of one component ("/src") say nothing about a machine.
lint_machine_paths() {
	{
		git worktree list --porcelain | sed -n 's/^worktree //p' |
			awk '{ path[NR] = $0 } END { for (i = 1; NR > 1 && i <= NR; i++) print path[i] }'
		# 1: there is no remote.
		{ git config --get-regexp '^remote\..*\.url$' || [[ $? == 1 ]]; } | sed 's/^[^ ]* //'
	} | sed -n 's/[].[*^$\\+?(){}|]/\\&/g; /^\/[^/]*\/./p' | sort -u | paste -sd'|'
}

check_leaks() {
	local pattern part
	local -a files
	mapfile -t files < <(lint_files leaks)
	pattern=$lint_registries
	part=$(lint_machine_hosts)
	[[ -z $part ]] || pattern+="|//($part)([/:[:blank:]]|$)"
	lint_grep leaks "$pattern" 'a registry host; take it from the machine instead' "${files[@]}"
	part=$(lint_machine_paths)
	[[ -z $part ]] ||
		lint_grep leaks "($part)(/|[[:blank:]\"',;:)]|$)" 'a path of this machine; make it relative' "${files[@]}"
}

check_swallowed() {
	local -a files scripts
	mapfile -t files < <(lint_files swallowed '*CMakeLists.txt' '*.cmake' '*.yml' '*.yaml' && lint_scripts swallowed)
	lint_grep swallowed '\|\| *(true|:)([[:blank:];)}]|$)' 'a failure is swallowed; name the one that may happen' "${files[@]}"
	lint_grep swallowed '^[[:blank:]]*set \+e|exit[ ]77|SKIP_RETURN[_]CODE' 'a failure is swallowed; let it fail' "${files[@]}"
	mapfile -t scripts < <(lint_scripts swallowed)
	lint_grep swallowed '^[[:blank:]]*![[:blank:]]' 'never fails under set -e; use if, or a function that denies' "${scripts[@]}"
}

check_sleeps() {
	local -a sources scripts
	mapfile -t sources < <(lint_files sleeps 'kernel-tests/*.c' 'kernel-tests/*.h' 'userspace/*test*.c' 'userspace/*test*.h')
	lint_grep sleeps '\<(u|nano|clock_nano)?sleep[[:blank:]]*\(' 'waits by the clock; wait for the event itself' "${sources[@]}"
	mapfile -t scripts < <(lint_scripts sleeps | grep -E '(^|/)(kernel-tests|tests?)/' || [[ $? == 1 ]])
	lint_grep sleeps '(^|[;&|(]|\<do|\<then)[[:blank:]]*sleep[[:blank:]]' 'waits by the clock; wait for the event itself' "${scripts[@]}"
}
