# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The layer check: userspace/LAYER may include only layers of a lower rank. Layers of one rank do
# not know each other. bpf/ is below them all: only its iso_*.h and .def are for userspace.

lint_ranks='common 0
manifest 1
policy 2
kernel 3
sandbox 4
egress 4
event 4
run 5
result 6
verify 6
guest 6
isoctl 7
isod 7
isoproxy 7
isoinit 7'

# Headers of a program that lower layers may read, as FROM=HEADER: what isoinit and whoever starts
# it say to each other.
lint_shared='sandbox=isoinit/plan.h sandbox=isoinit/protocol.h'

# lint_includes FILE…: "FILE:LINE:HEADER" of each #include "HEADER".
lint_includes() {
	grep -nHE '^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*"' -- "$@" |
		sed -E 's/^([^:]*:[0-9]+:)[^"]*"([^"]*)".*/\1\2/'
}

# The layer of a header as written: "kernel/kernel.h" from anywhere, "../kernel/kernel.h" from a
# layer, "kernel.h" from its own folder.
check_layers() {
	local -a files
	# bpf/tests/ are programs of userspace that test the object.
	mapfile -t files < <(lint_files layers 'userspace/*.c' 'userspace/*.h' 'bpf/*.c' 'bpf/*.h' ':!bpf/tests')
	((${#files[@]} > 0)) || return 0
	lint_unknown_layers "${files[@]}"
	{ lint_includes "${files[@]}" || [[ $? == 1 ]]; } | awk -F: -v ranks="$lint_ranks" -v shared="$lint_shared" '
		BEGIN {
			split(ranks, rows, "\n")
			for (i in rows) { split(rows[i], cell, " "); rank[cell[1]] = cell[2] }
			split(shared, rows, " ")
			for (i in rows) ok[rows[i]] = 1
		}
		{
			n = split($1, path, "/")
			header = $3
			while (sub(/^\.\.\//, "", header)) { }
			target = header
			sub(/\/.*/, "", target)
			if (path[1] == "bpf") {
				if (target in rank)
					print $1 ":" $2 ": bpf/ includes " $3 "; the object knows nothing of userspace"
				next
			}
			from = path[2]
			if (!(from in rank) || !(target in rank) || target == from || header == target)
				next
			if ((from "=" header) in ok)
				next
			if (rank[target] >= rank[from])
				print $1 ":" $2 ": " from " includes " $3 ", which is not below it; " \
					"move what is shared down, or pass it in"
		}'
}

# A folder under userspace/ that has no rank would be checked by nobody.
lint_unknown_layers() {
	local file layer
	for file in "$@"; do
		[[ $file == userspace/*/* ]] || continue
		layer=${file#userspace/}
		layer=${layer%%/*}
		case $layer in tests | fuzz) continue ;; esac
		grep -q "^$layer " <<<"$lint_ranks" ||
			lint_found "$file" 1 "layer $layer has no rank; give it one in tools/lint.d/layers.sh"
	done
}
