#!/bin/bash
# Slices of all code by dg's llvm-slicer (https://github.com/mchalupa/dg) beside `waymark slice` and `waymark core --slice`, of the same lines of the same
# programs: lines, CPU time, peak memory, and how many lines of the true dynamic slice each has not.
#
#   bench/slice/dg.sh -d DG-BUILD | -s DG-SOURCE [-b BUILD-DIR] [-w WORK-DIR] [-n POINTS] [-t SECONDS] [-m MEGABYTES] [-r] [PROGRAM...]
#
# DG-BUILD is the folder that cmake made for dg, with tools/llvm-slicer; with -s it is made of dg's source, in WORK-DIR, for LLVM 14. PROGRAM and
# WORK-DIR are as for bench/trace/run.sh, whose programs.sh builds the programs at -O0 and says where they are stopped: at the beginning of a call.
# The criterion is the line of that call; POINTS of five are taken (default 2). dg gets the same source as bitcode of its own LLVM. A slicer may
# take SECONDS of CPU time (default 600) and MEGABYTES (default 6144). The true dynamic slice is that of the call, which the program records itself
# (tests/analyze/oracle): of 60 million steps at most, else there is none. -r measures nothing and prints what was measured in WORK-DIR before.
#
# The results are WORK-DIR/dg.tsv, and the lines of each slice WORK-DIR/PROGRAM-slices/NUMBER.SLICER.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
dg='' source='' points=2 seconds=600 megabytes=6144 is_old='' variant=stmt+pt-O0
while getopts "${work_options}d:s:n:t:m:r" option; do
	case $option in
	d) dg=$OPTARG ;;
	s) source=$OPTARG ;;
	n) points=$OPTARG ;;
	t) seconds=$OPTARG ;;
	m) megabytes=$OPTARG ;;
	r) is_old=1 ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
open_work waymark-dg
export LC_ALL=C
lines=$here/dg.py results=$work/dg.tsv
if [ -n "$is_old" ]; then
	exec "$lines" table "$results"
fi
if [ -n "$source" ]; then
	dg=$work/dg
	quietly cmake -S "$source" -B "$dg" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
		-DLLVM_DIR="$(llvm-config-14 --cmakedir)" -DENABLE_FUZZING=OFF
	quietly cmake --build "$dg" -j "$jobs" --target llvm-slicer
fi
if [ ! -x "$dg/tools/llvm-slicer" ]; then
	echo 'dg.sh: no dg: git clone https://github.com/mchalupa/dg and give its folder by -s (needs cmake, clang-14, lld-14, llvm-14-dev)' >&2
	exit 77
fi
dg=$(cd "$dg" && pwd)
llvm=$(sed -n 's,^LLVM_DIR:.*=\(.*\)/lib/cmake/llvm$,\1,p' "$dg/CMakeCache.txt")
[ $# -gt 0 ] || set -- ccrypt gzip bc sed flex grep gawk sqlite3
here=$here/../trace wanted=$*
# shellcheck source=../trace/programs.sh
. "$here/programs.sh"

build_bitcode() { # PROGRAM: lld leaves the linked bitcode beside the program
	local dir=$work/$1-dg-O0 source
	local -x BENCH_CC="$llvm/bin/clang -g -gdwarf-4 -flto -fuse-ld=lld -Wl,--save-temps -Wno-unused-command-line-argument" BENCH_CC_LAST=-O0
	[ ! -f "$dir/.built" ] || return 0
	rm -rf "$dir"
	{
		source=$("$here/../../scripts/fetch-source.sh" "$(package_of "$1")") && cp -a "$source" "$dir" &&
			configure_cache='' "compile_$1" "$dir" bench-cc -O2
	} >"$dir.log" 2>&1 || { { tail -n 20 "$dir.log"; echo "$1: does not build, see $dir.log"; } >&2; return 1; }
	touch "$dir/.built"
}

build_recorder() { # PROGRAM: it records its own dependences
	local dir=$work/$1-recorder file libraries
	[ ! -f "$dir/program" ] || return 0
	file=$(program_of "$1" "$variant")
	mkdir -p "$dir"
	libraries=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/-l:\1/p')
	"$build/tests/analyze/slice-compare" write "$file" "$dir/code.bc"
	opt-19 -load-pass-plugin "$build/tests/analyze/shadow-pass.so" -strip-debug -passes=shadow "$dir/code.bc" -o "$dir/changed.bc"
	# shellcheck disable=SC2086 # a list
	clang-19 -O0 -w "$dir/changed.bc" "$build/tests/analyze/libshadow.a" $libraries -o "$dir/program"
}

limited() { # COMMAND...: and $out.cost is what it took
	(ulimit -t "$seconds" -v $((megabytes * 1024)) && exec time -q -o "$out.cost" -f '%U %S %M' "$@")
}

# Keeps the lines of a slice, and notes how many they are and what it took.
note() { # NAME FILE
	"$lines" lines "^$work/$program-[^/]*/" "$2" >"$slices/$number.$1"
	note_count "$1" "$slices/$number.$1"
	[ ! -f "$out.cost" ] ||
		awk -v name="$1" '{ printf "\t%s-seconds=%.1f\t%s-megabytes=%.0f", name, $1 + $2, name, $3 / 1024 }' "$out.cost" >>"$out.row"
}
note_count() { printf '\t%s=%d' "$1" "$(wc -l <"$2")" >>"$out.row"; } # NAME FILE
not_noted() { printf '\t%s=%s' "$1" "$2" >>"$out.row"; }               # NAME WHY

slice_by_dg() { # FUNCTION LINE
	local status=0
	limited "$dg/tools/llvm-slicer" -sc "#$1#$2#" -o "$out.bc" "$bitcode" >"$out.errors" 2>&1 || status=$?
	case $status in
	0) "$llvm/bin/llvm-dis" "$out.bc" -o "$out.ll" && note dg "$out.ll" ;;
	152) not_noted dg "over $seconds s" ;; # SIGXCPU
	*) cp "$out.errors" "$slices/$number.errors" && not_noted dg "fails ($status)" ;;
	esac
}

slice_by_waymark() { # NAME COMMAND...
	limited "$waymark" "${@:2}" >"$out.json" 2>"$out.errors" && note "$1" "$out.json" || not_noted "$1" "fails ($?)"
}

record() { # FUNCTION CALL: the recording of the program, stopped at that call
	local words
	read -ra words <<<"$(set -f && command_of "$program" "$variant" small)"
	DEBUGINFOD_URLS='' gdb -q -nx -batch -iex 'set auto-load off' -ex "set environment SHADOW_OUT $out.shadow" -ex 'set environment SHADOW_LIMIT 60000000' \
		-ex "starti $(printf '%q ' "${words[@]:1}") <$(input_of "$program" small) >$out.output 2>&1" \
		-ex "break *&'$1'" -ex "ignore 1 $(($2 - 1))" -ex continue -ex 'info breakpoints' -ex kill "$work/$program-recorder/program" </dev/null >"$out.log" 2>&1
	grep -q '^Breakpoint 1, ' "$out.log" && "$build/tests/analyze/slice-compare" print "$work/$program-recorder/code.bc" "$out.shadow" >"$out.dynamic"
}

note_missing() { # NAME: lines of the dynamic slice that are not in that one
	[ -f "$slices/$number.$1" ] || return 0
	comm -23 "$slices/$number.dynamic" "$slices/$number.$1" >"$slices/$number.$1-missing"
	note_count "$1-missing" "$slices/$number.$1-missing"
}

measure() { # FUNCTION CALL: of $program, point $number
	local core=$work/$program-cores.$variant/$number file criterion line function
	file=$(program_of "$program" "$variant")
	rm -f "$out".{row,cost,shadow}
	slice_by_waymark active core --slice=1 --format=json "$file" "$core"
	criterion=$(sed -n 's/.*"criterion": "\([^"]*\)".*/\1/p' "$out.json")
	line=${criterion%% *} function=${criterion##* }
	printf '%s\t%d\t%s\tall=%d' "$program" "$number" "$line" "$(sed -n 's/.*"lines_with_code": \([0-9]*\).*/\1/p' "$out.json")" >"$out.head"
	slice_by_waymark static slice --format=json "$file" "$line"
	slice_by_dg "${function%)}" "${line##*:}"
	rm -f "$out.cost"
	if record "$1" "$2"; then
		note dynamic "$out.dynamic"
		for name in dg static active; do note_missing "$name"; done
	fi
	cat "$out.head" "$out.row" && echo
}

for program; do
	if ! make_cores "$program" "$variant" || ! build_bitcode "$program" || ! build_recorder "$program"; then continue; fi
	slices=$work/$program-slices bitcode=$(program_of "$program" dg-O0).0.0.preopt.bc
	mkdir -p "$slices"
	touch "$results"
	while read -r number function call; do
		[ "$number" -le "$points" ] || break
		measure "$function" "$call" >"$out.results"
		awk -F '\t' -v program="$program" -v number="$number" '!($1 == program && $2 == number)' "$results" >"$out.others"
		cat "$out.others" "$out.results" >"$results"
	done <"$work/$program-points-O0"
done
"$lines" table "$results"
