#!/bin/sh
# programs.sh TEST_SCAN TEST_STEP SOURCES [all] - builds the programs with gcc and clang, and compares the analysis of each with
# objdump and with where control goes when it is stepped through. all: all combinations of options, which takes minutes.
set -eu
scan=$1
step=$2
sources=$3
all=${4:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

compilers=
for pair in gcc:g++ clang-19:clang++-19; do
	! command -v "${pair%:*}" >/dev/null || ! command -v "${pair#*:}" >/dev/null || compilers="$compilers $pair"
done
[ -n "$compilers" ] || { echo "neither gcc nor clang-19 is there"; exit 77; }
command -v objdump >/dev/null || { echo "objdump is missing"; exit 77; }

# check COMPILER SOURCE OPTION...: one program
check() {
	compiler=$1
	source=$2
	shift 2
	echo "== $compiler $(basename "$source") $*"
	"$compiler" -w "$@" -o "$dir/program" "$source"
	"$scan" -v "$dir/program" >"$dir/out" 2>&1 || { cat "$dir/out"; exit 1; }
	"$step" 0 "$dir/program" >"$dir/out" 2>&1 || { cat "$dir/out"; exit 1; }
	grep -v ' 100.00 %' "$dir/out" | grep understood && { cat "$dir/out"; exit 1; }
	tail -1 "$dir/out"
}

for pair in $compilers; do
	levels='-O0 -O2'
	[ "$pair" = "${compilers%% *}" ] || levels='-O1 -O3'
	[ -z "$all" ] || levels='-O0 -O1 -O2 -O3'
	for level in $levels; do
		c=$sources/switches.c
		cxx=$sources/throws.cpp
		check "${pair%:*}" "$c" $level -fcf-protection=full
		check "${pair%:*}" "$c" $level -fcf-protection=none -fno-pic -no-pie
		[ "$level" = -O1 ] || check "${pair#*:}" "$cxx" $level
		[ -n "$all" ] || continue
		check "${pair%:*}" "$c" $level -fcf-protection=none -fomit-frame-pointer
		check "${pair%:*}" "$c" $level -fno-omit-frame-pointer -fno-plt
		check "${pair%:*}" "$c" $level -fcf-protection=full -fno-pic -no-pie
		check "${pair%:*}" "$c" $level -fcf-protection=none -mcmodel=large -fno-pic -no-pie
		check "${pair%:*}" "$c" $level -ffunction-sections -falign-functions=1
		check "${pair#*:}" "$cxx" $level -fcf-protection=full -fno-pic -no-pie
		check "${pair#*:}" "$cxx" $level -fno-plt -fno-omit-frame-pointer
	done
	check "${pair%:*}" "$sources/switches.c" -Os
done
