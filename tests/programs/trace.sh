#!/bin/bash
# Traced real programs, built from Debian's sources with nothing changed but the compiler, do what they do without.
#
#   trace.sh [-b BUILD-DIR] [-w WORK-DIR] PROGRAM... [-- VARIANT...]
#
# PROGRAM: those of programs.sh, or all. Each is built with clang-19 and with `waymark cc --wm=trace=...`, and its own tests are
# run with both: the results are the same. VARIANT (default: stmt+pt choice O0; in this order):
#   stmt+pt, cc+pt   everything is traced so, -O2
#   choice           *=none|cc+pt, -O2, and WAYMARK_SCHEME turns all of it on
#   all              all schemes compiled in, -O2, and WAYMARK_SCHEME gives them to functions by their names
#   O0               *=stmt+pt, -O0
#   source           *=stmt+pt at stage source, -O2
# WORK-DIR (default: a temporary one, removed) keeps builds, so that a second run is short.
# Exit status 77: no source can be had here.
set -eu

programs_dir=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=work.sh
. "$programs_dir/work.sh"
while getopts "$work_options" option; do
	work_option "$option"
done
shift $((OPTIND - 1))
open_work waymark-trace
mkdir -p "$work/bin" "$work/cache" "$work/results"
export LC_ALL=C.UTF-8

# shellcheck source=programs.sh
. "$programs_dir/programs.sh"

programs= variants='stmt+pt choice O0'
while [ $# -gt 0 ]; do
	case $1 in
	--) shift; variants=$*; break ;;
	all) programs="$all_programs $trace_programs" ;;
	*) programs="$programs $1" ;;
	esac
	shift
done
[ -n "$programs" ] || { echo "usage: $0 [-b BUILD-DIR] [-w WORK-DIR] PROGRAM... [-- VARIANT...]; programs: $all_programs $trace_programs" >&2; exit 2; }

compiler() { # VARIANT: one word, since some configure scripts and makefiles quote $CC badly
	local command="'$waymark' cc '--wm=trace=*=stmt+pt'"
	case $1 in
	native*) command=clang-19 ;;
	cc+pt) command="'$waymark' cc '--wm=trace=*=cc+pt'" ;;
	choice) command="'$waymark' cc '--wm=trace=*=none|cc+pt'" ;;
	all) command="'$waymark' cc '--wm=trace=*=none|fc|cc|fc+cc|stmt|pt|fc+pt|cc+pt|fc+cc+pt|stmt+pt'" ;;
	source) command="$command --wm-stage=source" ;;
	stmt+pt | O0) ;;
	*) echo "$0: unknown variant $1" >&2; exit 2 ;;
	esac
	printf '#!/bin/sh\nexec %s "$@"\n' "$command" >"$work/bin/cc-$1"
	chmod +x "$work/bin/cc-$1"
}
scheme_of() { # VARIANT: what runs
	case $1 in
	choice) echo '*=cc+pt' ;;
	all) echo '[a-b]*=stmt+pt;c*=fc+cc;d*=cc+pt;e*=fc+cc+pt;[f-g]*=fc+pt;[h-l]*=pt;[m-p]*=stmt;[q-r]*=cc;s*=fc' ;;
	esac
}

# DWARF 4: some tests run their program in valgrind, and that of Debian 12 does not read DWARF 5.
results() { # VARIANT: builds it if need be; $work/results/PROGRAM.VARIANT are the results of the program's tests
	local dir=$work/$1/$program level=-O2 start=$SECONDS
	case $1 in *O0) level=-O0 ;; esac
	compiler "$1"
	if [ ! -f "$dir/.built" ] || { [ "$build/src/instrument/waymark-pass.so" -nt "$dir/.built" ] && [ "${1#native}" = "$1" ]; }; then
		rm -rf "$dir"
		mkdir -p "$work/$1"
		cp -a "$source" "$dir"
		configure_cache=$work/cache/$program "compile_$program" "$dir" "$work/bin/cc-$1" "-g -gdwarf-4 $level" ||
			{ echo "FAIL $program: does not build ($1)"; return 1; }
		touch "$dir/.built"
		rm -f "$work/results/$program.$1"
	fi
	local built=$SECONDS
	[ ! -s "$work/results/$program.$1" ] || return 0
	WAYMARK_SCHEME=$(scheme_of "$1") "own_tests_$program" "$dir" | sed "s,$work/$1,WORK,g" >"$work/results/$program.$1"
	echo "     $program: built in $((built - start)) s, own tests took $((SECONDS - built)) s ($1)"
}

failed=0 skipped=0
for program in $programs; do
	declare -F "compile_$program" >/dev/null || { echo "$0: unknown program $program" >&2; exit 2; }
	source=$("$programs_dir/../../scripts/fetch-source.sh" "$(package_of "$program")") || {
		[ $? = 77 ] || exit 1
		echo "skip $program: no source"
		skipped=$((skipped + 1))
		continue
	}
	for variant in $variants; do
		native=native
		[ "$variant" != O0 ] || native="native-O0"
		results $native && results "$variant" || { failed=1; continue; }
		if diff "$work/results/$program.$native" "$work/results/$program.$variant" >"$work/results/$program.diff"; then
			echo "ok   $program: own tests give the same $(wc -l <"$work/results/$program.$native") lines with clang-19 and traced ($variant)"
		else
			head -n 20 "$work/results/$program.diff"
			echo "FAIL $program: its own tests differ (< clang-19, > traced: $variant)"
			failed=1
		fi
	done
done
[ $failed = 1 ] || [ $skipped != "$(echo "$programs" | wc -w)" ] || exit 77
exit $failed
