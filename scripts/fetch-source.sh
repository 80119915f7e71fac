#!/bin/sh
# Fetches the Debian source of one package without touching /etc: a private deb-src list and private apt state, both in
# the cache directory. Prints the directory of the unpacked, patched source. Never builds there: copy it (cp -a).
#
#   scripts/fetch-source.sh lua5.4        -> /home/you/.cache/waymark/src/lua5.4-5.4.4
#
# WAYMARK_SRC_CACHE   where sources are kept (default ${XDG_CACHE_HOME:-~/.cache}/waymark/src)
# WAYMARK_SUITE       the Debian release to take them from (default: this system's, else bookworm)
# WAYMARK_MIRROR      the archive (default: the first one apt on this system uses)
#
# Exit status: 0 fetched or already there, 77 source packages cannot be had here (no network, no apt), 2 wrong usage.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 SOURCE-PACKAGE" >&2; exit 2; }
pkg=$1
cache=${WAYMARK_SRC_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/waymark/src}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

unpacked() { # prints the unpacked directory of the package, fails when there is none
	[ -f "$cache/.$pkg.dir" ] || return 1
	dir=$cache/$(cat "$cache/.$pkg.dir")
	[ -d "$dir" ] && echo "$dir"
}

unpacked && exit 0
say() { echo "fetch-source: $*" >&2; }
for tool in apt-get dpkg-source; do
	command -v $tool >/dev/null || { say "$tool is not installed, so $pkg cannot be fetched"; exit 77; }
done

if [ -z "${WAYMARK_SUITE:-}" ]; then
	WAYMARK_SUITE=$(. /etc/os-release 2>/dev/null; echo "${VERSION_CODENAME:-bookworm}")
fi
if [ -z "${WAYMARK_MIRROR:-}" ]; then
	WAYMARK_MIRROR=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
		sed -n -e 's/^URIs: *\([^ ]*\/debian\)\/* *$/\1/p' -e 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\/debian\)\/* .*/\2/p' |
		head -n 1)
	[ -n "$WAYMARK_MIRROR" ] || { say "apt here uses no Debian archive; name one in WAYMARK_MIRROR"; exit 77; }
fi

apt=$cache/.apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$keyring] $WAYMARK_MIRROR $WAYMARK_SUITE main" >"$apt/sources.list"
# The sandbox user of apt may not be able to reach a private cache directory.
private="-o Dir::Etc::SourceList=$apt/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$apt/lists
	-o Dir::Cache=$apt -o Dir::Cache::archives=$apt/archives -o APT::Sandbox::User=root -o Acquire::Retries=3
	-o Debug::NoLocking=1"

say "fetching $pkg from $WAYMARK_MIRROR ($WAYMARK_SUITE)"
if ! find "$apt/lists" -name '*_source_Sources*' | grep -q .; then
	# shellcheck disable=SC2086 # the options are a list
	apt-get $private -qq update >&2 || { say "no package lists from $WAYMARK_MIRROR"; exit 77; }
fi
work=$(mktemp -d "$cache/.unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
# shellcheck disable=SC2086
fetch() { (cd "$work" && apt-get $private -qq source "$@" "$pkg" >&2); }
if ! fetch; then
	# Some mirrors lack Debian's patches of a package: the authors' release alone will do.
	if ! fetch --tar-only || ! (cd "$work" && tar -xf ./*.orig.tar.*); then
		say "$pkg cannot be fetched from $WAYMARK_MIRROR"
		exit 77
	fi
	say "$pkg: without Debian's patches, which $WAYMARK_MIRROR does not have"
fi
name=$(cd "$work" && find . -mindepth 1 -maxdepth 1 -type d | sed 's,^\./,,' | head -n 1)
[ -n "$name" ] || { say "$pkg: nothing was unpacked"; exit 77; }
[ -d "$cache/$name" ] || mv "$work/$name" "$cache/$name"
echo "$name" >"$cache/.$pkg.dir"
unpacked
