#!/bin/bash
# How compact preferential path numbers are: alpha of each function beside the number of its interesting paths.
#
#   bench/paths/alpha.sh [-b BUILD-DIR] [-w WORK-DIR] [-o SVG] [PROGRAM...]
#
# PROGRAM: those of tests/programs/programs.sh (default: all), built with all paths of run.sh's workload as interesting ones
# (source stage), and with `--wm-path-array=1`, so that all functions with more than one path are numbered for the plan. alpha is
# the interval of the numbers of interesting paths / their count: 1 when no number is wasted. Functions count that ran more
# than one path; of one path alpha is always 1. WORK-DIR may be run.sh's. Prints a table, and draws SVG: a dot for each pair
# of alpha and count, larger when more functions share it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
svg=''
while getopts "${work_options}o:" option; do
	case $option in
	o) svg=$OPTARG ;;
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

points=$work/alpha.points # PROGRAM INTERESTING ALPHA FUNCTION, or ALPHA - when the plan could not be kept
: >"$points"
for program; do
	build_variant "$program" plan-all || continue
	rm -rf "${out:?}"/*
	(
		set -f
		# shellcheck disable=SC2046 # commands without blanks inside words
		exec $(command_of "$program" plan-all small) <"$(input_of "$program" small)" >"$out.output" 2>"$out.errors"
	) || [ $? -eq 1 ] || { echo "$program: fails"; continue; }
	"$waymark" paths --format=json --top=1 "$out"/*.wmk |
		awk -v program="$program" '
			/^    \{"name": / { split($0, part, "\""); name = part[4] }
			/"kind": "/ { is_array = /"kind": "array"/ }
			/"interesting": / {
				match($0, /"interesting": [0-9]+/)
				count = substr($0, RSTART + 15, RLENGTH - 15)
				alpha = "-"
				if (match($0, /"alpha": [0-9.e+]+/))
					alpha = substr($0, RSTART + 9, RLENGTH - 9)
				if (count > 1)
					print program, count, alpha, name
			}' >>"$points"
	rm -rf "${out:?}"/*
done

# One row for each range of counts: functions, share with alpha 1 and below 1.5, the worst.
awk '
function row(label, k) {
	if (n[k])
		printf "%-18s %9d %8.1f %% %8.1f %% %8.2f  %s\n", label, n[k], 100 * one[k] / n[k], 100 * low[k] / n[k], worst[k], where[k]
}
$3 == "-" { left++; next }
{
	for (k = 1; 2 ^ (k + 1) <= $2; k++)
		;
	for (i = 0; i <= k; i += k) {
		n[i]++
		one[i] += $3 == 1
		low[i] += $3 < 1.5
		if ($3 > worst[i]) {
			worst[i] = $3
			where[i] = $1 ": " $4
		}
	}
	last = k > last ? k : last
}
END {
	printf "%-18s %9s %10s %10s %8s\n", "interesting paths", "functions", "alpha = 1", "< 1.5", "worst"
	for (k = 1; k <= last; k++)
		row(2 ^ k " to " 2 ^ (k + 1) - 1, k)
	row("all", 0)
	if (left)
		print left " more have no numbers for the plan: their interesting paths do not pack into a table"
}' "$points"

[ -n "$svg" ] || exit 0
awk '
function x_of(count) { return left + (right - left) * log(count / 2) / log(most / 2) }
function y_of(alpha) { return bottom - (bottom - top) * log(alpha) / log(worst) }
$3 == "-" { next }
{
	at[$2 " " $3]++
	functions++
	low += $3 < 1.5
	if (!($1 in programs)) {
		programs[$1]
		program_count++
	}
	most = $2 > most ? $2 : most
	worst = $3 > worst ? $3 : worst
}
END {
	left = 70; right = 760; top = 60; bottom = 400
	for (limit = 4; limit < most; limit *= 2)
		;
	most = limit
	worst = worst < 2 ? 2 : worst * 1.1
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 460\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">"
	print "<title>Alpha of functions by number of interesting paths</title>"
	print "<rect width=\"800\" height=\"460\" fill=\"#fff\"/>"
	printf "<text x=\"%d\" y=\"24\" font-size=\"16\" font-weight=\"bold\">How compact preferential path numbers are</text>\n", left
	printf "<text x=\"%d\" y=\"44\">%d functions of %d programs; alpha is below 1.5 for %.1f %% of them</text>\n", left, functions,
		program_count, 100 * low / functions
	for (count = 2; count <= most; count *= 2) {
		printf "<path d=\"M%.1f %d V%d\" stroke=\"#e4e4e4\"/>", x_of(count), top, bottom
		printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", x_of(count), bottom + 20, count
	}
	n = split("1 1.25 1.5 2 3 4 6 8 12 16 24 32 64 128 256 512 1024", ticks, " ")
	for (i = 1; i <= n; i++)
		if (ticks[i] <= worst) {
			printf "<path d=\"M%d %.1f H%d\" stroke=\"%s\"/>", left, y_of(ticks[i]), right, ticks[i] == 1.5 ? "#c44\" stroke-dasharray=\"5 4" : "#e4e4e4"
			printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", left - 14, y_of(ticks[i]) + 4, ticks[i]
		}
	printf "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">interesting paths of the function (all that ran)</text>\n", (left + right) / 2, bottom + 44
	printf "<text transform=\"translate(22 %d) rotate(-90)\" text-anchor=\"middle\">alpha: interval / interesting paths</text>\n", (top + bottom) / 2
	fflush()
	for (point in at) {
		split(point, part, " ")
		printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#2465a8\" fill-opacity=\"0.55\"/>\n", x_of(part[1]), y_of(part[2]),
			2.5 + log(at[point]) * 1.3 | "sort"
	}
	close("sort")
	print "</svg>"
}' "$points" >"$svg"
