#!/bin/bash
# What hybrid encoding (--wm-hybrid) saves: how many calls need code, and how many instructions programs execute, beside explicit encoding.
#
#   bench/contexts/hybrid.sh [-b BUILD-DIR] [-w WORK-DIR] [-f] [PROGRAM...]
#
# PROGRAM: those of ../paths/programs.sh that are one file, and mawk (default: fifteen of them). Inputs are the small ones, -f: the large ones.
# Instructions are counted by callgrind, as the machine may have other work: ratios to the program without contexts, built in the same way.
# WORK-DIR keeps builds.
#
#   edges         calls of functions of the graph that are not pushed, in explicit and in hybrid encoding
#   code          the share of them that needs code
#   pushed        calls of functions of the graph that push
#   saved         of the instructions that contexts add
set -eu

contexts_dir=$(cd "$(dirname "$0")" && pwd)
here=$contexts_dir/../paths
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
inputs_size=small
while getopts "${work_options}f" option; do
	case $option in
	f) inputs_size=full ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
open_work waymark-bench
export LC_ALL=C
# shellcheck source=../paths/programs.sh
. "$here/programs.sh"
[ $# -gt 0 ] || set -- gzip bzip2 grep sed mawk lua bc flex gawk perl sqlite3 zstd ccrypt gnugo link-grammar

number() { # FILE KEY: from what waymark graph says
	"$waymark" graph --format=json "$1" | sed -n "s/.*\"$2\": \([0-9]*\|null\).*/\1/p"
}
instructions() { # COMMAND...; of all its processes
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$out.valgrind" "$@" <"$input" >"$out.output" 2>"$out.errors" || [ $? -eq 1 ]
	awk '/Collected :/ { n += $NF } END { printf "%.0f\n", n }' "$out.valgrind"
}

printf '%-13s %7s %7s  %7s %7s  %7s %7s  %9s %9s  %7s\n' program edges edges code code pushed pushed contexts hybrid saved
printf '%-13s %7s %7s  %7s %7s  %7s %7s  %9s %9s  %7s\n' '' plain hybrid plain hybrid plain hybrid ratio ratio ''
for program; do
	row=$program
	for variant in lto contexts hybrid; do
		build_variant "$program" $variant || continue 2
	done
	input=$(input_of "$program" $inputs_size)
	set -f
	edges='' code='' pushed='' counts=''
	for variant in lto contexts hybrid; do
		# shellcheck disable=SC2207 # commands without blanks inside words
		command=($(command_of "$program" $variant $inputs_size))
		counts="$counts $(instructions "${command[@]}")"
		rm -rf "${out:?}"/*
		[ $variant = lto ] && continue
		all=$(number "${command[0]}" edges)
		push=$(($(number "${command[0]}" back_edges) + $(number "${command[0]}" cut_edges)))
		zero=$(number "${command[0]}" zero_edges)
		edges="$edges $((all - push))" pushed="$pushed $push" code="$code $((all - push - zero))"
	done
	set +f
	echo "$row $edges $code $pushed $counts" | awk '
		{ printf "%-13s %7d %7d  %6.1f%% %6.1f%%  %7d %7d  %9.4f %9.4f  %6.2f%%\n", $1, $2, $3, 100 * $4 / ($2 + !$2), 100 * $5 / ($3 + !$3),
			$6, $7, $9 / $8, $10 / $8, 100 * ($9 - $10) / ($9 - $8 + !($9 - $8)) }'
done
