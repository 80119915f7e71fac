#!/bin/bash
# Tables 1 and 2 of the PCCE paper (ICSE'10) for real programs: how their calls are encoded, and how deep contexts are.
#
#   bench/contexts/table.sh [-b BUILD-DIR] [-w WORK-DIR] [-s] [PROGRAM...]
#
# PROGRAM: those of ../paths/programs.sh that are one file, and redis, nginx and git, which are built as for size.sh and do what
# work.sh says (default: all of them). Table 1 has what is linked: lines of the program's
# own source files, what waymark graph says. Table 2 has the contexts of all allocations of one run (waymark run --heap), with the
# inputs of the benchmarks, small ones with -s: entries of the context stack, the call of malloc being one, beside frames; the most,
# and what suffices for 90 % of the allocations. WORK-DIR keeps builds.
set -eu

contexts_dir=$(cd "$(dirname "$0")" && pwd)
here=$contexts_dir/../paths
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
inputs_size=full
while getopts "${work_options}s" option; do
	case $option in
	s) inputs_size=small ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
open_work waymark-bench
export LC_ALL=C
# shellcheck source=../paths/programs.sh
. "$here/programs.sh"
# shellcheck source=programs.sh
. "$contexts_dir/programs.sh"
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- gzip grep sed gawk lua sqlite3 zstd bc flex ccrypt gnugo perl redis nginx git

# Of what is linked: not what configure compiled and threw away.
source_lines() { # FILE DIR
	llvm-dwarfdump-19 --show-sources "$1" | sort -u | grep "^$2/" | grep -E '\.(c|h|y|l|def)$' |
		while read -r file; do [ ! -f "$file" ] || cat "$file"; done | wc -l
}
number() { # KEY: from what waymark graph says in $out.graph; null: more than 64 bits
	sed -n "s/.*\"$1\": \([0-9]*\|null\).*/\1/p" "$out.graph" | sed 's/null/over 64 bits/'
}

: >"$out.static"
: >"$out.dynamic"
for program; do
	case $program in
	redis | nginx | git)
		build_with "$program" waymark || continue
		dir=$work/$program-waymark
		file=$dir/$(files_of "$program")
		command=("$contexts_dir/work.sh" "$program" "$file" "$out.$program" "$inputs_size")
		;;
	*)
		build_variant "$program" contexts || continue
		dir=$work/$program-contexts
		set -f
		# shellcheck disable=SC2207 # commands without blanks inside words
		command=($(command_of "$program" contexts "$inputs_size"))
		set +f
		file=${command[0]}
		;;
	esac
	"$waymark" graph --format=json "$file" >"$out.graph"
	{
		printf '%s\t%s' "$program" "$(source_lines "$file" "$dir")"
		for key in functions edges back_edges indirect_sites foreign_sites max_id ball_larus_max_id cut_nodes; do
			printf '\t%s' "$(number $key)"
		done
		echo
	} >>"$out.static"
	rm -rf "${out:?}"/*
	"$waymark" run -q --heap -o "$out/" "${command[@]}" <"$(input_of "$program" "$inputs_size")" >"$out.output" 2>"$out.errors" ||
		[ $? -eq 1 ] || { tail -n 3 "$out.errors" >&2; continue; }
	printf '%s\t%s\n' "$program" "$("$build/bench/bench-context-depths" "$out"/*.wmk)" >>"$out.dynamic"
done

awk -F '\t' '
BEGIN { printf "%-9s %8s %6s %6s %10s %10s %8s %20s %20s %9s\n", "program", "lines", "nodes", "edges", "back edges", "indirect", "foreign", "max id", "Ball-Larus max id", "cut nodes" }
{ printf "%-9s %8d %6d %6d %10d %10d %8d %20s %20s %9d\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 }' "$out.static"
echo
awk -F '\t' '
BEGIN { printf "%-9s %9s %12s %12s %12s %12s %12s\n", "program", "contexts", "allocations", "entries max", "90 %", "frames max", "90 %" }
{ printf "%-9s %9d %12d %12d %12d %12d %12d\n", $1, $2, $3, $4, $5, $6, $7 }' "$out.dynamic"
