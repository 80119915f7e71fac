#!/bin/bash
# What tracing tells: how much of a program may have run before it crashed, by what was traced.
#
#   bench/trace/activity.sh [-b BUILD-DIR] [-w WORK-DIR] [-l LEVELS] [-v VARIANTS] [PROGRAM...]
#
# PROGRAM, WORK-DIR, LEVELS and VARIANTS are as for run.sh; programs.sh says where the programs crash: five points each. Variants
# without -v: none (stacks alone), fc, cc, stmt, pt and cc+pt of all functions, and fixed: call-site coverage, and paths in
# functions of failing stacks.
# Two tables of the share of edges, and of nodes, that may have run (yes or maybe): of the function of each frame by that
# activation, where there is a branch in it (mean of frames, then of crashes), and of the whole program (mean of crashes).
# Then how long `waymark core` takes: the longest of each program.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
levels='O2 O0' variants='none fc cc stmt pt cc+pt fixed'
while getopts "${work_options}l:v:" option; do
	case $option in
	l) levels=$OPTARG ;;
	v) variants=$OPTARG ;;
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

for level in $levels; do
	suffix=
	[ "$level" = O2 ] || suffix=-$level
	for program; do
		for variant in $variants; do
			make_cores "$program" "$variant$suffix" || continue
			file=$(program_of "$program" "$variant$suffix")
			for core in $(cores_of "$program" "$variant$suffix"); do
				"$build/bench/bench-trace-activity" "$file" "$core" >"$out.counts" || continue
				sed "s,^,$level\t$program\t$variant\t$(basename "$core")\t," "$out.counts"
				TIMEFORMAT="$level	$program	$variant	$(basename "$core")	time	%U	%S	$(stat -c %s "$file")"
				{ time "$waymark" core --format=json -o "$out.json" "$file" "$core"; } 2>"$out.time" ||
					{ echo "$program $variant: waymark core fails on core $(basename "$core")" >&2; continue; }
				cat "$out.time"
			done
		done
	done
done >"$out.results"

awk -F '\t' -v variants="$variants" '
function add(list, key, word) { if (!((key, word) in seen)) { seen[key, word] = 1; list[key] = list[key] " " word } }
function count(what, share) {
	sum[what, $1, $2, $3, $4] += share
	number[what, $1, $2, $3, $4]++
	add(crashes, $1 SUBSEP $2 SUBSEP $3, $4)
}
{ add(programs, $1, $2); levels[$1] = 1; if ($5 == "program") frames[$1, $2, $4] = $6 }
$5 == "frame" { count(1, $10 / $9); count(3, $8 / $7) }
$5 == "program" { count(2, $10 / $9); count(4, $8 / $7) }
$5 == "time" && $6 + $7 > slowest[$1, $2] { slowest[$1, $2] = $6 + $7; size[$1, $2] = $8 }
function mean(what, level, program, variant,    n, i, list, all, used) {
	n = split(crashes[level, program, variant], list, " ")
	for (i = 1; i <= n; i++)
		if (number[what, level, program, variant, list[i]]) {
			all += sum[what, level, program, variant, list[i]] / number[what, level, program, variant, list[i]]
			used++
		}
	return used ? all / used : -1
}
function table(level, what,    n, m, i, j, list, v, all, used) {
	n = split(programs[level], list, " ")
	m = split(variants, names, " ")
	printf "-%s, possible %s, percent\n%-8s", level, title[what], "program"
	for (j = 1; j <= m; j++) printf "%8s", names[j]
	print ""
	for (i = 1; i <= n; i++) {
		printf "%-8s", list[i]
		for (j = 1; j <= m; j++) {
			v = mean(what, level, list[i], names[j])
			printf v < 0 ? "%8s" : "%8.1f", v < 0 ? "-" : 100 * v
			if (v >= 0) { all[j] += v; used[j]++ }
		}
		print ""
	}
	printf "%-8s", "mean"
	for (j = 1; j <= m; j++) printf used[j] ? "%8.1f" : "%8s", used[j] ? 100 * all[j] / used[j] : "-"
	print "\n"
}
BEGIN {
	title[1] = "edges of the functions of frames"
	title[2] = "edges of the program"
	title[3] = "nodes of the functions of frames"
	title[4] = "nodes of the program"
}
END {
	for (level in levels) {
		for (what = 1; what <= 4; what++) table(level, what)
		printf "-%s, waymark core --format=json, longest\n", level
		n = split(programs[level], list, " ")
		for (i = 1; i <= n; i++) {
			most = 0
			for (c = 1; c <= 5; c++) if (frames[level, list[i], c] > most) most = frames[level, list[i], c]
			printf "%-8s %6.2f s of CPU, program of %.1f MB, up to %d frames\n", list[i], slowest[level, list[i]], size[level, list[i]] / 1e6, most
		}
		print ""
	}
}' "$out.results"
