#!/bin/bash
# What tracing costs: real programs traced in ten ways, run in turn on one CPU.
#
#   bench/trace/run.sh [-b BUILD-DIR] [-n ROUNDS] [-w WORK-DIR] [-c CPU] [-i] [-s] [-l LEVELS] [-v VARIANTS] [-r] [PROGRAM...]
#
# PROGRAM: those of programs.sh (default: all of them). ROUNDS is at least 9. WORK-DIR keeps builds and cores, so that a
# second run is short. CPU is where the programs run (default: the last). -i leaves out the instruction counts, which callgrind
# takes on smaller inputs; -s takes times on these, too. LEVELS: 'O2 O0', or one of them. VARIANTS: those below after lto (default: all
# of them; a large program takes minutes to link with all eight schemes). -r measures nothing: it prints what was measured in WORK-DIR
# before.
#
#   lto    clang-19 -flto at that level: what the others are compared with
#   none   the metadata, no trace
#   fc     function coverage                       }
#   cc     call-site coverage                      } of all functions, nothing else compiled in
#   stmt   block coverage                          }
#   pt     the last 8 paths                        }
#   fixed  realistic: call-site coverage, and paths in functions of failing stacks (programs.sh says what fails)
#   tuned  the same, but chosen after building by waymark tune
#   off    everything off, cc+pt compiled in: the price of choosing
#   all    everything off, all eight schemes compiled in
#
# Tables of CPU time, instructions, peak memory (resident) and size of code, as ratios; geometric means and worst.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
rounds=9 counts=1 levels='O2 O0' \
	cpu=$(($(nproc) - 1)) is_old='' inputs_size=full variants='none fc cc stmt pt fixed tuned off all'
while getopts "${work_options}n:c:isl:v:r" option; do
	case $option in
	n) rounds=$OPTARG ;;
	c) cpu=$OPTARG ;;
	i) counts= ;;
	s) inputs_size=small ;;
	l) levels=$OPTARG ;;
	v) variants=$OPTARG ;;
	r) is_old=1 ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
open_work waymark-bench
export LC_ALL=C
# shellcheck source=programs.sh
. "$here/programs.sh"
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $traced
[ -n "$is_old" ] || clang-19 -O2 "$here/../contexts/pairs.c" -o "$out.pairs"

instructions() { # PROGRAM VARIANT
	(
		set -f
		# shellcheck disable=SC2046 # commands without blanks inside words
		taskset -c "$cpu" valgrind --tool=callgrind --callgrind-out-file=/dev/null $(command_of "$1" "$2" small) 2>&1 >"$out.output" \
			<"$(input_of "$1" small)"
	) | sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' | tail -n 1
}
code_size() { # FILE: bytes of its executable sections
	size -A -d "$1" | awk '$1 ~ /^\.(init|plt|text|fini)/ { sum += $2 } END { print sum }'
}

measure() { # PROGRAM LEVEL: lines `LEVEL PROGRAM VARIANT ms time-ratio middle-half instructions memory code` are its results
	local program=$1 suffix='' variant i=0 kib base_count base_kib base_size size count
	[ "$2" = O2 ] || suffix=-$2
	local -a arguments=() names=()
	rm -f "$work/results-$program-$2"
	for variant in lto $variants; do
		build_traced "$program" "$variant$suffix" || continue
		set -f
		# shellcheck disable=SC2207
		arguments+=(--0 $(command_of "$program" "$variant$suffix" "$inputs_size"))
		set +f
		names+=("$variant")
	done
	PAIRS_INPUT=$(input_of "$program" "$inputs_size") "$out.pairs" "$program" "$rounds" "$cpu" "${arguments[@]}" >"$out.measured" 2>"$out.errors" ||
		{ tail -n 3 "$out.errors" >&2; return 0; }
	while read -r _ _ ms ratio low high kib; do
		count=0
		[ -z "$counts" ] || count=$(instructions "$program" "${names[i]}$suffix")
		size=$(code_size "$(program_of "$program" "${names[i]}$suffix")")
		[ $i != 0 ] || base_count=$count base_kib=$kib base_size=$size
		echo "$2 $program ${names[i]} $ms $ratio $low..$high $(awk "BEGIN {
			print $base_count ? $count / $base_count : 0, $kib / $base_kib, $size / $base_size }")"
		i=$((i + 1))
	done <"$out.measured" >"$out.ratios"
	mv "$out.ratios" "$work/results-$program-$2"
}

for level in $levels; do
	for program; do
		[ -n "$is_old" ] || measure "$program" "$level"
		[ ! -f "$work/results-$program-$level" ] || cat "$work/results-$program-$level"
		rm -rf "${out:?}"/*
	done
done >"$out.results"

awk '
function add(list, key, word) { if (!((key, word) in seen)) { seen[key, word] = 1; list[key] = list[key] " " word } }
{
	add(programs, $1, $2)
	if ($3 != "lto") add(variants, $1, $3)
	ms[$1, $2] = $3 == "lto" ? $4 : ms[$1, $2]
	middle[$1, $2, $3] = $6
	value[$1, 1, $2, $3] = $5
	for (i = 2; i <= 4; i++) value[$1, i, $2, $3] = $(i + 5)
	levels[$1] = 1
}
function table(level, what,    n, m, i, j, names, list, v, sum, used, worst, worst_is, means) {
	n = split(programs[level], list, " ")
	m = split(variants[level], names, " ")
	printf "-%s, %s\n%-8s", level, title[what], "program"
	for (j = 1; j <= m; j++) printf "%8s", names[j]
	print what == 1 ? "   lto ms, middle half of tuned" : ""
	for (i = 1; i <= n; i++) {
		printf "%-8s", list[i]
		for (j = 1; j <= m; j++) {
			v = value[level, what, list[i], names[j]]
			printf v ? "%8.3f" : "%8s", v ? v : "-"
		}
		print what == 1 ? "   " ms[level, list[i]] ", " middle[level, list[i], "tuned"] : ""
	}
	printf "%-8s", "mean"
	for (j = 1; j <= m; j++) {
		sum = used = worst[j] = 0
		for (i = 1; i <= n; i++) {
			v = value[level, what, list[i], names[j]]
			if (!v) continue
			sum += log(v)
			used++
			if (v > worst[j]) worst[j] = v
		}
		printf used ? "%8.3f" : "%8s", used ? exp(sum / used) : "-"
	}
	printf "\n%-8s", "worst"
	for (j = 1; j <= m; j++) printf worst[j] ? "%8.3f" : "%8s", worst[j] ? worst[j] : "-"
	print "\n"
}
BEGIN {
	title[1] = "CPU time"
	title[2] = "instructions"
	title[3] = "peak memory"
	title[4] = "size of code"
}
END {
	for (level in levels)
		for (what = 1; what <= 4; what++) table(level, what)
}' "$out.results"
