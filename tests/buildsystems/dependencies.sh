#!/bin/sh
# dependencies.sh SOURCE-DIR - scripts/demo.sh and scripts/check.sh configure one folder, one after the other, and the second installs
# what the first did without. A copy of the tree is configured with the JDK out of sight, then again with it: the first build has to
# name what it leaves out, the second has to build it. Exit status 77: there is no JDK here.
set -eu
source=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS DESTDIR MAKEFLAGS
grep -q 'agent for Java' "$source/build/left-out.txt" 2>/dev/null && { echo "no JDK, or no ASM, is installed"; exit 77; }
command -v javac >/dev/null || { echo "no JDK is installed"; exit 77; }

mkdir "$place/tree" "$place/bin"
tar -C "$source" --exclude=./.git --exclude='./build*' -cf - . | tar -C "$place/tree" -xf -
cd "$place/tree"

# A folder of PATH with all commands but the JDK's: the same to find_program() as a machine without one.
(
	IFS=:
	for folder in $PATH; do
		for file in "$folder"/*; do
			name=${file##*/}
			[ "$name" = javac ] || [ ! -x "$file" ] || [ -e "$place/bin/$name" ] || ln -s "$file" "$place/bin/$name"
		done
	done
)

java_targets() { ninja -C build -t targets all | grep -c -e '^src/jvm/libwaymark-jvm\.so:' -e '^src/jvm/waymark-jvm\.jar:' || true; }

PATH=$place/bin scripts/configure.sh build
grep 'agent for Java programs.*JDK' build/left-out.txt || { echo "without a JDK nothing is said to be left out"; exit 1; }
[ "$(java_targets)" = 0 ] || { echo "the JDK was not out of sight"; exit 1; }

scripts/configure.sh build
if grep 'agent for Java' build/left-out.txt; then
	echo "a JDK that has been installed since is not noticed"
	exit 1
fi
[ "$(java_targets)" = 2 ] || { echo "the agent for Java programs is not built once the JDK is there"; exit 1; }
