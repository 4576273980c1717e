#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The main job on real input, and an attack on it: builds a C project sealed, with its own tests,
# then runs hostile.sh under the same manifest, shows both, and checks that the build passed and
# that every attempt was refused and left its event. Needs root, a built isoctl, and a kernel that
# enforces; tools/quickstart and the kernel tests run it, on the host or in a guest.

set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
top=$(cd "$here/../.." && pwd)

bin='' source='' out=''
faults=()

usage() {
	cat <<'EOT'
Usage: tools/demo/job.sh --bin DIR --source DIR --out DIR

  --bin DIR      build directory with isoctl and isod
  --source DIR   a git checkout of a project that ./configure && make && make test builds
  --out DIR      where logs, results and events go; made, must not exist
EOT
}

while (($#)); do
	case $1 in
	--help) usage && exit 0 ;;
	--bin) bin=${2-} ;;
	--source) source=${2-} ;;
	--out) out=${2-} ;;
	*) usage >&2 && exit 2 ;;
	esac
	shift 2
done
[[ -n $bin && -n $source && -n $out ]] || {
	usage >&2
	exit 2
}
isoctl=$(cd "$bin" && pwd)/bin/isoctl
source=$(cd "$source" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
# A key of the host that the task must not find. Its own, so that there is one on every machine.
keys=$(mktemp -d /run/isoctl-demo.XXXXXX)
trap 'rm -rf -- "$keys"' EXIT
trap 'exit 130' INT TERM
key=$keys/host-key

say() {
	printf '\n== %s\n' "$*"
}

# expect TEXT COMMAND…: the command's success is one of the things that are checked.
expect() {
	local text=$1
	shift
	if "$@"; then
		printf '  ok      %s\n' "$text"
	else
		printf '  FAILED  %s\n' "$text"
		faults+=("$text")
	fi
}

# seal NAME COMMAND…: runs it; its output, result document and exit status are NAME.log, .json, .status.
seal() {
	local name=$1 status=0
	shift
	"$isoctl" seal --result "$out/$name.json" "$out/manifest.json" -- "$@" \
		>"$out/$name.log" 2>"$out/$name.err" </dev/null || status=$?
	echo "$status" >"$out/$name.status"
}

status_is() {
	[[ $(cat "$out/$1.status") == "$2" ]]
}

# The digest of everything under the source, with .git: what the task was given only a copy of.
source_digest() {
	(cd "$source" && find . -print0 | sort -z | tar -c --null --no-recursion --mtime=@0 -T - -f - | sha256sum)
}

source_unchanged() {
	[[ $(source_digest) == "$1" && -z $(git -C "$source" status --porcelain) ]]
}

run_id() {
	sed -nE 's/^ *"run": *"([^"]+)".*/\1/p; s/.*[{,]"run":"([^"]+)".*/\1/p' "$out/$1.json" | head -n 1
}

# events NAME: the run's events, as OCSF lines.
events() {
	"$isoctl" events --format ocsf --run "$(run_id "$1")"
}

# one_event KIND OBJECT: did the hostile run leave one event of that kind about that object, a piece
# of its OCSF line?
one_event() {
	[[ $(grep -F "\"kind\":\"$1\"" "$out/hostile.ocsf" | grep -cF -- "$2") == 1 ]]
}

refused() {
	grep -q "^refused $1: " "$out/hostile.log"
}

nothing_left() {
	[[ -z $("$isoctl" ps 2>/dev/null) ]] && ! pgrep -f 'sleep 1000' >/dev/null
}

render() {
	"$isoctl" manifest render "$top/policies/build-c.json" \
		--set "/filesystem/inputs/0/source=$source" \
		--set "/filesystem/assert_absent/-=$key" >"$out/manifest.json"
	"$isoctl" validate --host "$out/manifest.json"
}

build() {
	local before
	say "build: ./configure, make, make test, sealed, without network"
	before=$(source_digest)
	seal build /bin/sh -c './configure && make -j2 && make test'
	tail -n 12 "$out/build.log" | sed 's/^/  | /'
	expect "the build and its own tests passed" status_is build 0
	expect "its source on the host is as it was" source_unchanged "$before"
}

attack() {
	local name kind object before
	say "attack: a hostile script under the same manifest"
	before=$(source_digest)
	# Without its comments: events carry the command line.
	seal hostile /bin/bash -c "$(sed '/^[[:blank:]]*#/d; /^$/d' "$here/hostile.sh")" hostile /work /tmp "$key"
	sed 's/^/  | /' "$out/hostile.log"
	events hostile >"$out/hostile.ocsf"
	say "its events"
	"$isoctl" events --format text --run "$(run_id hostile)" | sed 's/^/  | /'
	say "what was checked"
	expect "the script saw nothing get through" status_is hostile 0
	while read -r name kind object; do
		expect "$name was refused" refused "$name"
		expect "$name left one event ($kind)" one_event "$kind" "$object"
	done <<-EOT
		read-key absent-path "path":"$key"
		write-outside file "path":"/usr/lib/hostile-was-here"
		change-git-hook file "path":"/work/.git/hooks/pre-commit"
		connect-out network "ip":"192.0.2.1"
		execute-from-scratch exec "path":"/tmp/program"
		outlive-the-task survivor "activity_id":2
	EOT
	expect "the source on the host is as it was" source_unchanged "$before"
	expect "nothing of the task is left" nothing_left
}

(umask 077 && head -c 32 /dev/urandom | base64 >"$key")
say "manifest: policies/build-c.json for $source"
render
build
attack
say "the result document"
sed 's/^/  | /' "$out/hostile.json"
if ((${#faults[@]})); then
	say "FAILED: ${#faults[@]} of what was checked does not hold; logs are in $out"
	cat "$out/build.err" "$out/hostile.err" >&2
	exit 1
fi
say "the build passed, and every attempt was refused and reported"
