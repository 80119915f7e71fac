#!/bin/bash
# What the agent for Java programs costs, beside a calling-context tree in Java (cct/).
#
#   bench/jvm/run.sh [-b BUILD-DIR] [-j JDK] [-w DIR] [-e "OPTIONS;OPTIONS"] [-n PAIRS] [-i ITERATIONS] [-m MEASURE]
#                    [-v "JVM-OPTIONS"] [-c CPUS] [-x] [-p PART]... [PROGRAM...]
#
# PART, by default pairs, starts, capture, tables and plots:
#   pairs    each program plainly, under the agent with each string of its options (by default the empty one) and with the tree, in turn,
#            PAIRS times (9): the first iteration, and the steady state, which is the second half of ITERATIONS (by default what takes some
#            10 seconds plainly: compilers of the virtual machine work for the first ones). A % in OPTIONS begins the name of a file of
#            the program's, as in profile=% or cache=%.cache, which a run before has written. -x: not with the tree
#   starts   the same of a class that says hello, and of javac -version
#   capture  nanoseconds of one context in Java (Capture.java)
#   tables   prints what is in DIR, in Markdown
#   plots    draws Figure 5 of the Lucce paper as DIR/figure5.svg
#   mechanisms  instead of these: a class that says hello, h2, lucene and xalan (or PROGRAM...; hello is one), plainly, with what `waymark run`
#            offers (samples by walks and by words, wall time, allocations, waits, exceptions, live objects, words alone as tokens need them) and with
#            both settings of JDK Flight Recorder, in turn, all pinned to CPUS (by default the last one). Prints tables and keeps the ratios
#            in DIR/mechanisms.json, for bench/costs.py
# MEASURE of the tables and plots: process (CPU time of all threads, also those that compile and collect; the default), main (of the thread
# that does the work) or wall. DIR keeps the results of each part, by default a temporary one that is removed.
# Needs: scripts/install-deps.sh bench-jvm
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
dir='' jdk='' encodings='' jvm='' pairs=9 iterations='' measure=process parts='' has_tree=1 cpus='' typed="bench/jvm/run.sh $*"
while getopts b:c:e:i:j:m:n:p:v:w:x name; do
	case $name in
	b) build=$OPTARG ;;
	c) cpus=$OPTARG ;;
	e) encodings=$OPTARG ;;
	i) iterations=$OPTARG ;;
	j) jdk=$OPTARG ;;
	m) measure=$OPTARG ;;
	n) pairs=$OPTARG ;;
	p) parts="$parts $OPTARG" ;;
	v) jvm=$OPTARG ;;
	w) dir=$OPTARG ;;
	x) has_tree='' ;;
	*) sed -n '4,5p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
. "$here/common.sh"
[ -n "$parts" ] || parts='pairs starts capture tables plots'
# shellcheck disable=SC2086
case $parts,$# in
*mechanisms,0) set -- hello h2 lucene xalan ;;
*,0) set -- $all_programs ;;
esac
case $parts in *mechanisms) has_tree='' ;; esac
begin
results=$dir/results pinned=()
[ -f "$dir/timed" ] || gcc -O2 -o "$dir/timed" "$here/../agent/timed.c"
[ -z "$has_tree" ] || [ -f "$dir/cct/options" ] || "$here/cct/make.sh" "$jdk" "$dir/cct"

# Names of what is compared: plain, agent or agent:OPTIONS, cct.
variants=(plain)
for option in "${options[@]}"; do variants+=("agent${option:+:$option}"); done
[ -z "$has_tree" ] || variants+=(cct)

# The mechanisms that are compared, and their options of `waymark run`.
mechanisms=(sample sample=97 encode wall alloc contention exceptions live tokens jfr-default jfr-profile)
option_of() { # MECHANISM
	case $1 in
	encode) echo --sample --encode ;;
	tokens) echo --events ;;
	*) echo "--$1" ;;
	esac
}

# Sets `with` to what the virtual machine is started with, and `before` to the words before its command: methods that instrumentation makes
# larger than 8,000 bytes are compiled, as `waymark run` has it. $earlier: how names of the program's files begin.
earlier=none before=()
with() { # VARIANT
	local words
	before=("${pinned[@]}")
	with=()
	case $1 in
	jfr-*) with=("-XX:StartFlightRecording=settings=${1#jfr-},filename=$dir/run.jfr" '-Xlog:jfr*=off') ;;
	sample | sample=* | encode | wall | alloc | contention | exceptions | live | tokens)
		read -r -a words <<<"$(option_of "$1")"
		before+=("$build/waymark" run -q -o "$dir/run.wmk" "${words[@]}" --)
		;;
	esac
	case $1 in
	cct) read -r -a with <"$dir/cct/options" ;;
	agent) with=("-agentpath:$agent") ;;
	agent:*) with=("-agentpath:$agent=${1#agent:}") ;;
	esac
	case $1 in agent | agent:* | cct) with+=(-XX:-DontCompileHugeMethods) ;; esac
	with=("${with[@]//%/$earlier}")
}

# Main-thread iterations that take some seconds plainly.
iterations_of() { # PROGRAM
	case $1 in
	ecj | javac) echo 6 ;;
	rhino | jython) echo 16 ;;
	batik | sunflow) echo 12 ;;
	xalan) echo 100 ;;
	*) echo 40 ;;
	esac
}

# train PROGRAM COMMAND...: a run that writes the program's files, for each variant that has some
train() {
	local name=$1 variant
	shift
	earlier=$dir/earlier/$name
	mkdir -p "$dir/earlier"
	rm -f "$earlier" "$earlier".*
	for variant in "${variants[@]}"; do
		case $variant in *%*) ;; *) continue ;; esac
		with "$variant"
		"$@" "$variant" train
	done
	rm -f "${results:?}/$name"/*/train
}

# An agent that refuses its options lets the program run as it is: that is no measurement.
refused() { # WHAT VARIANT
	grep -q '^waymark: .*nothing is instrumented' "$dir/err" || return 1
	echo "$1: $2: $(grep -m 1 '^waymark: ' "$dir/err")" >&2
}

# in_turn FUNCTION...: PAIRS times each variant. The results of the runs that failed are missing.
in_turn() {
	local n variant
	for ((n = 1; n <= pairs; n++)); do
		cat /proc/loadavg >>"$dir/load"
		for variant in "${variants[@]}"; do
			with "$variant"
			rm -rf "$dir/run.wmk" "$dir/run.jfr" "$dir/scratch"
			"$@" "$variant" "$n"
		done
	done
}

repeat() { # PROGRAM VARIANT N: the prepared program's iterations
	local at=$results/$1/$2 count=${iterations:-$(iterations_of "$1")}
	rm -rf "$dir/run.wmk" "$dir/scratch"
	mkdir -p "$at"
	# shellcheck disable=SC2086
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 900 "${before[@]}" "$jdk/bin/java" $jvm "${with[@]}" "${command[@]}" "$dir/scratch" "$count" "$at/$3" \
		>"$dir/out" 2>"$dir/err" || echo "$1: $2: status $?: $(tail -n 1 "$dir/err")" >&2
	! refused "$1" "$2" || rm -f "$at/$3"
	[ "$2" != cct ] || mv "$dir/cct/nodes" "$results/$1/nodes" || true
}

start() { # NAME COMMAND... VARIANT N: milliseconds, of CPU time and from beginning to end, and kilobytes at most
	local name=$1 variant=${*: -2:1} begun ended
	shift
	mkdir -p "$results/$name"
	rm -f "$dir/times"
	begun=${EPOCHREALTIME/./}
	# shellcheck disable=SC2086
	WAYMARK_OUT=$dir/run.wmk "$dir/timed" "$dir/times" "${before[@]}" "$jdk/bin/java" $jvm "${with[@]}" "${@:1:$#-2}" >"$dir/out" 2>"$dir/err" || {
		echo "$name: $variant: status $?: $(tail -n 1 "$dir/err")" >&2
		return 0
	}
	ended=${EPOCHREALTIME/./}
	! refused "$name" "$variant" || return 0
	awk -v wall=$((ended - begun)) '{ print ($1 + $2) / 1000, wall / 1000, $3 }' "$dir/times" >>"$results/$name/$variant"
}

start_in_turn() { # NAME COMMAND...
	train "$1" start "$@"
	rm -rf "${results:?}/$1"
	in_turn start "$@"
}

start_hello() {
	mkdir -p "$dir/classes/hello"
	"$jdk/bin/javac" -d "$dir/classes/hello" "$here/drivers/Hello.java"
	start_in_turn start-hello -cp "$dir/classes/hello" Hello
}

starts() {
	start_hello
	start_in_turn start-javac -m jdk.compiler/com.sun.tools.javac.Main -version
}

# Runs are a fifth as long as those of pairs: there are many kinds of them.
compare_mechanisms() { # PROGRAM...
	local program given=$iterations
	results=$dir/mechanisms variants=(plain "${mechanisms[@]}") pinned=(taskset -c "${cpus:-$(($(nproc) - 1))}")
	rm -f "$dir/load"
	for program; do
		[ "$program" != hello ] || { start_hello && continue; }
		prepare "$program" || { echo "$program: left out: $why" >&2; continue; }
		rm -rf "${results:?}/$program"
		iterations=${given:-$(($(iterations_of "$program") / 5))}
		in_turn repeat "$program"
	done
	iterations=$given
	python3 "$here/mechanisms.py" "$dir" "$typed" "${#variants[@]}" "${variants[@]}" "$@"
}

capture() {
	local jar=${agent%/*}/waymark-jvm.jar variant
	mkdir -p "$dir/classes/capture"
	"$jdk/bin/javac" -cp "$jar" -d "$dir/classes/capture" "$here/Capture.java"
	rm -f "${results:?}/capture".*
	mkdir -p "$results"
	for variant in "${variants[@]}"; do
		[ "$variant" != cct ] || continue
		with "$variant"
		rm -f "$dir/run.wmk"
		# shellcheck disable=SC2086
		WAYMARK_OUT=$dir/run.wmk timeout -k 1 900 "$jdk/bin/java" $jvm "${with[@]}" -cp "$dir/classes/capture:$jar" Capture "$pairs" \
			>"$results/capture.$variant" 2>"$dir/err"
		! refused capture "$variant" || rm "$results/capture.$variant"
	done
}

for part in $parts; do
	case $part in
	pairs)
		for program; do
			prepare "$program" || { echo "$program: left out: $why" >&2; continue; }
			rm -rf "${results:?}/$program"
			train "$program" repeat "$program"
			in_turn repeat "$program"
		done
		;;
	starts) starts ;;
	capture) capture ;;
	mechanisms) compare_mechanisms "$@" ;;
	tables) python3 "$here/tables.py" "$results" "$measure" "${#variants[@]}" "${variants[@]}" "$@" ;;
	plots) python3 "$here/figure5.py" "$results" "$measure" "$dir/figure5.svg" "${#variants[@]}" "${variants[@]}" "$@" ;;
	esac
done
