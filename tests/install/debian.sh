#!/bin/bash
# debian.sh SOURCE-DIR [PACKAGE.deb] - builds the Debian package of a clean tree (or takes PACKAGE.deb), asks lintian, and installs it into a file
# system of its own above this one, where debian/tests use it and it is removed again. For root; some minutes of building. By hand:
#
#   apt-get install debhelper lintian && tests/install/debian.sh .
#
# What is installed there is gone at the end. Nothing of this machine's own changes.
set -euo pipefail
source=$(realpath "$1") package=${2:+$(realpath "$2")}
dir=$(mktemp -d)

fail() {
	echo "debian: $*" >&2
	exit 1
}

[ "$(id -u)" = 0 ] || fail "root is needed for a file system of its own"
for tool in dh lintian dpkg-buildpackage; do
	command -v $tool >/dev/null || fail "$tool is not there: apt-get install debhelper lintian dpkg-dev"
done
trap 'rm -rf "$dir"' EXIT

if [ -z "$package" ]; then
	mkdir "$dir/build"
	git -C "$source" archive --prefix=waymark/ HEAD | tar -x -C "$dir/build"
	(cd "$dir/build/waymark" && dpkg-buildpackage -us -uc -b) >"$dir/log" 2>&1 || { tail -50 "$dir/log" >&2; fail "dpkg-buildpackage"; }
	package=$(echo "$dir"/build/waymark_*.deb)
	lintian --allow-root --fail-on error,warning "$dir"/build/*.changes || fail "lintian"
fi

# An overlay of this machine's files, in a mount namespace that ends with the command.
mkdir "$dir/layer"
cat >"$dir/inside" <<'END'
set -eu
dir=$1 source=$2 package=$3
mount -t tmpfs tmpfs "$dir/layer"
mkdir "$dir/layer/upper" "$dir/layer/work" "$dir/layer/root"
mount -t overlay -o lowerdir=/,upperdir="$dir/layer/upper",workdir="$dir/layer/work" overlay "$dir/layer/root"
root=$dir/layer/root
for place in proc sys dev; do
	mount --rbind /$place "$root/$place"
done
mkdir -p "$root/tmp/waymark-package/source"
cp "$package" "$root/tmp/waymark-package/waymark.deb"
cp -r "$source/debian" "$root/tmp/waymark-package/source/"
mkdir -p "$root/tmp/waymark-package/source/tests/install"
cp "$source/tests/install/hello.c" "$root/tmp/waymark-package/source/tests/install/"
cat >"$root/tmp/waymark-package/use" <<'USE'
set -eu
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_AGENT WAYMARK_JVM LD_LIBRARY_PATH
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd /tmp/waymark-package/source
dpkg -i ../waymark.deb
dpkg -L waymark | sed -n 's|^/usr/bin/|installed: |p'
for test in record build; do
	export AUTOPKGTEST_TMP=/tmp/waymark-package/$test
	mkdir "$AUTOPKGTEST_TMP"
	sh debian/tests/$test || { echo "debian/tests/$test failed"; exit 1; }
done
man -w waymark waymark-c++
dpkg -r waymark
[ ! -e /usr/bin/waymark ] && [ ! -e /usr/lib/x86_64-linux-gnu/waymark ] || { echo "files are left behind"; exit 1; }
USE
chroot "$root" sh /tmp/waymark-package/use
END
unshare --mount --propagation private bash "$dir/inside" "$dir" "$source" "$package" || fail "the package does not install, work or go away"
echo "debian: the package was built, installed, used and removed"
