#!/bin/bash
# run.sh BUILD-DIR NAME CONFIGURATION... - builds a program of this folder, runs it, and compares every path and every count
# with the oracle (trace.h). Files of several processes are compared once more when they are merged.
#
# A configuration is words with commas between: an -O level, how paths are counted (array, hash, call, plan: of all that an
# earlier run took, half: of half of that, none: of nothing), and any of
#   final      number the optimized program at the link
#   contexts   calling contexts as well
#   together   one program has both Waymark's counters and the oracle's calls (final always); else two are built, so that the
#              oracle's calls do not change what Waymark sees: for programs that do the same in each run
#   static, nopie, pic, gc, lto, dwarf0    options of clang
# NAME random=SEED is a program of generate_flow.c. KEEP=1 keeps the directory.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
name=$2
shift 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-paths.XXXXXX")
if [ -n "${KEEP:-}" ]; then echo "kept: $tmp"; else trap 'rm -rf "$tmp"' EXIT; fi
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_CC WAYMARK_CXX
unset MALLOC_PERTURB_
pass=$build/tests/paths/trace-pass.so
dump=$build/tests/paths/dump
status=0 slack=0 binaries=prog
case $name in
killed) status=137 ;;
spawn) status=4 ;;
endless) slack=4 ;;
plugins) binaries="prog plugin.so" ;;
random=*) "$build/tests/paths/generate-flow" "${name#random=}" "$tmp" || exit 2 ;;
esac

# compile ARGUMENT...: with the compiler of the step; C++ when there is a C++ file
compile() {
	case "$*" in
	*.cpp*) $cxx -std=c++20 -pthread $opt "$@" ;;
	*) $cc -pthread $opt "$@" ;;
	esac
}

recipe() { # makes ./prog here
	case $name in
	through)
		compile -fexceptions -c "$here/through_c.c" -o c.o &&
			compile "$here/through.cpp" c.o $objects -o prog
		;;
	plugins)
		compile -fPIC -shared "$here/plugins_part.c" $objects -o plugin.so &&
			compile "$here/plugins.c" $objects -o prog
		;;
	inlines) compile "$here/inlines.c" "$here/inlines_other.c" $objects -o prog ;;
	units) compile "$here/units.cpp" "$here/units_other.cpp" $objects -o prog ;;
	random=*) compile "$tmp"/random.c* $objects -o prog ;;
	*)
		if [ -f "$here/$name.cpp" ]; then
			compile "$here/$name.cpp" $objects -o prog
		else
			compile "$here/$name.c" $objects -lm -o prog
		fi
		;;
	esac
}

# What was built without the oracle or with it alone, and has run: the directory, by what it was built with.
declare -A made

# make DIRECTORY: $cc $cxx $objects $opt; builds and runs there. What another configuration has built is that directory.
make() {
	local key="$cc $cxx $opt $objects"
	if [ "$apart" ] && [ -n "${made[$key]-}" ]; then
		mkdir -p "${1%/*}" && ln -s "${made[$key]}" "$1"
		return
	fi
	make_new "$1" && made[$key]=$1
}

make_new() {
	mkdir -p "$1/out" || return
	cd "$1" || return
	recipe >build.log 2>&1 || { head -n 5 build.log; echo "FAIL $label: does not build"; return 1; }
	local got
	{ WMTRACE_FILE=$PWD/trace WAYMARK_OUT=$PWD/out/ timeout 60 ./prog >out.txt 2>err.txt; got=$?; } 2>/dev/null # no "Killed"
	[ $got = $status ] || { tail -n 3 out.txt err.txt; echo "FAIL $label: exit status $got, not $status"; return 1; }
}

# The same lines; or, when something was killed anywhere, counts that differ by $slack in all.
same() {
	if [ $slack = 0 ]; then
		cmp -s trace.txt waymark.txt
	else
		awk -F'\t' -v slack=$slack 'FNR == NR { a[$1 FS $2] = $3; next } { b[$1 FS $2] = $3 }
			END {
				for (k in a) d += a[k] > b[k] ? a[k] - b[k] : b[k] - a[k]
				for (k in b) if (!(k in a)) d += b[k]
				exit d > slack
			}' trace.txt waymark.txt
	fi
}

# merge_differs BINARY...: whether the files of all processes, merged in reverse order, have other counts than waymark.txt.
merge_differs() {
	local files=() file
	for file in waymark/out/*.wmk; do
		files=("$file" "${files[@]}")
	done
	[ ${#files[@]} -gt 1 ] || return
	"$main" merge -o merged.wmk "${files[@]}" && "$dump" waymark "$@" -- merged.wmk >merged.txt || return 0
	! cmp -s waymark.txt merged.txt
}

check() {
	local opt="" stage=source what=paths kind=array apart=1 word wm plan=""
	for word in ${1//,/ }; do
		case $word in
		O*) opt+=" -$word" ;;
		array | hash | call | plan | half | none) kind=$word ;;
		final) stage=final apart= ;;
		contexts) what=contexts,paths ;;
		together) apart= ;;
		static) opt+=" -static" ;;
		nopie) opt+=" -no-pie -fno-pie" ;;
		pic) opt+=" -fPIC" ;;
		gc) opt+=" -ffunction-sections -Wl,--gc-sections" ;;
		lto) opt+=" -flto" ;;
		dwarf0) opt+=" -g0" ;;
		*) echo "$0: what is $word?" >&2; exit 2 ;;
		esac
	done
	local label="$name $1" dir=$tmp/$1 cc cxx objects="" traced="" main
	wm="--wm=$what --wm-stage=$stage"
	case $kind in
	half) wm+=" --wm-path-array=0" ;; # a place in a table for each, however few
	hash) wm+=" --wm-path-array=0" ;;
	call) wm+=" --wm-path-array=1 --wm-path-hash=call" ;;
	esac
	if [ ! "$apart" ]; then
		objects=$build/tests/paths/trace.o
		traced="-fpass-plugin=$pass"
		[ $stage = source ] || traced="-Wl,--load-pass-plugin=$pass"
	fi
	export WMTRACE_STAGE=$stage
	main="$build/waymark"
	cc="$main cc $wm $traced" cxx="$main c++ $wm $traced"
	case $kind in
	plan | half | none)
		make "$dir/first" || return 1
		plan=$dir/plan
		{
			echo waymark-plan 1
			printf 'profile %s\n' "$dir"/first/out/*.wmk
			[ $kind != half ] || echo "hot 50%"
			[ $kind != none ] || echo "function no_such_function"
		} >"$plan"
		cc+=" --wm-plan=$plan" cxx+=" --wm-plan=$plan"
		;;
	esac
	make "$dir/waymark" || return 1
	if [ "$apart" ]; then
		objects=$build/tests/paths/trace.o
		traced="-fpass-plugin=$pass -Xclang -disable-lifetime-markers"
		cc="clang-19 $traced" cxx="clang++-19 $traced"
		make "$dir/trace" || return 1
	else
		mkdir "$dir/trace" && ln "$dir/waymark/trace" "$dir/trace/trace"
	fi
	cd "$dir" || return 1
	local list=()
	for word in $binaries; do
		list+=("waymark/$word")
	done
	"$dump" waymark "${list[@]}" -- waymark/out/*.wmk >waymark.txt || { echo "FAIL $label: cannot read what was counted"; return 1; }
	"$dump" trace trace/trace "${list[@]}" >trace.txt 2>skipped.txt || { echo "FAIL $label: cannot read the trace"; return 1; }
	if [ ! -s trace.txt ] || ! same; then
		diff trace.txt waymark.txt | head -n "${LINES_MAX:-8}"
		echo "FAIL $label: differs (< oracle, > waymark)"
		return 1
	fi
	if merge_differs "${list[@]}"; then
		diff waymark.txt merged.txt | head -n "${LINES_MAX:-8}"
		echo "FAIL $label: differs when merged (<: all files, >: the merged one)"
		return 1
	fi
	echo "ok   $label: $(wc -l <waymark.txt) paths, $(awk '{ n += $3 } END { print n }' waymark.txt) times$(
		sed -n 's/^skipped: \([^:]*\):.*/\1/p' skipped.txt | sort -u | awk '{ s = s " " $1 } END { if (s) print "; not counted:" s }')"
}

failed=0
for configuration; do
	check "$configuration" || failed=1
	rm -rf "$tmp/$configuration/first/trace" "$tmp/$configuration/waymark/trace"
done
exit $failed
