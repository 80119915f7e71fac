#!/bin/bash
# Builds real programs from Debian's sources with nothing changed but the compiler, runs their own tests, and checks contexts
# of a whole run against an independent stack walk.
#
#   run.sh [-b BUILD-DIR] [-w WORK-DIR] [-q] PROGRAM [STEP...]
#
# PROGRAM: lua, gzip, grep, sqlite3, zlib; in C++ jsoncpp, ninja. STEP (default: both):
#   tests    builds with clang-19 and with waymark cc, runs the program's own tests with both, compares the results
#   oracle   a checking build (-fno-omit-frame-pointer -fno-optimize-sibling-calls -g), a workload with oracle.c preloaded:
#            at least 10,000 captures must agree with the walk
# -q: quick, for CI: the checking build alone, whose own tests must all pass.
# WORK-DIR (default: a temporary one, removed) keeps builds, so that a second run is short.
# Exit status 77: the source cannot be had here.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=work.sh
. "$here/work.sh"
quick=
while getopts "${work_options}q" option; do
	case $option in
	q) quick=1 ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || { echo "usage: $0 [-b BUILD-DIR] [-w WORK-DIR] [-q] lua|gzip|grep|sqlite3|zlib|jsoncpp|ninja [tests] [oracle]" >&2; exit 2; }
program=$1
shift
[ $# -gt 0 ] || set -- tests oracle
open_work waymark-programs
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
export LC_ALL=C.UTF-8 WAYMARK_OUT=$work/wmk
mkdir -p "$WAYMARK_OUT"
checking='-g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls'
# Merging two calls of one function leaves DWARF one position for both; contexts still tell them apart, the walk cannot.
checking_link='-Wl,-mllvm,-enable-tail-merge=0'

# --- one block a program: compile_P DIR CC FLAGS, with LDFLAGS; own_tests_P DIR > results; workload_P PROGRAM-DIR. Those in C
# are built and tested as programs.sh says -------------------------------------------------------------------------------
programs_dir=$here
# shellcheck source=programs.sh
. "$here/programs.sh"
case $program in
jsoncpp) package=libjsoncpp ;;
ninja) package=ninja-build ;;
*) package=$(package_of "$program") ;;
esac
source=$("$here/../../scripts/fetch-source.sh" "$package") || exit $?

workload_lua() {
	"$1/src/lua" "$here/lua_check.lua" >/dev/null
}
binary_lua=src/lua every_lua=7

workload_gzip() {
	local i
	mkdir -p "$work/gz"
	for i in $(seq 60); do
		head -c $((i * 3000)) "$1/gzip" >"$work/gz/in$i"
		"$1/gzip" -k -f -$((i % 9 + 1)) "$work/gz/in$i"
		"$1/gzip" -l "$work/gz/in$i.gz" >/dev/null
		"$1/gzip" -t -v "$work/gz/in$i.gz" 2>/dev/null
		"$1/gzip" -dc "$work/gz/in$i.gz" | cmp - "$work/gz/in$i"
	done
	"$1/gzip" -dc /nonexistent 2>/dev/null || true
	"$1/gzip" --help >/dev/null
}
binary_gzip=gzip every_gzip=1

workload_grep() {
	local pattern
	for pattern in 'static' '^#[a-z]*' '\(.\)\1\1' '[[:alpha:]]\+_[0-9]' 'a.*b.*c' 'foo\|bar\|return' '\bint\b'; do
		"$1/src/grep" -c "$pattern" "$1"/src/*.c >/dev/null || true
		"$1/src/grep" -rn "$pattern" "$1/src" >/dev/null || true
		"$1/src/grep" -io "$pattern" "$1"/src/dfasearch.c >/dev/null || true
	done
	"$1/src/grep" -E '(a|b)+c{2,3}|(x(y|z))*' -r "$1/src" >/dev/null || true
	"$1/src/grep" -F -f "$1/src/Makefile.am" "$1"/src/*.c >/dev/null || true
	"$1/src/grep" '[' "$1/src/grep.c" 2>/dev/null || true
}
binary_grep=src/grep every_grep=2

workload_sqlite3() {
	# Without the allocator of its own that serves small blocks.
	"$1/sqlite3" -lookaside 0 0 ":memory:" >/dev/null 2>&1 <"$here/sqlite3_work.sql"
}
binary_sqlite3=sqlite3 every_sqlite3=1

# In C++: the compiler's other name.
cxx_of() {
	case $1 in
	*' cc') echo "${1% cc} c++" ;;
	*) echo clang++-19 ;;
	esac
}
compile_jsoncpp() { # without CMake, which needs not be installed
	(
		cd "$1"
		cxx=$(cxx_of "$2") flags="$3 -Iinclude"
		objects() { # FLAGS SOURCE...
			printf '%s\n' "${@:2}" | quietly xargs -P "$jobs" -I FILE sh -c "$cxx $1 -c FILE -o \$(echo FILE | tr / _).o"
		}
		# Its tests are four times as long as it is. For size they link in half of the time.
		objects "$flags" src/lib_json/*.cpp src/jsontestrunner/main.cpp && objects "$flags -Os" src/test_lib_json/*.cpp &&
			ar rcs libjsoncpp.a src_lib_json_*.o &&
			quietly $cxx $flags $LDFLAGS src_test_lib_json_*.o -L. -ljsoncpp -o jsoncpp_test &&
			quietly $cxx $flags $LDFLAGS src_jsontestrunner_*.o -L. -ljsoncpp -o jsontestrunner
	)
}
own_tests_jsoncpp() {
	(cd "$1" && { { ./jsoncpp_test && python3 test/runjsontests.py "$PWD/jsontestrunner" test/data; } || echo "FAIL: exit status $?"; }) 2>&1 |
		sed "s,$1,DIR,g"
}
workload_jsoncpp() {
	"$1/jsoncpp_test" >/dev/null
}
binary_jsoncpp=jsoncpp_test every_jsoncpp=1

compile_ninja() {
	(cd "$1" && quietly env CXX="$(cxx_of "$2")" CFLAGS="$3" LDFLAGS="$LDFLAGS" \
		python3 configure.py --bootstrap && quietly ./ninja -j "$jobs" ninja_test)
}
own_tests_ninja() {
	(cd "$1" && { ./ninja_test || echo "FAIL: exit status $?"; } && ./ninja -t targets all && ./ninja -t graph ninja &&
		./ninja -t query build/graph.o) 2>&1 |
		tr '\r' '\n' | sed -e "s,$1,DIR,g" -e 's/[0-9]* ms//g' -e 's/0x[0-9a-f]*/ADDRESS/g'
}
workload_ninja() {
	"$1/ninja_test" >/dev/null
}
binary_ninja=ninja_test every_ninja=1

# Its version script names symbols that the library does not define; configure builds no libz.so when the linker refuses that.
compile_zlib() {
	(cd "$1" && quietly env CC="$2" CFLAGS="$3 ${LDFLAGS:-}" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 NM=llvm-nm-19 ./configure &&
		quietly make -j "$jobs")
}
own_tests_zlib() {
	(
		cd "$1" || exit
		readelf --dyn-syms -W libz.so | awk '$4 == "FUNC" && $7 != "UND" { print $5, $6, $8 }' | LC_ALL=C sort
		for t in teststatic testshared test64; do
			make -s $t 2>&1 || echo "FAIL: exit status $?"
		done
	) | sed "s,$1,DIR,g"
}
workload_zlib() {
	local i
	for i in $(seq 300); do
		head -c $((i * 900)) "$1/libz.a" >"$work/minigzip.in"
		"$1/minigzip" -$((i % 9 + 1)) <"$work/minigzip.in" >"$work/minigzip.gz"
		"$1/minigzip" -d <"$work/minigzip.gz" | cmp - "$work/minigzip.in"
	done
}
binary_zlib=minigzip every_zlib=1

# --- steps ---------------------------------------------------------------------------------------------------------------
prepare() { # NAME CC FLAGS: builds $work/$program-NAME once
	local dir=$work/$program-$1
	# A kept build is good as long as what built it is.
	if [ -f "$dir/.built" ] && { [ "$1" = native ] || { [ "$dir/.built" -nt "$build/src/instrument/waymark-pass.so" ] &&
		[ "$dir/.built" -nt "$build/src/runtime/waymark-rt.o" ]; }; }; then
		return
	fi
	rm -rf "$dir"
	cp -a "$source" "$dir"
	local start=$SECONDS
	LDFLAGS=${3:+$checking_link} "compile_$program" "$dir" "$2" "${3:--g -O2}" || { echo "FAIL $program: does not build with $2"; return 1; }
	touch "$dir/.built"
	echo "built $program with ${2##*/} in $((SECONDS - start)) s"
}

run_tests() {
	if [ -n "$quick" ]; then
		prepare checking "$compiler cc" "$checking" || return 1
		"own_tests_$program" "$work/$program-checking" >"$work/$program.waymark.txt"
		if grep -E '^(FAIL|ERROR|XPASS):' "$work/$program.waymark.txt"; then
			echo "FAIL $program: its own tests fail"
			return 1
		fi
		if [ -f "$here/$program.expected" ] && ! diff "$here/$program.expected" "$work/$program.waymark.txt"; then
			echo "FAIL $program: not what a native build prints"
			return 1
		fi
		echo "ok   $program: own tests, $(wc -l <"$work/$program.waymark.txt") lines of results, no failure"
		return
	fi
	prepare waymark "$compiler cc" "" || return 1
	"own_tests_$program" "$work/$program-waymark" >"$work/$program.waymark.txt"
	prepare native clang-19 "" || return 1
	"own_tests_$program" "$work/$program-native" >"$work/$program.native.txt"
	if ! diff "$work/$program.native.txt" "$work/$program.waymark.txt" | head -n 20 >"$work/diff" || [ -s "$work/diff" ]; then
		cat "$work/diff"
		echo "FAIL $program: its own tests differ (< clang-19, > waymark)"
		return 1
	fi
	echo "ok   $program: own tests give the same $(wc -l <"$work/$program.waymark.txt") lines with clang-19 and with waymark"
}

run_oracle() {
	local binary every dir=$work/$program-checking
	eval "binary=\$binary_$program every=\$every_$program"
	prepare checking "$compiler cc" "$checking" || return 1
	[ -x "$work/oracle.so" ] || clang-19 -O2 -g -fPIC -shared "$here/oracle.c" -o "$work/oracle.so"
	[ -x "$work/walk" ] || clang-19 -O2 -D_GNU_SOURCE "$here/walk.c" -liberty -o "$work/walk"
	rm -f "$work/$program.log"
	mv "$dir/$binary" "$dir/$binary.real"
	# Only the program itself is preloaded, not the tools of the workload.
	printf '#!/bin/sh\nLD_PRELOAD=%s ORACLE_LOG=%s ORACLE_EVERY=%s exec %s "$@"\n' "$work/oracle.so" "$work/$program.log" \
		"$every" "$dir/$binary.real" >"$dir/$binary"
	chmod +x "$dir/$binary"
	"workload_$program" "$dir" || true
	mv "$dir/$binary.real" "$dir/$binary"
	reads "$work/$program.decoded" waymark decode --folded --exe "$dir/$binary" "$work/$program.log" || return 1
	"$work/walk" "$dir/$binary" "$work/$program.log" "$work/$program.decoded" "${MINIMUM:-10000}"
}

failed=0
for step; do
	case $step in
	tests) run_tests || failed=1 ;;
	oracle) run_oracle || failed=1 ;;
	*) echo "$0: unknown step $step" >&2; exit 2 ;;
	esac
done
exit $failed
