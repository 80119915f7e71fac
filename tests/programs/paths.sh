#!/bin/bash
# Paths of real programs, built from Debian's sources with nothing changed but the compiler.
#
#   paths.sh [-b BUILD-DIR] [-w WORK-DIR] PROGRAM... [-- STEP...]
#
# PROGRAM: those of programs.sh, or all. STEP (default: tests lines-O0 lines-O2; both-O0 and both-O2 where lines cannot be):
#   tests      builds with clang-19 and with `waymark cc --wm=paths`, runs the program's own tests with both: the results are the same
#   lines-O0   builds at -O0 with `waymark cc --wm=paths` and with clang's own coverage, runs the same workload with both, and
#   lines-O2   compares the counts of each line that both count (compare_lcov.awk); lines-O2 the same at -O2
#   flat-O0    as lines, of the preprocessed source, where no macro hides a branch from clang's line counts (flat-cc.sh; not
#   flat-O2    sqlite3, whose makefile compiles and links at once)
#   both-O0    as lines, but both kinds of counters are in one program and count the same run: for programs whose control
#   both-O2    flow depends on addresses (Lua and Perl hash them) or on the environment, to which clang's runtime adds (gawk)
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
open_work waymark-paths
# shellcheck source=tests/support/twice.sh
. "$programs_dir/../support/twice.sh"
mkdir -p "$work/bin"
export LC_ALL=C.UTF-8

# shellcheck source=programs.sh
. "$programs_dir/programs.sh"

programs= steps=
while [ $# -gt 0 ]; do
	case $1 in
	--) shift; steps=$*; break ;;
	all) programs=$all_programs ;;
	*) programs="$programs $1" ;;
	esac
	shift
done
[ -n "$programs" ] || { echo "usage: $0 [-b BUILD-DIR] [-w WORK-DIR] PROGRAM... [-- STEP...]; programs: $all_programs" >&2; exit 2; }

# Clang's coverage believes that a call of a _Noreturn function returns, of one with the attribute not; and it leaves out a
# condition that begins with a macro of a system header, like errno.
coverage="-fprofile-instr-generate -fcoverage-mapping -mllvm -system-headers-coverage '-D_Noreturn=__attribute__((__noreturn__))'"
# Compilers by one word each: some configure scripts and makefiles quote $CC badly.
compiler() { # NAME COMMAND
	printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$work/bin/$1.new"
	chmod +x "$work/bin/$1.new"
	mv "$work/bin/$1.new" "$work/bin/$1"
}
compiler cc-native clang-19
compiler cc-paths "'$compiler' cc --wm=paths"
compiler cc-coverage "clang-19 $coverage"
compiler cc-both "'$compiler' cc --wm=paths $coverage"

for variant in paths coverage; do
	compiler cc-$variant-flat "'$programs_dir/flat-cc.sh' '$work/bin/cc-$variant'"
done

prepare() { # VARIANT O-LEVEL: builds $work/VARIANT-LEVEL/$program once; the path has no blanks
	local dir=$work/$1-$2/$program start=$SECONDS
	if [ -f "$dir/.built" ] && { [ "$1" = native ] || [ "${1%-*}" = coverage ] ||
		{ [ "$dir/.built" -nt "$build/src/instrument/waymark-pass.so" ] &&
			[ "$dir/.built" -nt "$build/src/runtime/waymark-rt.o" ]; }; }; then
		return
	fi
	rm -rf "$dir"
	mkdir -p "$work/$1-$2"
	cp -a "$source" "$dir"
	# What configure's tests and the build's own tools record is not wanted.
	mkdir -p "$work/unwanted.$program"
	mkdir -p "$work/cache"
	configure_cache=$work/cache/$program LLVM_PROFILE_FILE=/dev/null WAYMARK_OUT=$work/unwanted.$program "compile_$program" "$dir" "$work/bin/cc-$1" "-g -$2" ||
		{ echo "FAIL $program: does not build ($1, -$2)"; return 1; }
	rm -rf "$work/unwanted.$program"
	touch "$dir/.built"
	echo "     $program: built in $((SECONDS - start)) s ($1, -$2)"
}

run_tests() {
	local variant results=$work/results
	mkdir -p "$results"
	for variant in native paths; do
		prepare $variant O2 || return 1
		mkdir -p "$work/unwanted.$program"
		local start=$SECONDS
		WAYMARK_OUT=$work/unwanted.$program "own_tests_$program" "$work/$variant-O2/$program" |
			sed "s,$work/$variant-O2,WORK,g" >"$results/$program.$variant.txt"
		rm -rf "$work/unwanted.$program"
		echo "     $program: own tests took $((SECONDS - start)) s ($variant)"
	done
	if ! diff "$results/$program.native.txt" "$results/$program.paths.txt" >"$results/$program.diff"; then
		head -n 20 "$results/$program.diff"
		echo "FAIL $program: its own tests differ (< clang-19, > waymark)"
		return 1
	fi
	echo "ok   $program: own tests give the same $(wc -l <"$results/$program.native.txt") lines with clang-19 and with waymark"
}

record() { # VARIANT LEVEL: runs the workload, leaves profiles in $work/data/$program-VARIANT-LEVEL
	local data=$work/data/$program-$1-$2 scratch=$work/scratch/$program
	rm -rf "$data" "$scratch"
	mkdir -p "$data" "$scratch"
	(
		export LLVM_PROFILE_FILE="$data/%p-%m.profraw" WAYMARK_OUT=$data
		"workload_$program" "$work/$1-$2/$program" "$source" "$scratch"
	)
	rm -rf "$scratch"
}

export_of_clang() { # VARIANT LEVEL FORMAT
	local dir=$work/$1-$2/$program data=$work/data/$program-$1-$2 image objects=
	for image in $images; do
		objects="$objects ${objects:+-object }$dir/$image"
	done
	find "$data" -name '*.profraw' >"$data/list"
	llvm-profdata-19 merge -sparse --input-files="$data/list" -o "$data/clang.profdata" 2>"$data/err" || { cat "$data/err" >&2; return 1; }
	# shellcheck disable=SC2086 # a list
	llvm-cov-19 export -format=$3 -skip-expansions -instr-profile="$data/clang.profdata" $objects 2>"$data/err" || { cat "$data/err" >&2; return 1; }
}

facts_of_waymark() { # from its JSON, which has a line for each block
	awk -v OFS='\t' '
		function text(key) { return match($0, "\"" key "\": \"[^\"]*") ? substr($0, RSTART + length(key) + 5, RLENGTH - length(key) - 5) : "" }
		function number(key) { return match($0, "\"" key "\": [0-9]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : "" }
		function flush_function(    position) { # the same code in several blocks counts once, in several functions (inline ones) it adds up
			for (position in most) sum[position] += most[position]
			delete most
		}
		/^    {"name": / { flush_function(); name = text("link_name"); file = text("file") }
		/"unfinished": / && name != "" { if (number("unfinished") > 0) print "unfinished", number("unfinished"), name, file; name = "" }
		/^       {"count": [0-9]+, "lines": / {
			count = number("count") + 0
			n = split($0, part, "{")
			for (i = 3; i <= n; i++) {
				$0 = part[i]
				where = text("file")
				position = (where == "" ? file : where) OFS number("line") OFS number("column") + 0
				if (!(position in most) || count > most[position]) most[position] = count
			}
		}
		END { flush_function(); for (position in sum) print "code", position, sum[position] }'
}

facts_of_clang() { # from llvm-cov's JSON: segments are [line, column, count, counted, ...], regions [line, column, line, column,
	# count, file, expanded file, kind], of which kind 1 is a macro
	awk -v OFS='\t' -v RS=']' '
		/"filename":"/ { match($0, /"filename":"[^"]*/); source = substr($0, RSTART + 12, RLENGTH - 12) }
		/"filenames":/ {
			sub(/.*"filenames":\[/, "")
			delete file
			count = split($0, part, "\"")
			for (i = 2; i <= count; i += 2) file[i / 2 - 1] = part[i]
			next
		}
		/\[[0-9,]+(true|false),(true|false),(true|false)$/ {
			sub(/.*\[/, "")
			split($0, f, ",")
			print "segment", source, f[1], f[2], f[3]
			next
		}
		/\[[0-9,]+$/ { sub(/.*\[/, ""); if (split($0, f, ",") == 8 && f[8] == 1) print "macro", file[f[6]], f[1], f[3] }'
}

compare_lines() { # VARIANT-OF-CLANG VARIANT-OF-WAYMARK LEVEL
	local out=$work/lines/$program-$2-$3 variant
	mkdir -p "$work/lines"
	for variant in $(printf '%s\n' "$1" "$2" | sort -u); do
		prepare "$variant" "$3" || return 1
		record "$variant" "$3" || { echo "FAIL $program: the workload fails ($variant, -$3)"; return 1; }
	done
	export_of_clang "$1" "$3" lcov >"$out.clang.info" || return 1
	export_of_clang "$1" "$3" text >"$out.clang.json" || return 1
	reads "$out.waymark.info" waymark paths --format=lcov "$work/data/$program-$2-$3"/*.wmk || return 1
	reads "$out.json" waymark paths --format=json "$work/data/$program-$2-$3"/*.wmk || return 1
	{
		facts_of_waymark <"$out.json" && facts_of_clang <"$out.clang.json"
		[ "${2%-flat}" != "$2" ] || find "$source" -name '*.[ch]' -exec sed -n 's/^[ \t]*#[ \t]*define[ \t]*\([a-zA-Z0-9_]*\)[ \t(].*/define\t\1/p' {} +
	} >"$out.facts"
	local status=ok
	awk -v sources="$sources" -v unstable="$unstable" -f "$programs_dir/compare_lcov.awk" "$out.facts" "$out.clang.info" "$out.waymark.info" \
		>"$out.txt" || status=FAIL
	sed '$d' "$out.txt"
	echo "$status   $program, -$3 ($2): $(tail -n 1 "$out.txt")"
	[ $status = ok ]
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
	plain=${program//-/_}
	eval "images=\$images_$plain sources=\$sources_$plain unstable=\${unstable_$plain:-}"
	case $program in
	lua | perl | gawk) default='tests both-O0 both-O2' ;;
	*) default='tests lines-O0 lines-O2' ;;
	esac
	for step in ${steps:-$default}; do
		case $step in
		tests) run_tests || failed=1 ;;
		lines-O0) compare_lines coverage paths O0 || failed=1 ;;
		lines-O2) compare_lines coverage paths O2 || failed=1 ;;
		flat-O0) compare_lines coverage-flat paths-flat O0 || failed=1 ;;
		flat-O2) compare_lines coverage-flat paths-flat O2 || failed=1 ;;
		both-O0) compare_lines both both O0 || failed=1 ;;
		both-O2) compare_lines both both O2 || failed=1 ;;
		*) echo "$0: unknown step $step" >&2; exit 2 ;;
		esac
	done
done
[ $failed = 1 ] || [ $skipped != "$(echo "$programs" | wc -w)" ] || exit 77
exit $failed
