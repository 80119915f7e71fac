#!/bin/bash
# What tracing is worth to slices: backward slices from where programs crash, of all code, of what leads to the stack, and of what ran by each
# tracing scheme (the tables of Ohmann and Liblit, ASE journal 2017, section 6).
#
#   bench/slice/schemes.sh [-b BUILD-DIR] [-w WORK-DIR] [-l LEVELS] [-s STAGES] [-m MSTEPS] [-r] [PROGRAM...]
#
# PROGRAM, WORK-DIR and LEVELS are as for bench/trace/run.sh, whose programs.sh builds the programs and says where they crash: five points each,
# the same for all levels and stages. gawk is among them, too. STAGES: 'final source', or one of them. Programs are built with stmt+pt; facts that
# another scheme would not have are taken away (schemes.c). An analysis or a slice may need MSTEPS million steps (default: as `waymark core --slice`);
# else a coarse one takes its place. -r measures nothing: it prints what was measured in WORK-DIR before.
#
# The results are WORK-DIR/schemes.tsv, a line for each slice: LEVEL STAGE PROGRAM CRASH, then what schemes.c prints. tables.py makes the tables.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
levels='O2 O0' stages='final source' msteps='' is_old=''
while getopts "${work_options}l:s:m:r" option; do
	case $option in
	l) levels=$OPTARG ;;
	s) stages=$OPTARG ;;
	m) msteps=$OPTARG ;;
	r) is_old=1 ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
open_work waymark-bench
export LC_ALL=C
tables=$here/tables.py results=$work/schemes.tsv
if [ -n "$is_old" ]; then
	exec "$tables" "$results"
fi
here=$here/../trace wanted=${*:-all}
# shellcheck source=../trace/programs.sh
. "$here/programs.sh"
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $traced gawk

# A program's results take the place of those that were there before.
measure() { # PROGRAM LEVEL STAGE
	local variant=stmt+pt core file
	[ "$3" = final ] || variant=source-$variant
	[ "$2" = O2 ] || variant=$variant-$2
	make_cores "$1" "$variant" || echo "$1 $variant: fewer crashes than points" >&2
	[ -d "$work/$1-cores.$variant" ] || return 0
	file=$(program_of "$1" "$variant")
	for core in $(cores_of "$1" "$variant"); do
		"$build/bench/bench-slice-schemes" "$file" "$core" ${msteps:+"$msteps"} >"$out.slices" || echo "$1 $variant, core $(basename "$core"): not all slices" >&2
		sed "s,^,$2\t$3\t$1\t$(basename "$core")\t," "$out.slices"
	done >"$out.results"
	touch "$results"
	awk -F '\t' -v level="$2" -v stage="$3" -v program="$1" '!($1 == level && $2 == stage && $3 == program)' "$results" >"$out.others"
	cat "$out.others" "$out.results" >"$results"
}

for level in $levels; do
	for stage in $stages; do
		for program; do
			measure "$program" "$level" "$stage"
		done
	done
done
"$tables" "$results"
