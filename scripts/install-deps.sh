#!/bin/sh
# install-deps.sh [build|check|demo|bench|bench-jvm]... - installs what is missing of scripts/packages.txt from Debian's packages.
#
# Without an argument: what a build needs. Quiet when nothing is missing, and then needs neither root nor network.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
wanted=" build $* "

# Lines without a second word are for everybody.
packages=$(sed -e 's/#.*//' "$here/packages.txt" | while read -r name uses; do
	[ -n "$name" ] || continue
	for use in ${uses:-build}; do
		case $wanted in *" $use "*) echo "$name"; break ;; esac
	done
done)

if ! command -v dpkg-query >/dev/null; then
	echo "install-deps: not a Debian system; make sure these are there: $(echo $packages)" >&2
	exit 0
fi

missing=
for name in $packages; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) || status=
	[ "$status" = installed ] || missing="$missing $name"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null; then
	as_root=sudo
else
	echo "install-deps: missing packages:$missing" >&2
	echo "install-deps: run as root: apt-get install$missing" >&2
	exit 1
fi

echo "Installing from Debian:$missing"
install() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends $missing </dev/null >/dev/null
}
# The lists may be empty on a fresh machine, or older than the archive: refresh them when the first try fails.
if ! apt-cache show $missing >/dev/null 2>&1 || ! install 2>/dev/null; then
	echo "Refreshing the package lists"
	$as_root apt-get -qq update </dev/null
	if ! install; then
		echo "install-deps: apt-get could not install:$missing" >&2
		exit 1
	fi
fi
