#!/bin/bash
# What path counters cost: real programs built in eleven ways, run in turn on one CPU.
#
#   bench/paths/run.sh [-b BUILD-DIR] [-n ROUNDS] [-w WORK-DIR] [-c CPU] [-i] [-r] [-s source|final] [PROGRAM...]
#
# PROGRAM: those of tests/programs/programs.sh (default: all). ROUNDS is at least 9. WORK-DIR keeps builds, so that a second
# run is short. -i leaves out the instruction counts, which callgrind takes on smaller inputs; -s does one stage only. CPU is where
# the programs run (default: the last). -r measures nothing: it prints what was measured in WORK-DIR before.
#
#   stage source, beside clang-19 -O2          stage final, beside clang-19 -O2 -flto
#   clang-edges  -fprofile-instr-generate
#   gcc-edges    -fprofile-arcs, beside gcc -O2
#   bl-call      Ball-Larus as in the paper: arrays up to 4000 paths, else a hash table in a function of the runtime
#   bl           Ball-Larus as shipped
#   plan         preferential path profiling, all paths of the workload are interesting
#
# Prints a table for each stage, then geometric means and worst of each variant.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
rounds=9 counts=1 stages='source final' \
	cpu=$(($(nproc) - 1)) is_old=''
while getopts "${work_options}n:c:irs:" option; do
	case $option in
	n) rounds=$OPTARG ;;
	c) cpu=$OPTARG ;;
	i) counts= ;;
	r) is_old=1 ;;
	s) stages=$OPTARG ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
open_work waymark-bench
export LC_ALL=C
# shellcheck source=programs.sh
. "$here/programs.sh"
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $all_programs
[ -n "$counts" ] && command -v valgrind >/dev/null || counts=

[ -n "$is_old" ] || clang-19 -O2 "$here/../contexts/pairs.c" -o "$out.pairs"

instructions() { # PROGRAM VARIANT
	(
		set -f
		# shellcheck disable=SC2046 # commands without blanks inside words
		taskset -c "$cpu" valgrind --tool=callgrind --callgrind-out-file=/dev/null $(command_of "$1" "$2" small) 2>&1 >"$out.output" \
			<"$(input_of "$1" small)"
	) | sed -n 's/.*Collected : *\([0-9]*\).*/\1/p'
	rm -rf "${out:?}"/*
}

measure() { # PROGRAM STAGE: lines `STAGE PROGRAM VARIANT ms ratio middle-half instruction-ratio` are its results
	local program=$1 variants variant i=0 base ratio_of
	case $2 in
	source) variants='native clang-edges gcc gcc-edges bl-call bl plan' ;;
	final) variants='lto final-bl-call final-bl final-plan' ;;
	esac
	local -a arguments=() names=() bases=() executed=()
	rm -f "$work/results-$program-$2"
	for variant in $variants; do
		build_variant "$program" "$variant" || return 0
		ratio_of=0
		[ "$variant" != gcc-edges ] || ratio_of=2
		set -f
		# shellcheck disable=SC2207
		arguments+=("--$ratio_of" $(command_of "$program" "$variant" full))
		set +f
		names+=("$variant")
		bases+=("$ratio_of")
	done
	PAIRS_INPUT=$(input_of "$program" full) PAIRS_CLEAN=$out \
		"$out.pairs" "$program" "$rounds" "$cpu" "${arguments[@]}" >"$out.measured" 2>"$out.errors" ||
		{ tail -n 3 "$out.errors" >&2; return 0; }
	for variant in "${names[@]}"; do
		if [ -n "$counts" ]; then
			executed+=("$(instructions "$program" "$variant")")
		else
			executed+=(0)
		fi
	done
	while read -r _ _ ms ratio low high _; do
		base=${executed[${bases[i]}]}
		echo "$2 $program ${names[i]#final-} $ms $ratio $low..$high $(awk "BEGIN { print $base ? ${executed[i]} / $base : 0 }")"
		i=$((i + 1))
	done <"$out.measured" >"$work/results-$program-$2"
}

for program; do
	for stage in $stages; do
		[ -n "$is_old" ] || measure "$program" "$stage"
		[ ! -f "$work/results-$program-$stage" ] || cat "$work/results-$program-$stage"
	done
	rm -rf "${out:?}"/*
done >"$out.results"

awk -v rounds="$rounds" '
{
	stage = $1; program = $2; variant = $3
	if (!((stage, program) in seen)) {
		seen[stage, program] = 1
		list[stage] = list[stage] " " program
	}
	if (!((stage, variant) in known)) {
		known[stage, variant] = 1
		variants[stage] = variants[stage] " " variant
	}
	ms[stage, program, variant] = $4
	ratio[stage, program, variant] = $5
	middle[stage, program, variant] = $6
	count[stage, program, variant] = $7
}
function summary(stage, variant, values, programs, n, i, sum, worst, used, where) {
	for (i = 1; i <= n; i++)
		if ((stage, programs[i], variant) in values && values[stage, programs[i], variant] > 0) {
			sum += log(values[stage, programs[i], variant])
			used++
			if (values[stage, programs[i], variant] > worst) {
				worst = values[stage, programs[i], variant]
				where = programs[i]
			}
		}
	mean = used ? exp(sum / used) : 0
	return used ? sprintf("%.3f (worst %.3f, %s)", mean, worst, where) : "-"
}
END {
	for (s = 1; s <= 2; s++) {
		stage = s == 1 ? "source" : "final"
		if (!(stage in list))
			continue
		base = stage == "source" ? "native" : "lto"
		n = split(list[stage], programs, " ")
		m = split(variants[stage], names, " ")
		printf "stage %s: CPU time, median ratio of %d rounds (middle half); instructions\n\n%-14s %9s", stage, rounds, "program", base " ms"
		for (j = 1; j <= m; j++)
			if (names[j] != base && names[j] != "gcc")
				printf "   %-27s", names[j]
		printf "\n"
		for (i = 1; i <= n; i++) {
			printf "%-14s %9.0f", programs[i], ms[stage, programs[i], base]
			for (j = 1; j <= m; j++)
				if (names[j] != base && names[j] != "gcc")
					printf "   %.3f (%s) %6.3f", ratio[stage, programs[i], names[j]], middle[stage, programs[i], names[j]],
						count[stage, programs[i], names[j]]
			printf "\n"
		}
		printf "\n%-14s %-44s %s\n", "variant", "time: geometric mean", "instructions: geometric mean"
		for (j = 1; j <= m; j++)
			if (names[j] != base && names[j] != "gcc") {
				time = summary(stage, names[j], ratio, programs, n)
				means[names[j]] = mean
				executed = summary(stage, names[j], count, programs, n)
				executions[names[j]] = mean
				printf "%-14s %-44s %s\n", names[j], time, executed
			}
		if (means["bl-call"] > 1)
			printf "overhead of plan / overhead of bl-call: time %.2f", (means["plan"] - 1) / (means["bl-call"] - 1)
		if (executions["bl-call"] > 1)
			printf ", instructions %.2f", (executions["plan"] - 1) / (executions["bl-call"] - 1)
		printf "\n\n"
	}
}' "$out.results"
