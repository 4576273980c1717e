# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Checks on which files there are and on commits.

check_tracked() {
	local file
	local -a files
	mapfile -t files < <(lint_files tracked)
	# What has no line at all, by the rules of text, is empty or binary.
	{ grep -LI '' -- "${files[@]}" || [[ $? == 1 ]]; } | while read -r file; do
		[[ ! -s $file ]] ||
			lint_found "$file" 1 'is binary; make it at build time, or give a reason in allow.txt'
	done
	printf '%s\n' "${files[@]}" | while read -r file; do
		[[ $file =~ ^[A-Za-z0-9._/@+-]+$ ]] ||
			lint_found "$file" 1 'name has other characters than A-Za-z0-9._/@+-; rename it'
		case $file in
		*.skel.h | *.o | *.a | *.so | *.gcda | *.gcno | *.pyc | *.deb | *.img | *.rej | *.orig | \
			*vmlinux*.h | *compile_commands.json | build/* | generated/*)
			lint_found "$file" 1 'looks generated; make it at build time, do not track it'
			;;
		esac
	done
}

check_allowed() {
	local number line glob reason files
	local rows=tools/lint.d/allow.txt
	[[ -f $rows ]] || return 0
	files=$(lint_files none)
	while IFS=: read -r number line; do
		read -r _ glob reason <<<"${line%%#*}"
		[[ $(wc -w <<<"$reason") -ge 3 ]] ||
			lint_found "$rows" "$number" "no reason for $glob; say why in a few words"
		lint_glob_used "$glob" "$files" ||
			lint_found "$rows" "$number" "$glob matches no file any more; remove the row"
	done < <(grep -nE '^[[:blank:]]*[^#[:blank:]]' "$rows" || [[ $? == 1 ]])
}

lint_glob_used() {
	local glob=$1 file
	while read -r file; do
		# shellcheck disable=SC2053 # the row is a pattern
		[[ $file != $glob ]] || return 0
	done <<<"$2"
	return 1
}

# Once a commit is on main nobody can mend its subject, so only what is not there yet is judged.
check_commits() {
	local hash subject
	git rev-parse --verify --quiet main >/dev/null || return 0
	while read -r hash subject; do
		[[ -n $hash ]] || continue
		[[ $subject =~ ^[a-z0-9][a-z0-9/.,\ _-]*:\ [^\ ] && ${#subject} -le 72 ]] ||
			lint_found "${hash:0:10}" 1 "\"$subject\"; write \"area: what\", 72 characters at most"
	done < <(git log --no-merges --format='%H %s' main..HEAD)
}
