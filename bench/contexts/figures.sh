#!/bin/bash
# Tables 1 and 2 and the figures of the PCCE paper (ICSE'10) for real programs: each is built by its own build system as full LTO and
# with `waymark cc`, passes its own tests, and is counted.
#
#   bench/contexts/figures.sh [-b BUILD-DIR] [-w WORK-DIR] [-p PART]... [PROGRAM...]
#
# PROGRAM: those of ../paths/programs.sh that are one file, and those of programs.sh (default: twenty of them). PART, by default graph,
# heap, count and tables:
#   graph    lines of the program's own source files, and what waymark graph says (Table 1)
#   heap     contexts of all allocations of a small input (waymark run --heap): how deep they are, in entries of the context stack, the
#            call of malloc being one, beside frames (Table 2); instructions of the same run
#   count    links of the program, seconds and memory; sizes of code; instructions of the input (callgrind)
#   tests    the program's own tests, in both builds
#   beside   instructions with -finstrument-functions (the C library's empty hooks) and with -pg, each of a separate build; CPU time
#            under uftrace and under the agent, which encodes calls as they run, both of the LTO build
#   hybrid   what waymark graph says, and instructions, with --wm-hybrid: another link of the same objects
#   tables   prints what WORK-DIR has, as Markdown, and draws WORK-DIR/contexts-*.svg
# WORK-DIR keeps builds and results, which are good until the pass is built anew. An input's output must be the same in both builds.
# Needs: scripts/install-deps.sh bench
set -eu

contexts_dir=$(cd "$(dirname "$0")" && pwd)
here=$contexts_dir/../paths
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
parts=''
while getopts "${work_options}p:" option; do
	case $option in
	p) parts="$parts $OPTARG" ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
open_work waymark-bench
[ $# -gt 0 ] || set -- gzip bzip2 grep sed gawk mawk bc flex dash lua xmlwf tcc mujs duktape sqlite3 gnugo redis nginx x264 perl
wanted=$* bench_cache=$work/configure
export LC_ALL=C BENCH_CONFIGURE_CC=clang-19
# shellcheck source=../paths/programs.sh
. "$here/programs.sh"
# shellcheck source=programs.sh
. "$contexts_dir/programs.sh"
export GMON_OUT_PREFIX=$out.gmon
[ -f "$work/work.full.y4m" ] || write_contexts_inputs "$work"
parts=${parts:-graph heap count tables}
results=$work/results
mkdir -p "$results"
cp "$contexts_dir/../agent/timed.c" "$out.timed.c"
gcc -O2 -o "$out.timed" "$out.timed.c"
mv "$out.timed" "$work/bin/timed"

is_server() { case $1 in redis | nginx | git) true ;; *) false ;; esac }
set_command() { # PROGRAM VARIANT: command, file and input
	set -f
	# shellcheck disable=SC2207 # no word has blanks
	command=($(command_of "$1" "$2" small))
	set +f
	input=$(input_of "$1" small)
	file=$(linked_file "$1" "$2")
}
# is_measured NAME PROGRAM VARIANT: whether the result is there, and later than the build. NAME is a file of results.
is_measured() { [ -s "$results/$1" ] && [ "$results/$1" -nt "$work/$2-$3/.built" ]; }

# under PROGRAM WORDS...: runs the command, and its file by WORDS
under() {
	local program=$1 status=0
	shift
	rm -rf "${out:?}"/* "$out.times"
	if is_server "$program"; then
		{
			echo '#!/bin/sh'
			echo "exec $* $file \"\$@\""
		} >"$out.wrapped"
		chmod +x "$out.wrapped"
		# The folder of git's file is that of its other programs.
		"${command[@]:0:2}" "$out.wrapped" "${command[@]:3}" >"$out.output" 2>"$out.errors" || status=$?
	else
		"$@" "${command[@]}" <"$input" >"$out.output" 2>"$out.errors" || status=$?
	fi
	[ $status -le 1 ] || { tail -n 3 "$out.errors" >&2; echo "$program: exit status $status under $*" >&2; return 1; }
}
# count NAME PROGRAM VARIANT [WORDS...]: instructions of all processes that run the file; WORDS are the environment
count() {
	local name=$1 program=$2 variant=$3
	shift 3
	is_measured "$name" "$program" "$variant" && return
	set_command "$program" "$variant"
	rm -f "$out".valgrind.*
	under "$program" env "$@" valgrind --tool=callgrind --smc-check=all-non-file --callgrind-out-file=/dev/null --log-file="$out.valgrind.%p" || return
	cat "$out".valgrind.* | awk '/Collected :/ { n += $NF } END { if (n) printf "%.0f\n", n }' >"$results/$name"
	cksum <"$out.output" >"$results/$name.output"
}

build_linked() { # PROGRAM VARIANT: notes what its links take
	local links=$results/$1.links.$2
	[ -f "$work/$1-$2/.built" ] || rm -f "$links"
	BENCH_LINKS=$links build_variant "$1" "$2"
}
# Of what is linked: not what configure compiled and threw away.
source_lines() { # FILE DIR
	llvm-dwarfdump-19 --show-sources "$1" | sort -u | grep "^$2/" | grep -E '\.(c|cc|cpp|h|y|l|def)$' |
		while read -r name; do [ ! -f "$name" ] || cat "$name"; done | wc -l
}

part_count() { # PROGRAM
	local variant
	for variant in lto contexts; do
		build_linked "$1" $variant || return
	done
	for variant in lto contexts; do
		set_command "$1" $variant
		llvm-size-19 -A "$file" | awk '$1 == ".text" { print $2 }' >"$results/$1.text.$variant"
		# The last link of the file.
		grep "[ /]${file##*/}$" "$results/$1.links.$variant" | tail -n 1 >"$results/$1.link.$variant" || true
		count "$1.count.$variant" "$1" $variant || return
	done
	cmp -s "$results/$1.count.lto.output" "$results/$1.count.contexts.output" || is_server "$1" || echo "$1: another output with contexts" >&2
}

part_graph() {
	build_linked "$1" contexts || return
	set_command "$1" contexts
	"$waymark" graph --format=json "$file" >"$results/$1.graph"
	source_lines "$file" "$work/$1-contexts" >"$results/$1.lines"
}

record_depths() { # of the program alone, not of what drives a server
	set_command "$1" contexts
	under "$1" "$waymark" run -q --heap -o "$out/" || return
	"$build/bench/bench-context-depths" "$out"/*.wmk >"$results/$1.depths"
	"$build/bench/bench-context-depths" --all "$out"/*.wmk >"$results/$1.distribution"
}

part_heap() {
	build_linked "$1" contexts || return
	is_measured "$1.distribution" "$1" contexts || record_depths "$1" || return
	count "$1.count.heap" "$1" contexts "WAYMARK_OUT=$out/" "LD_PRELOAD=$build/src/runtime/libwaymark-heap.so"
}

part_tests() {
	local variant
	if ! declare -F "own_tests_$1" >/dev/null; then
		echo none >"$results/$1.tests"
		return
	fi
	for variant in lto contexts; do
		is_measured "$1.tests.$variant" "$1" $variant && continue
		build_linked "$1" $variant || return
		quick=1 "own_tests_$1" "$work/$1-$variant" 2>&1 | sed "s,$work/$1-$variant,DIR,g" >"$results/$1.tests.$variant" || true
	done
	if cmp -s "$results/$1.tests.lto" "$results/$1.tests.contexts"; then
		echo same >"$results/$1.tests"
	else
		echo differ >"$results/$1.tests"
		diff "$results/$1.tests.lto" "$results/$1.tests.contexts" | head -n 6 >&2
	fi
}

cpu_time() { # NAME PROGRAM WORDS...: the median of five runs of the LTO build, in microseconds
	local name=$1 program=$2 n
	shift 2
	is_measured "$name" "$program" lto && return
	set_command "$program" lto
	for n in 1 2 3 4 5; do
		under "$program" timed "$out.times" "$@" || return
		awk '{ n += $1 + $2 } END { print n }' "$out.times"
	done | sort -n | sed -n 3p >"$results/$name"
}

part_beside() {
	local variant
	for variant in hooks mcount; do
		build_variant "$1" $variant && count "$1.count.$variant" "$1" $variant || true
	done
	rm -f "$out".gmon.*
	is_server "$1" && return
	cpu_time "$1.time.lto" "$1"
	cpu_time "$1.time.agent" "$1" "$waymark" run -q --encode --sample=250 -o "$out/"
	set_command "$1" mcount
	cpu_time "$1.time.uftrace" "$1" uftrace record --force -P . --no-libcall --no-event --no-pager -d "$out.uftrace"
	rm -rf "$out.uftrace"*
}

part_hybrid() {
	build_linked "$1" contexts && build_variant "$1" hybrid || return
	set_command "$1" hybrid
	"$waymark" graph --format=json "$file" >"$results/$1.graph.hybrid"
	count "$1.count.hybrid" "$1" hybrid
}

for program; do
	# A program that another run with this WORK-DIR is at is left to it.
	exec 9>"$work/$program.lock"
	flock -n 9 || continue
	for part in $parts; do
		[ "$part" = tables ] || "part_$part" "$program" || echo "$program: no $part" >&2
	done
done
case " $parts " in *' tables '*) python3 "$contexts_dir/figures.py" "$results" "$work" "$@" ;; esac
