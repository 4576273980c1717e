# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The real input of the shipped jobs: the zlib source package of Debian 12, as
# a git repository. Needs common.sh and debian.sh.

# iso_fetch_zlib DESTDIR unpacks it into DESTDIR, which must not exist, with one
# commit that is the same everywhere. Downloaded once, then from the cache.
iso_fetch_zlib() {
	local dest=$1 entry dsc
	[[ ! -e $dest ]] || {
		iso_say "$dest exists already"
		return 1
	}
	entry=source-zlib-$(iso_hash "$ISO_TOP"/tools/lib/{debian,real-input}.sh </dev/null)
	iso_build "$entry" iso_zlib_download || return
	dsc=$(echo "$ISO_CACHE/$entry"/*.dsc)
	# dpkg-source checks the tarballs against the .dsc, apt has checked that.
	dpkg-source --no-check --no-copy -x "$dsc" "$dest" >/dev/null || return
	rm -rf "$dest/.pc" || return
	iso_zlib_commit "$dest" "$(basename "$dsc" .dsc)"
}

iso_zlib_download() {
	iso_deb_locked bookworm iso_zlib_download_locked "$1"
}

iso_zlib_download_locked() {
	iso_deb_open bookworm || return
	iso_say "downloading the zlib source package"
	(cd "$1" && iso_deb_apt bookworm apt-get -qq source --download-only zlib/bookworm >&2)
}

iso_zlib_commit() (
	cd "$1" || exit
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	export GIT_AUTHOR_NAME=isoctl GIT_AUTHOR_EMAIL=isoctl@localhost
	export GIT_COMMITTER_NAME=isoctl GIT_COMMITTER_EMAIL=isoctl@localhost
	export GIT_AUTHOR_DATE='2000-01-01T00:00:00Z' GIT_COMMITTER_DATE='2000-01-01T00:00:00Z'
	git init -q -b main &&
		git -c core.autocrlf=false add -Af &&
		git commit -q -m "zlib source package $2"
)
