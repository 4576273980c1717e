# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the checks share: which files there are, what is allowed, how a finding is printed.

# lint_found FILE LINE TEXT: one finding.
lint_found() {
	printf '%s:%s: %s\n' "$1" "$2" "$3"
}

# lint_need TOOL PACKAGE: a check whose tool is missing has found something.
lint_need() {
	command -v "$1" >/dev/null || {
		echo "tools/lint: $1 is missing; install it: apt-get install $2"
		exit 1
	}
}

# lint_allow_rows prints "CHECK GLOB REASON…" without comments.
lint_allow_rows() {
	local rows=tools/lint.d/allow.txt
	[[ ! -f $rows ]] || sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$rows"
}

# lint_files CHECK [PATHSPEC…] prints the tree's own files, one a line: tracked, or new and not
# ignored; without those that allow.txt takes out of CHECK.
lint_files() {
	local check=$1 file glob allowed
	local -a globs=()
	shift
	while read -r _ glob _; do
		globs+=("$glob")
	done < <(lint_allow_rows | awk -v check="$check" '$1 == check')
	git ls-files --cached --others --exclude-standard --deduplicate -- "$@" | while read -r file; do
		[[ -f $file && ! -L $file ]] || continue
		allowed=
		for glob in "${globs[@]}"; do
			# shellcheck disable=SC2053 # the row is a pattern
			[[ $file != $glob ]] || allowed=1
		done
		[[ -n $allowed ]] || echo "$file"
	done
}

# lint_scripts CHECK: the shell scripts among them, by name or first line.
lint_scripts() {
	local file first
	lint_files "$1" | while read -r file; do
		case $file in
		*.sh | *.bash) echo "$file" && continue ;;
		*.*) [[ $file == .ci/* ]] || continue ;;
		esac
		IFS= read -r first <"$file" || continue
		case $first in
		'#!'*bash* | '#!'*/sh* | '# shellcheck shell='*) echo "$file" ;;
		esac
	done 2>/dev/null
}

# lint_grep CHECK PATTERN ADVICE FILE…: each line that matches (extended expression) is a finding,
# unless the line says lint-allow(CHECK).
lint_grep() {
	local check=$1 pattern=$2 advice=$3 status=0 hits
	shift 3
	(($# > 0)) || return 0
	hits=$(grep -nHIE -e "$pattern" -- "$@") || status=$?
	((status < 2)) || exit 1
	[[ -n $hits ]] || return 0
	awk -v mark="lint-allow($check):" -v advice="$advice" '
		index($0, mark) { next }
		match($0, /^[^:]*:[0-9]+:/) {
			text = substr($0, RLENGTH + 1)
			gsub(/^[ \t]+/, "", text)
			print substr($0, 1, RLENGTH) " " substr(text, 1, 60) " -- " advice
		}' <<<"$hits"
}
