#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The verbs about manifests as a user calls them: what they print, and their exit status.
#
# usage: manifest_cli.sh ISOCTL SOURCE
set -eu

isoctl=$1
seeds=$2/userspace/tests/manifest
policies=$2/policies
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS PATTERN ARGUMENT...: the program's status, and a line of what it prints
expect() {
	want=$1
	pattern=$2
	shift 2
	status=0
	"$isoctl" "$@" >"$work/out" 2>&1 </dev/null || status=$?
	if [ "$status" -ne "$want" ]; then
		echo "isoctl $*: status $status, not $want"
		cat "$work/out"
		exit 1
	fi
	if ! grep -q -e "$pattern" "$work/out"; then
		echo "isoctl $*: no line with: $pattern"
		cat "$work/out"
		exit 1
	fi
}

expect 0 'manifest render' --help
expect 0 '^isoctl [0-9]' --version
expect 2 'usage: isoctl VERB'
expect 2 'did you mean "validate"' valdate
expect 2 'Try: isoctl --help' valdate
expect 2 'Try: isoctl manifest --help' manifest shwo
expect 2 'Try: isoctl guard --help' guard relase
expect 2 'did you mean "manifest diff"' manifest dif
expect 2 'manifest schema' manifest
expect 0 'FILE:LINE:COLUMN' validate --help
expect 0 'usage: isoctl manifest new' help manifest new

expect 2 'name the manifest' validate
expect 2 'Try: isoctl validate --help' validate --jsn x
expect 1 'cannot read' validate "$work/none"
expect 1 ':1:1: /inference: this domain' validate "$seeds/unknown-key.json" "$seeds/domain-missing.json"
expect 1 '"code":"missing"' validate --json "$seeds/missing.json"
expect 1 '^-:1:1: /: not JSON' validate -
head -c 1048577 /dev/zero >"$work/large"
expect 1 'larger than 1 MiB' validate "$work/large"
expect 1 'host-absent' validate --host --json "$seeds/valid.json"

expect 2 'say which profile' manifest new
expect 2 'a word too many' manifest new --profile build x
expect 1 'not enforced' manifest new --profile plan
expect 1 'cannot look at' manifest new --profile build --from-repo "$work/none"
mkdir "$work/project"
"$isoctl" manifest new --profile build --from-repo "$work/project" >"$work/new.json"
"$isoctl" validate "$work/new.json"
expect 0 "is a copy of .*project" manifest show "$work/new.json"
expect 0 '"execute"' manifest show --json "$work/new.json"
expect 2 'name one manifest' manifest show
expect 1 'is missing' manifest show "$seeds/missing.json"

"$isoctl" manifest render "$policies/build-c.json" \
	--set "/filesystem/inputs/0/source=$work/project" --set /process/limits/cpus=1 >"$work/a.json"
"$isoctl" validate "$work/a.json"
expect 1 'is a home directory' manifest render "$work/a.json" --set /filesystem/inputs/0/source=/root
expect 1 'nothing can be set' manifest render "$work/a.json" --set /task/id/x=1
expect 2 'one manifest to start from' manifest render

expect 3 'wider: /filesystem/inputs/0/source' manifest diff "$policies/build-c.json" "$work/a.json"
expect 3 '"change":"narrower"' manifest diff --json "$policies/build-c.json" "$work/a.json"
"$isoctl" manifest diff "$work/a.json" "$work/a.json"
expect 2 'the old manifest and the new one' manifest diff "$work/a.json"
expect 1 'is missing' manifest diff "$work/a.json" "$seeds/missing.json"
expect 0 'json-schema.org/draft/2020-12' manifest schema
expect 2 'no argument' manifest schema x
