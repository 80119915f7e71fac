#!/bin/bash
# same.sh BUILD-DIR OPTIONS PROGRAM... - hazards must merely work when traced: programs of ../paths and ../hazards, and random ones
# (random=SEED), built with `waymark cc OPTIONS` at -O0 and -O2, print and return what they do without.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
read -r -d '' -a options <<<"$2"
shift 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-same.XXXXXX")
if [ -n "${KEEP:-}" ]; then echo "kept: $tmp"; else trap 'rm -rf "$tmp"' EXIT; fi
cd "$tmp" || exit 2
unset WAYMARK_LIMIT WAYMARK_CC WAYMARK_CXX MALLOC_PERTURB_
export WAYMARK_OUT=/dev/null

sources() { # PROGRAM
	case $1 in
	paths/inlines) echo "$here/../paths/inlines.c" "$here/../paths/inlines_other.c" ;;
	paths/units) echo "$here/../paths/units.cpp" "$here/../paths/units_other.cpp" ;;
	random=*)
		mkdir -p "$1" && "$build/tests/paths/generate-flow" "${1#random=}" "$1" && echo "$tmp/$1"/random.c*
		;;
	*) ls "$here/../$1".c* ;;
	esac
}

run() { # NAME
	local status
	(ulimit -s 65536; timeout 100 "./$1" >"$1.out" 2>"$1.err" </dev/null)
	status=$?
	sed -i 's/wm1:[^\t ]*/TOKEN/' "$1.out" # a context's name is another one in each build
	echo "status $status" >>"$1.out"
}

failed=0
for program; do
	read -r -d '' -a files <<<"$(sources "$program")"
	case "${files[*]}" in
	*.cpp*) plain=(clang++-19 -std=c++20) traced=("$build/waymark" c++ -std=c++20) ;;
	*) plain=(clang-19) traced=("$build/waymark" cc) ;;
	esac
	for level in O0 O2; do
		all=("-$level" -w -g -pthread -I"$here/../../include" "${files[@]}" -lm -ldl)
		"${plain[@]}" "${all[@]}" -o plain >build.log 2>&1 || { cat build.log; echo "FAIL $program: does not build"; failed=1; continue; }
		if ! "${traced[@]}" "${options[@]}" "${all[@]}" -o traced >build.log 2>&1; then
			head -n 5 build.log
			echo "FAIL $program -$level ${options[*]}: does not build when it is traced"
			failed=1
			continue
		fi
		run plain
		run traced
		if ! cmp -s plain.out traced.out; then
			diff plain.out traced.out | head -n 5
			tail -n 3 traced.err
			echo "FAIL $program -$level ${options[*]}: does something else when it is traced"
			failed=1
		fi
	done
	[ $failed = 1 ] || echo "ok   $program: $(wc -l <plain.out) lines"
done
exit $failed
