#!/bin/bash
# levels.sh BUILD-DIR NAME... - the paths of a program as it is written, and their counts, are the same at every -O level.
#
# NAME is a program of this folder or random=SEED. Not so for C++ whose destructor does nothing but call its base's: with
# optimization clang makes it another name of that one. Nor for a case that is only `break`: it has a block at -O0 alone.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-levels.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_CC WAYMARK_CXX MALLOC_PERTURB_

count() { # NAME LEVEL FILE...: prints what is counted
	local dir=$tmp/$1-$2 level=$2
	local compiler=cc
	shift 2
	case "$*" in
	*.cpp*) compiler="c++ -std=c++20" ;;
	esac
	mkdir -p "$dir/out"
	cd "$dir" || return
	# shellcheck disable=SC2086 # $compiler is words
	"$build/waymark" $compiler --wm=paths "-$level" -w -pthread "$@" -lm -o prog || return
	WAYMARK_OUT=$dir/out/ timeout 60 ./prog >/dev/null || return
	"$build/tests/paths/dump" waymark prog -- out/*.wmk
}

failed=0
for name; do
	case $name in
	random=*)
		mkdir "$tmp/$name"
		"$build/tests/paths/generate-flow" "${name#random=}" "$tmp/$name" || exit 2
		files=("$tmp/$name"/random.c*)
		;;
	*)
		files=()
		for file in "$here/$name".c "$here/$name".cpp "$here/${name}_other".c "$here/${name}_other".cpp; do
			[ ! -f "$file" ] || files+=("$file")
		done
		;;
	esac
	good=1
	for level in O0 O1 O2 O3 Os; do
		if ! (count "$name" $level "${files[@]}") >"$tmp/$level.txt" || [ ! -s "$tmp/$level.txt" ]; then
			echo "FAIL $name: nothing is counted at -$level"
			good=0
			break
		fi
		if ! cmp -s "$tmp/O0.txt" "$tmp/$level.txt"; then
			diff "$tmp/O0.txt" "$tmp/$level.txt" | head -n 5
			echo "FAIL $name: other paths at -O0 (<) than at -$level (>)"
			good=0
		fi
	done
	[ $good = 1 ] && echo "ok   $name: $(wc -l <"$tmp/O0.txt") paths at each level" || failed=1
done
exit $failed
