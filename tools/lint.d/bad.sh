# shellcheck shell=bash disable=SC2154 # lint_here is tools/lint's
# SPDX-License-Identifier: BSD-2-Clause
#
# Self-test: each check is run on a small tree without faults, where it must find nothing, and again
# after bad_CHECK has planted faults, where it must find exactly those that `want` names.

self_wanted=()

# want FILE:LINE: the place of a planted fault.
want() {
	self_wanted+=("$1")
}

# plant FILE: standard input becomes the file.
plant() {
	mkdir -p "$(dirname "$1")"
	cat >"$1"
}

self_test() {
	local check failed=0
	for check in "$@"; do
		if self_test_one "$check"; then
			echo "ok      self-test of $check"
		else
			echo "FAILED  self-test of $check"
			failed=$((failed + 1))
		fi
	done
	echo "lint: $# self-tests, $failed failed"
	[[ $failed == 0 ]]
}

self_test_one() (
	check=$1
	dir=$(mktemp -d)
	trap 'rm -rf -- "$dir"' EXIT
	mkdir "$dir/tree"
	cd "$dir/tree" || exit 1
	if ! self_tree || ! self_lint "$check" >"$dir/clean"; then
		echo "$check: found something in clean sources, or could not run:"
		cat "$dir/clean"
		exit 1
	fi
	"bad_$check" || exit 1
	if self_lint "$check" >"$dir/found"; then
		echo "$check: found nothing in a tree with planted faults"
		exit 1
	fi
	printf '%s\n' "${self_wanted[@]}" | sort -u >"$dir/wanted"
	sed -nE 's/^([^: ]+:[0-9]+): .*/\1/p' "$dir/found" | sort -u >"$dir/places"
	diff -u --label wanted --label found "$dir/wanted" "$dir/places"
)

self_lint() {
	bash "$lint_here/../lint" --tree . --build build/dev --one "$1" >"../output" 2>&1 || {
		cat ../output
		return 1
	}
	cat ../output
	[[ ! -s ../output ]]
}

self_git() {
	git -c user.name=lint -c user.email=lint@localhost -c commit.gpgsign=false "$@"
}

# A tree that every check passes.
self_tree() {
	local licence='SPDX-License-Identifier'
	cp "$lint_here/../../.clang-format" "$lint_here/../../.clang-tidy" . &&
		plant userspace/common/a.h <<<"/* $licence: BSD-2-Clause */
int iso_a(int n);" &&
		plant userspace/kernel/b.c <<<"/* $licence: BSD-2-Clause */
#include \"common/a.h\"

int iso_a(int n)
{
	return n + 1;
}" &&
		plant bpf/x.bpf.c <<<"/* $licence: GPL-2.0-only OR BSD-2-Clause */
int x;" &&
		plant tools/t.sh <<<"#!/bin/bash
# $licence: BSD-2-Clause
echo \"\$0\"" &&
		plant tools/lint.d/allow.txt <<<"# $licence: BSD-2-Clause
lines tools/t.sh a reason of several words" &&
		plant .gitignore <<<"# $licence: BSD-2-Clause
/build/" &&
		self_database && self_page &&
		self_git init -q -b main . && self_git add -A &&
		self_git commit -q -m 'tree: something to check' && self_git checkout -q -b work
}

# A page as the build would leave it.
self_page() {
	plant build/dev/generated/t.1 <<'EOT'
.Dd November 30, 2026
.Dt T 1
.Os
.Sh NAME
.Nm t
.Nd a page
.Sh DESCRIPTION
Text.
EOT
}

self_database() {
	plant build/dev/compile_commands.json <<EOT
[{"directory": "$PWD", "file": "$PWD/userspace/kernel/b.c", "output": "b.o",
"command": "cc -I$PWD/userspace -o b.o -c $PWD/userspace/kernel/b.c"}]
EOT
}

bad_format() {
	printf 'int  y;\n' >>userspace/kernel/b.c && want userspace/kernel/b.c:8
}

bad_tidy() {
	cat >>userspace/kernel/b.c <<'EOT' && want userspace/kernel/b.c:13
int iso_b(int *p);
int iso_b(int *p)
{
	if (p)
		return 0;
	return *p;
}
EOT
	plant userspace/kernel/orphan.c <<<'int orphan;' && want userspace/kernel/orphan.c:1
}

bad_shellcheck() {
	# shellcheck disable=SC2016 # meant literally
	printf 'echo $1\n' >>tools/t.sh && want tools/t.sh:4
	# shellcheck disable=SC2016 # meant literally
	printf '#!/bin/bash\nrm $2\n' | plant tools/noname && want tools/noname:2
}

bad_manual() {
	printf 'One. Two.\n' >>build/dev/generated/t.1 && want "$PWD/build/dev/generated/t.1:9"
}

bad_spdx() {
	plant userspace/kernel/c.h <<<'int c;' && want userspace/kernel/c.h:1
	plant bpf/y.bpf.h <<<'/* SPDX-License-Identifier: BSD-2-Clause */' && want bpf/y.bpf.h:1
}

bad_layers() {
	plant userspace/common/c.c <<<'#include "kernel/k.h"' && want userspace/common/c.c:1
	plant userspace/kernel/c.c <<<'#include "../sandbox/k.h"' && want userspace/kernel/c.c:1
	plant userspace/event/c.c <<<'#include "sandbox/k.h"' && want userspace/event/c.c:1
	plant userspace/isod/c.c <<<'#include "isoinit/plan.h"' && want userspace/isod/c.c:1
	plant userspace/sandbox/c.c <<<'#include "isoinit/plan.h"'
	plant userspace/isoctl/c.c <<<'#include "run/r.h"'
	plant bpf/z.h <<<'#include "kernel/k.h"' && want bpf/z.h:1
	plant userspace/newlayer/n.c <<<'int n;' && want userspace/newlayer/n.c:1
}

bad_lines() {
	seq 501 | sed 's/.*/int x&;/' | plant userspace/kernel/c.c && want userspace/kernel/c.c:501
	seq 501 | plant tools/t.sh # allow.txt has a row for it
}

bad_functions() {
	{
		printf 'static int\nlong_one(void)\n{\n'
		seq 81 | sed 's/.*/\tf(&);/'
		printf '}\n\nint short_one(void)\n{\n\treturn 0;\n}\n'
	} | plant userspace/kernel/c.c && want userspace/kernel/c.c:3
	{
		printf '#!/bin/bash\nlong() {\n'
		seq 81 | sed 's/.*/\techo &/'
		printf '}\n'
	} | plant tools/u.sh && want tools/u.sh:2
}

bad_tracked() {
	printf 'a\0b' | plant userspace/kernel/data && want userspace/kernel/data:1
	plant userspace/kernel/k.skel.h <<<'int k;' && want userspace/kernel/k.skel.h:1
	plant 'userspace/kernel/q~.c' <<<'int k;' && want 'userspace/kernel/q~.c:1'
}

bad_whitespace() {
	printf 'one \ntwo\r\n' | plant userspace/kernel/c.c
	want userspace/kernel/c.c:1
	want userspace/kernel/c.c:2
	printf 'one\ntwo' | plant userspace/kernel/d.c && want userspace/kernel/d.c:1
}

bad_leaks() {
	git worktree add -q --detach ../tree2
	printf 'int a; /* %s */\n' "https://deb.debian"".org/x" "$PWD/userspace" "/usr/bin" | plant userspace/kernel/c.c
	want userspace/kernel/c.c:1
	want userspace/kernel/c.c:2
}

bad_swallowed() {
	printf '#!/bin/bash\nfalse |%s\nfalse |%s\nset +%s\n! false\nfalse || trueish\n' '| true' '| :; x' e |
		plant tools/u.sh
	want tools/u.sh:2
	want tools/u.sh:3
	want tools/u.sh:4
	want tools/u.sh:5
}

bad_sleeps() {
	printf 'int f(void)\n{\n\tusleep(5);\n\tsleep(1); /* lint-allow(sleeps): the workload */\n}\n' |
		plant userspace/tests/test_c.c && want userspace/tests/test_c.c:3
	printf '#!/bin/bash\nwhile x; do sleep 1; done\n' | plant tools/tests/u.sh && want tools/tests/u.sh:2
}

bad_bypasses() {
	plant kernel-tests/cases.def <<<'ALLOW(build, "there", "read /x")'
	plant kernel-tests/bypasses.md <<'EOT'
| # | Kind | What refuses it | Tests |
|---|---|---|---|
| 1 | a | b | `there` |
| 2 | a | b | `there` `gone` |
| 3 | a | `there` | none yet |
EOT
	want kernel-tests/bypasses.md:4
	want kernel-tests/bypasses.md:5
}

bad_commits() {
	self_git commit -q --allow-empty -m 'area/two: fine' &&
		self_git commit -q --allow-empty -m 'Did things' && want "$(git rev-parse --short=10 HEAD):1"
}

bad_allowed() {
	printf 'lines gone.c a reason of several words\nlines tools/t.sh why\n' >>tools/lint.d/allow.txt
	want tools/lint.d/allow.txt:3
	want tools/lint.d/allow.txt:4
}
