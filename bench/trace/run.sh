#!/bin/bash
# What tracing costs: real programs traced in ten ways, run in turn on one CPU, each with its functions in several orders.
#
#   bench/trace/run.sh [-b BUILD-DIR] [-n ROUNDS] [-k LAYOUTS] [-w WORK-DIR] [-c CPU] [-i] [-s] [-l LEVELS] [-v VARIANTS] [-r]
#                      [PROGRAM...]
#
# PROGRAM: those of programs.sh (default: all of them). ROUNDS: runs of each build (default 5). LAYOUTS: orders of functions besides
# the linker's (default 4; 0: none, then with 9 rounds or more); a time is the geometric mean of their medians. WORK-DIR keeps builds
# and cores, so that a second run is short. CPU is where the programs run (default: the last). -i leaves out the instruction counts, which callgrind
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
#   cc+pt  both: what --wm=trace alone is          }
#   fixed  realistic: call-site coverage, and paths in functions of failing stacks (programs.sh says what fails)
#   tuned  the same, but chosen after building by waymark tune
#   off    everything off, cc+pt compiled in: the price of choosing
#   all    everything off, all eight schemes compiled in
#
# Tables of CPU time, instructions, peak memory (resident) and size of code, as ratios; geometric means and worst. All but times are
# of the order that the linker makes.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
rounds=5 layouts=4 counts=1 levels='O2 O0' \
	cpu=$(($(nproc) - 1)) is_old='' inputs_size=full variants='none fc cc stmt pt cc+pt fixed tuned off all'
while getopts "${work_options}n:k:c:isl:v:r" option; do
	case $option in
	n) rounds=$OPTARG ;;
	k) layouts=$OPTARG ;;
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

measure() { # PROGRAM LEVEL: lines `LEVEL PROGRAM VARIANT ms time-ratio lowest..highest instructions memory code` are its results
	local program=$1 suffix='' variant layout i=0 ms ratio range memory base_count base_size count size
	[ "$2" = O2 ] || suffix=-$2
	local -a arguments=() names=() command
	rm -f "$work/results-$program-$2"
	for variant in lto $variants; do
		build_traced "$program" "$variant$suffix" && names+=("$variant")
	done
	for ((layout = 0; layout <= layouts; layout++)); do
		for variant in "${names[@]}"; do
			set -f
			# shellcheck disable=SC2207
			command=($(command_of "$program" "$variant$suffix" "$inputs_size"))
			set +f
			[ $layout = 0 ] || command[0]=${command[0]}.$layout
			arguments+=("--$((layout * ${#names[@]}))" "${command[@]}")
		done
	done
	PAIRS_INPUT=$(input_of "$program" "$inputs_size") "$out.pairs" "$program" "$rounds" "$cpu" "${arguments[@]}" >"$out.measured" 2>"$out.errors" ||
		{ tail -n 3 "$out.errors" >&2; return 0; }
	# A line for each build, layout by layout: of each variant the mean of its ratios, and their range.
	awk -v n="${#names[@]}" '
		{
			v = (NR - 1) % n
			if (NR <= n) { lowest[v] = highest[v] = $4; kib[v] = $7 }
			ms[v] += log($3); ratio[v] += log($4)
			if ($4 < lowest[v]) lowest[v] = $4
			if ($4 > highest[v]) highest[v] = $4
		}
		END {
			for (v = 0; v < n; v++)
				printf "%.0f %.4f %.3f..%.3f %.4f\n", exp(ms[v] * n / NR), exp(ratio[v] * n / NR), lowest[v], highest[v], kib[v] / kib[0]
		}' "$out.measured" >"$out.means"
	while read -r ms ratio range memory; do
		count=0
		[ -z "$counts" ] || count=$(instructions "$program" "${names[i]}$suffix")
		size=$(code_size "$(program_of "$program" "${names[i]}$suffix")")
		[ $i != 0 ] || base_count=$count base_size=$size
		echo "$2 $program ${names[i]} $ms $ratio $range $(awk "BEGIN {
			print $base_count ? $count / $base_count : 0, $memory, $size / $base_size }")"
		i=$((i + 1))
	done <"$out.means" >"$out.ratios"
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
	range[$1, $2, $3] = $6
	value[$1, 1, $2, $3] = $5
	for (i = 2; i <= 4; i++) value[$1, i, $2, $3] = $(i + 5)
	levels[$1] = 1
}
function table(level, what,    n, m, i, j, names, list, v, sum, used, worst, worst_is, means) {
	n = split(programs[level], list, " ")
	m = split(variants[level], names, " ")
	printf "-%s, %s\n%-8s", level, title[what], "program"
	for (j = 1; j <= m; j++) printf "%8s", names[j]
	print what == 1 ? "   lto ms, tuned in each order" : ""
	for (i = 1; i <= n; i++) {
		printf "%-8s", list[i]
		for (j = 1; j <= m; j++) {
			v = value[level, what, list[i], names[j]]
			printf v ? "%8.3f" : "%8s", v ? v : "-"
		}
		print what == 1 ? "   " ms[level, list[i]] ", " range[level, list[i], "tuned"] : ""
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
