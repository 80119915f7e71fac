#!/bin/bash
# What the agent does and costs in Debian's own binaries: the tables and figures of the DACCE paper (CGO 2014).
#
#   bench/agent/run.sh [-b BUILD-DIR] [-w DIR] [-n PAIRS] [-c CPU] [-p PART]... [PROGRAM...]
#
# PART, by default numbers, pairs, longs, starts, tables and plots:
#   samples    the work natively, with samples by walks at 250 and 1,000 a second, by encoding, by perf record -g and by gperftools at
#              250, in turn
#   heap       the work natively, with each allocation by walks and by encoding, with one in 512 KB, and under heaptrack, in turn
#   processes  what each of these costs a process that does next to nothing: samples natively and by walks, in turn
#   mechanisms prints samples, heap and processes; DIR/mechanisms.json has the ratios, for bench/costs.py
#   numbers    a run with samples, whose recording is kept: nodes, edges, ids, epochs, depths; a run that counts pushes and the agent's
#              own CPU time
#   pairs      the work natively and under the agent, in turn
#   longs      the same several times as long in one process: what is between is the steady state
#   starts     the same of next to no work: what starting costs
#   callgrind  the work under valgrind --tool=callgrind, which also counts calls; about 20 minutes
#   uftrace    the work under uftrace with dynamic tracing, where it can; perf: under perf record -g
#   tables     prints what is in DIR: Table 1, Figure 8, memory
#   plots      draws Figures 8, 9 and 10 as DIR/*.svg
# All is pinned to CPU. DIR keeps the results of each part, by default a temporary one that is removed.
# Needs: scripts/install-deps.sh bench
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
dir='' pairs=9 cpu=0 parts='' typed="bench/agent/run.sh $*"
while getopts b:w:n:c:p: name; do
	case $name in
	b) build=$OPTARG ;;
	w) dir=$OPTARG ;;
	n) pairs=$OPTARG ;;
	c) cpu=$OPTARG ;;
	p) parts="$parts $OPTARG" ;;
	*) sed -n '4p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
build=$(cd "$build" && pwd)
agent=$build/src/agent/libwaymark-agent.so
[ -f "$agent" ] || { echo "$agent is not built" >&2; exit 2; }
[ -n "$parts" ] || parts='numbers pairs longs starts tables plots'
[ $# -gt 0 ] || set -- lua5.4 sqlite3 perl python3 gawk mujs duk tcc gnugo cc1 cmake bash gzip bzip2 zstd git vim
if [ -z "$dir" ]; then
	dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-agent.XXXXXX")
	trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
[ -f "$dir/inputs/Makefile" ] || "$here/work.sh" inputs "$dir/inputs"
gcc -O2 -o "$dir/timed" "$here/timed.c"
# Later versions have another word for data that are not interpreted.
heaptrack_raw=$(heaptrack --help 2>/dev/null | grep -oE -m 1 -e '--(raw|record-only)') || true
preload="LD_BIND_NOW=1 LD_PRELOAD=$agent" recorded="WAYMARK_OUT=$dir/recordings/%p.wmk"

# run NAME RESULT WITH...: one run. Appends user and system seconds and megabytes to RESULT.
run() {
	local name=$1 result=$2 status=0
	shift 2
	rm -rf "$dir/scratch" "$dir/recordings" "$dir/times"
	mkdir "$dir/scratch" "$dir/recordings"
	WITH="taskset -c $cpu timeout 400 $dir/timed $dir/times $*" "$here/work.sh" "$name" "$dir/inputs" "$dir/scratch" >"$dir/out" 2>"$dir/err" ||
		status=$?
	rm -rf "$dir/scratch"
	if [ $status -ne 0 ]; then
		echo "$name: $1 $(tail -n 1 "$dir/err") (status $status)" >&2
		return 1
	fi
	awk '{ user += $1; system_time += $2; if ($3 > most) most = $3 } END { print user / 1e6, system_time / 1e6, most / 1024 }' "$dir/times" >>"$result"
}

# in_turn NAME RESULT: natively and under the agent, PAIRS times; the first pair warms up.
in_turn() {
	local n
	rm -f "$2.native" "$2.agent"
	for ((n = 0; n <= pairs; n++)); do
		run "$1" "$2.native" env LD_BIND_NOW=1 || return 0
		run "$1" "$2.agent" env "$preload" "$recorded" || return 0
		[ $n -gt 0 ] || rm -f "$2.native" "$2.agent"
	done
}

numbers() { # PROGRAM
	local at=$dir/$1 n
	mkdir -p "$at"
	rm -f "$at"/*.wmk "$at"/counted.*
	run "$1" "$at/sampled" env "$preload" WAYMARK_AGENT=sample=997 "WAYMARK_OUT=$at/%p.wmk" || return 0
	for n in 1 2 3; do
		run "$1" "$at/counted" env "$preload" WAYMARK_AGENT=verbose "$recorded" || return 0
		grep -ah '^waymark: functions' "$dir/err" "$dir/out" >"$at/counted.$n.log" || true
	done
}

# with KIND: the words that come before the command
with() {
	case $1 in
	native) echo env ;;
	walk250 | walk1000) echo "$build/waymark run -q --sample=${1#walk} -o $dir/recordings/" ;;
	encode250) echo "$build/waymark run -q --encode --sample=250 -o $dir/recordings/" ;;
	perf250) echo "perf record -q -g -F 250 -o $dir/perf.data --" ;;
	gperf250) echo "env LD_PRELOAD=$profiler CPUPROFILE=$dir/recordings/profile CPUPROFILE_FREQUENCY=250" ;;
	heap) echo "$build/waymark run -q --heap -o $dir/recordings/" ;;
	heapencode) echo "$build/waymark run -q --heap --encode -o $dir/recordings/" ;;
	heap512K) echo "$build/waymark run -q --heap=512K -o $dir/recordings/" ;;
	heaptrack) echo "heaptrack $heaptrack_raw -o $dir/recordings/heaptrack" ;;
	esac
}
profiler=$(find /usr/lib -name 'libprofiler.so.0' 2>/dev/null | head -n 1)

# turns WORK RESULT KIND...: each kind in turn, PAIRS times; the first turn warms up. A kind that cannot run is left out.
turns() {
	local work=$1 result=$2 n kind kinds=()
	shift 2
	for kind; do
		rm -f "$result.$kind"
		[ "$kind" != gperf250 ] || [ -n "$profiler" ] || continue
		# shellcheck disable=SC2046 # words
		run "$work" "$result.$kind" $(with "$kind") && kinds+=("$kind") || [ "$kind" != native ] || return 0
		rm -f "$result.$kind" "$dir/perf.data"*
	done
	for ((n = 0; n < pairs; n++)); do
		cat /proc/loadavg >>"$dir/load"
		for kind in "${kinds[@]}"; do
			# shellcheck disable=SC2046
			run "$work" "$result.$kind" $(with "$kind") || true
			rm -f "$dir/perf.data"*
		done
	done
}

for part in $parts; do
	for program; do
		mkdir -p "$dir/$program"
		case $part in
		numbers) numbers "$program" ;;
		samples) turns "$program" "$dir/$program/samples" native walk250 walk1000 encode250 perf250 gperf250 ;;
		heap) turns "$program" "$dir/$program/heap" native heap heapencode heap512K heaptrack ;;
		processes) turns "start-$program" "$dir/$program/processes" native walk250 encode250 ;;
		pairs) in_turn "$program" "$dir/$program/work" ;;
		longs) in_turn "long-$program" "$dir/$program/long" ;;
		starts) in_turn "start-$program" "$dir/$program/start" ;;
		callgrind)
			rm -f "$dir/$program"/callgrind*
			run "$program" "$dir/$program/callgrind" valgrind --quiet --tool=callgrind "--callgrind-out-file=$dir/$program/callgrind.out.%p" || true
			: >"$dir/$program/calls"
			# A forked child's counts begin with those of its parent: of programs that fork the sum is not known.
			[ "$(find "$dir/$program" -name 'callgrind.out.*' | wc -l)" -gt "$(wc -l <"$dir/times")" ] ||
				cat "$dir/$program"/callgrind.out.* | sed -n 's/^calls=\([0-9]*\).*/\1/p' |
					awk '{ sum += $1 } END { printf "%.0f\n", sum }' >"$dir/$program/calls"
			rm -f "$dir/$program"/callgrind.out.*
			;;
		uftrace)
			rm -f "$dir/$program/uftrace"
			run "$program" "$dir/$program/uftrace" uftrace record --force -P . --no-event --no-pager -d "$dir/uftrace.data" || true
			rm -rf "$dir/uftrace.data"*
			;;
		perf)
			rm -f "$dir/$program/perf"
			run "$program" "$dir/$program/perf" perf record -q -g -F 997 -o "$dir/perf.data" -- env LD_BIND_NOW=1 || true
			rm -f "$dir/perf.data"*
			;;
		esac
	done
	case $part in
	mechanisms) python3 "$here/mechanisms.py" "$dir" "$typed" "$@" ;;
	tables) python3 "$here/tables.py" "$dir" "$build/waymark" "$@" ;;
	plots) python3 "$here/plots.py" "$dir" "$build/waymark" "$dir" "$@" ;;
	esac
done
