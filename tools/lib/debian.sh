# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016 # apt's own variables
#
# Packages of any Debian suite, from the mirror that this host's apt uses.
#
# The work is apt's own, in a private state directory per suite: it checks the
# suite's InRelease against debian-archive-keyring with gpgv, the index against
# InRelease, and each file against the index. Everything that could weaken this
# is set on the command line, after every configuration file. Of the host's apt
# configuration only how to reach the mirror is kept: a mirror of dated
# snapshots, for one, needs the host's Acquire::Check-Valid-Until.

ISO_DEB_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# iso_deb_archive Debian|Debian-Security prints the URI of that archive.
iso_deb_archive() {
	local uri label
	# The label is known only once apt has the Release file; the URI is always.
	while IFS='|' read -r uri label; do
		case $label:$uri in
		"$1:"*) ;;
		:*security*) [[ $1 == Debian-Security ]] || continue ;;
		:*/debian/) [[ $1 == Debian ]] || continue ;;
		*) continue ;;
		esac
		echo "${uri%/}"
		return 0
	done < <(apt-get indextargets --format '$(REPO_URI)|$(LABEL)' 'Created-By: Packages' | sort -u)
	return 1
}

# iso_deb_sources SUITE prints the sources.list lines of a suite; for a stable
# one with its security updates, where this host has that archive.
iso_deb_sources() {
	local suite=$1 main security
	main=$(iso_deb_archive Debian) || {
		iso_say "apt has no Debian archive configured"
		return 1
	}
	echo "deb [signed-by=$ISO_DEB_KEYRING] $main $suite main"
	echo "deb-src [signed-by=$ISO_DEB_KEYRING] $main $suite main"
	case $suite in
	sid | *-*) ;;
	*)
		if security=$(iso_deb_archive Debian-Security); then
			echo "deb [signed-by=$ISO_DEB_KEYRING] $security $suite-security main"
		fi
		;;
	esac
}

# iso_deb_reach prints the host's settings of how to reach the mirror.
iso_deb_reach() {
	apt-config dump | grep -E '^Acquire::(https?|Check-Valid-Until|Check-Date|Retries|ForceIPv[46])\b'
}

# iso_deb_apt SUITE APT-COMMAND ARG… runs it in the suite's private state.
iso_deb_apt() {
	local state=$ISO_CACHE/apt/$1 command=$2
	shift 2
	APT_CONFIG=$state/apt.conf "$command" \
		-o Acquire::AllowInsecureRepositories=false \
		-o Acquire::AllowWeakRepositories=false \
		-o Acquire::AllowDowngradeToInsecureRepositories=false \
		-o APT::Get::AllowUnauthenticated=false \
		-o APT::Update::Error-Mode=any \
		"$@"
}

# iso_deb_open SUITE fetches and verifies the suite's indexes. Called through
# iso_deb_locked.
iso_deb_open() {
	local suite=$1 state=$ISO_CACHE/apt/$1 sources=false
	mkdir -p "$state"/{lists/partial,cache/archives/partial,none} || return
	iso_deb_sources "$suite" >"$state/sources.list" || return
	: >"$state/status" || return
	# Only the release that the root image has is also a source of sources.
	[[ $suite != bookworm ]] || sources=true
	{
		iso_deb_reach
		cat <<-EOF
			Dir::Etc::main "/dev/null";
			Dir::Etc::parts "$state/none";
			Dir::Etc::sourcelist "$state/sources.list";
			Dir::Etc::sourceparts "$state/none";
			Dir::Etc::preferences "/dev/null";
			Dir::Etc::preferencesparts "$state/none";
			Dir::Etc::trusted "/dev/null";
			Dir::Etc::trustedparts "$state/none";
			Dir::State "$state";
			Dir::State::status "$state/status";
			Dir::Cache "$state/cache";
			APT::Architecture "amd64";
			APT::Architectures { "amd64"; };
			APT::Sandbox::User "";
			Acquire::Languages "none";
			Acquire::IndexTargets::deb-src::Sources::DefaultEnabled "$sources";
		EOF
	} >"$state/apt.conf" || return
	iso_say "fetching the package index of $suite"
	iso_deb_apt "$suite" apt-get -qq update >&2
}

# iso_deb_locked SUITE FUNCTION ARG… calls FUNCTION ARG… while nobody else uses
# the suite's private state.
iso_deb_locked() {
	local suite=$1
	shift
	mkdir -p "$ISO_CACHE/apt" || return
	(
		flock 8 && "$@" 8>&-
	) 8>"$ISO_CACHE/apt/$suite.lock"
}

# iso_deb_download SUITE DIR PACKAGE… puts the .deb files into DIR.
iso_deb_download() {
	local suite=$1 dir=$2
	shift 2
	iso_say "downloading $* ($suite)"
	(cd "$dir" && iso_deb_apt "$suite" apt-get -qq download "$@" >&2)
}

# iso_deb_unpack DEB… DIR unpacks packages, merged into DIR/usr as Debian lays
# out an installed system.
iso_deb_unpack() {
	local dir=${*: -1} deb
	mkdir -p "$dir/usr/lib" "$dir/usr/bin" &&
		ln -sfn usr/lib "$dir/lib" && ln -sfn usr/bin "$dir/bin" || return
	for deb in "${@:1:$#-1}"; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$dir" || return
	done
}
