# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What goes into a guest besides its root image: the trees, as raw tar disks,
# and the control disk.

# iso_job_payload BUILD-DIR FILE makes the tar of the source tree and of the
# build directory (empty: none), each where it is relative to the source tree; a
# build directory elsewhere becomes build/release. Prints the build directory's
# path in the guest.
iso_job_payload() {
	local build=$1 file=$2 place=build/release
	(
		cd "$ISO_TOP" || exit
		if git rev-parse --git-dir >/dev/null 2>&1; then
			# New files too, so that a test can be tried before it is committed.
			git ls-files -z -co --exclude-standard
		else
			find . \( -path './build*' -o -name .git \) -prune -o -type f -print0
		fi | iso_job_existing | tar -c --null --owner=0 --group=0 --numeric-owner -T - -f "$file"
	) || return
	if [[ -n $build ]]; then
		build=$(cd "$build" && pwd) || return
		if [[ $build == "$ISO_TOP"/?* ]]; then
			place=${build#"$ISO_TOP"/}
		fi
		# The programs and what they load; not what they were linked from.
		tar -r --owner=0 --group=0 --numeric-owner -f "$file" -C "$build" \
			--exclude='*.o.d' --exclude='*.a' --exclude=CMakeFiles --exclude=.ninja_deps \
			--exclude=.ninja_log --exclude=.git --transform="flags=r;s,^\\.,$place," . || return
	fi
	echo "/isoctl/$place"
}

# Drops names whose file is gone (deleted, not committed yet).
iso_job_existing() {
	local name
	while IFS= read -r -d '' name; do
		if [[ -e $name || -L $name ]]; then
			printf '%s\0' "$name"
		fi
	done
}

# iso_job_share DIR FILE
iso_job_share() {
	tar -c --owner=0 --group=0 --numeric-owner -C "$1" -f "$2" .
}

# iso_job_control FILE NONCE SYSTEMD ENVIRONMENT-ARRAY COMMAND… makes the control
# disk, laid out as tools/guest.d/stage2 says.
iso_job_control() {
	local file=$1 nonce=$2 systemd=$3 dir
	local -n iso_job_environment=$4
	shift 4
	dir=$(mktemp -d "$file.XXXXXX") || return
	printf '%s\0' "$@" >"$dir/argv"
	: >"$dir/environment"
	if ((${#iso_job_environment[@]})); then
		printf '%s\0' "${iso_job_environment[@]}" >"$dir/environment"
	fi
	printf 'systemd=%s\n' "$systemd" >"$dir/settings"
	{
		printf '%-511s\n' "$nonce"
		# Preset to failure: only the guest's runner writes a result here.
		printf '%-511s\n' "isoctl-guest-result pending"
		head -c 3072 /dev/zero
		tar -c --owner=0 --group=0 -C "$dir" argv environment settings
	} >"$file" || return
	rm -rf "$dir"
}

# iso_job_result FILE NONCE sets guest_status and guest_kept from the record;
# fails unless the guest with this nonce wrote it.
iso_job_result() {
	local word nonce status kept
	read -r word nonce status kept < <(tail -c +513 "$1" | head -c 512 | tr -d '\0')
	[[ $word == isoctl-guest-result && $nonce == "$2" && $status =~ ^[0-9]{1,3}$ && $status -le 255 &&
		$kept =~ ^(none|yes|failed)$ ]] || return 1
	# shellcheck disable=SC2034 # for the caller
	guest_status=$status guest_kept=$kept
}
