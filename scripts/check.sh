#!/bin/bash
# check.sh [--fast] - builds Waymark in build/ and runs every check; the last line is "N passed, N failed, N skipped".
#
# --fast: build and tests only. Else also: the suite under ASan+UBSan (build-asan/), each libFuzzer target for a fixed number of
# runs, the runtime tests under TSan (build-tsan/), scripts/demo.sh and scripts/lint.sh. A Meson test counts as one, every other check
# too. The exit status is 0 if and only if nothing failed.
#
# Lint and the TSan build run beside the tests at the lowest priority: they take the time in which tests wait for their programs.
# Fuzzing and the demonstration run beside the tests of the ASan build. Each stage of tests ends with its CPU seconds and the tests that
# took most of them; `scripts/test-results.py --cpu all build/meson-logs/tests-timed.sh.json` prints those of every test.
#
# Under sanitizers run the command, the readers and their unit tests: neither the pass nor the runtime is sanitized in any build. So
# programs are built and run once, in build/ (tests of the suite twice), and what they wrote is read by the plain command and by the
# sanitized one, which must print the same.
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C.UTF-8
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS DESTDIR WAYMARK_OUT WAYMARK_LIMIT WAYMARK_SANITIZED MAKEFLAGS
# Debian's tools, which install-deps.sh has looked for: the python3 of a version manager is a script that takes five times as long to start.
export PATH=/usr/bin:/bin:$PATH
# Debug information of the C library is compressed: where it is installed, reading it is six sevenths of what a command does for a small program.
export WAYMARK_DEBUG_DIR=/none
# A sanitizer's finding must fail the test it is found in.
export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:abort_on_error=1:second_deadlock_stack=1

fast=
case ${1-} in
--fast) fast=1 ;;
'') ;;
*)
	sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac

# A line a result, "passed|failed|skipped<tab>NAME": what runs beside the stages writes there, too.
work=$(mktemp -d "${TMPDIR:-/tmp}/waymark-check.XXXXXX") || exit 1
results=$work/results
: >"$results"
: >"$work/failures" # the last lines of what failed: at the end, where a reader of a cut log finds them
tell() {
	printf '%s\t%s\n' "$1" "$2" >>"$results"
}
count() {
	grep -c "^$1"$'\t' "$results"
}

# CPU seconds of all processes that this one has waited for; not in a pipe, which is another process.
cpu_seconds() {
	times >"$work/times"
	awk 'NR == 2 { split($0, t, /[ms ]+/); printf "%.0f\n", 60 * (t[1] + t[3]) + t[2] + t[4] }' "$work/times"
}

stage_title=
end_stage() {
	[ -z "$stage_title" ] || echo "-- $stage_title: $((SECONDS - stage_start)) s"
	stage_title=
}
stage() {
	end_stage
	stage_title=$1 stage_start=$SECONDS
	echo
	echo "== $1"
}

finish() {
	local seconds used process
	for process in "${beside[@]}"; do # of a check that ends early
		kill "$process"
	done
	end_stage
	echo
	sed -n 's/^skipped\t/skipped: /p' "$results"
	cat "$work/failures"
	sed -n 's/^failed\t/FAILED:  /p' "$results"
	cpu_seconds >"$work/cpu"
	seconds=$SECONDS used=$(cat "$work/cpu")
	echo "whole check: $seconds s, CPU $used s; $(nproc) processors were idle, or others', for $((seconds * $(nproc) - used)) s"
	echo "$(count passed) passed, $(count failed) failed, $(count skipped) skipped"
	[ "$(count failed)" = 0 ] && [ "$(count passed)" -gt 0 ]
	seconds=$?
	rm -rf "$work"
	exit $seconds
}

# check NAME COMMAND...: one check that is not a Meson test. Exit status 77 means skipped.
check() {
	local name=$1 status
	shift
	"$@"
	status=$?
	case $status in
	0) tell passed "$name" ;;
	77) tell skipped "$name" ;;
	*) tell failed "$name (exit status $status)" ;;
	esac
	return $status
}

# keep_failure STATUS LOG: of a check that wrote LOG.
keep_failure() {
	[ "$1" = 0 ] || [ "$1" = 77 ] || tail -n 30 "$2" >>"$work/failures"
}

# beside NAME COMMAND...: runs it beside the stages, and keeps what it prints. beside_low: at the lowest priority.
declare -A beside=()
beside() {
	local name=$1
	shift
	"$@" >"$work/$name.log" 2>&1 &
	beside[$name]=$!
}
low() {
	renice -n 19 -p "$BASHPID" >/dev/null
	"$@"
}
# join NAME: waits for it, and prints what it has printed.
join() {
	local status
	wait "${beside[$1]}"
	status=$?
	unset "beside[$1]"
	cat "$work/$1.log"
	return $status
}
trap 'tell failed interrupted; finish' INT TERM

# run_tests NAME DIR MESON-TEST-ARGUMENTS...: adds the results of one run to the sums.
run_tests() {
	local name=$1 dir=$2 log result test status
	shift 2
	log=$dir/meson-logs/$name-timed.sh.json # meson test names it so for its wrapper
	rm -f "$log"
	# More than there are processors: tests that wait for their programs leave them idle.
	# Limits of time are for a test that hangs: a machine that others share takes four times as long.
	meson test -C "$dir" --no-rebuild --num-processes $(($(nproc) * 2)) --logbase "$name" --print-errorlogs --timeout-multiplier 4 --wrapper "$PWD/scripts/timed.sh" "$@"
	status=$?
	if [ ! -s "$log" ]; then
		tell failed "$name: no test ran (meson test: exit status $status)"
		return
	fi
	while IFS=$'\t' read -r result test; do
		case $result in
		OK | EXPECTEDFAIL) tell passed "$name: $test" ;;
		SKIP) tell skipped "$name: $test" ;;
		*) tell failed "$name: $test ($result)" ;;
		esac
	done < <(scripts/test-results.py "$log")
	scripts/test-results.py --failed "$log" >>"$work/failures"
	scripts/test-results.py --cpu 12 "$log"
}

# build NAME DIR TARGET SETUP-OPTIONS...: configures, also a folder that is there, then builds. TARGET -SUITE,...: all but what tests of
# these suites alone need.
build() {
	local name=$1 dir=$2 target=$3 targets
	shift 3
	if ! scripts/configure.sh "$dir" "$@"; then
		check "$name: configure" false
		return 1
	fi
	case $target in
	-*) mapfile -t targets < <(scripts/test-targets.py "$dir" $(echo "${target#-}" | tr , ' ')) ;;
	*) targets=("$target") ;;
	esac
	[ ${#targets[@]} -gt 0 ] && check "$name: build" ninja -C "$dir" --quiet "${targets[@]}"
}

# What the build leaves out for want of a package is named in the closing lines.
skip_left_out() {
	local part
	while read -r part; do
		tell skipped "left out: $part"
	done <build/left-out.txt
}

# fuzz DIR RUNS: all targets, one on each processor at a time.
fuzz() {
	local dir=$1 target log=$1/fuzz.log
	local -a targets=()
	for target in "$dir"/fuzz_*; do
		[ -f "$target" ] && [ -x "$target" ] && targets+=("$target")
	done
	rm -rf "$log" && mkdir -p "$log"
	[ ${#targets[@]} = 0 ] || printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I '{}' sh -c \
		'scripts/fuzz.sh "$1" "$2" >"$3/${1##*/}" 2>&1 && touch "$3/${1##*/}.passed"' sh '{}' "$2" "$log"
	for target in "${targets[@]}"; do
		cat "$log/${target##*/}"
		check "fuzz: ${target##*/}" test -f "$log/${target##*/}.passed"
		keep_failure $? "$log/${target##*/}"
	done
}

# What may not run under a sanitizer, or is the same there, is in the suite nosan: told, and counted as skipped.
skip_suite() {
	local name=$1 dir=$2 suite=$3 test
	while read -r test; do
		echo "not run under $name: $test"
		tell skipped "$name: $test (suite $suite)"
	done < <(meson test -C "$dir" --no-rebuild --list --suite "$suite" 2>/dev/null | grep -v '^No ')
}

# The folder that WAYMARK_SANITIZED names (tests/support/twice.sh): programs of build-asan/ beside the pass and the runtime of build/.
make_sanitized() {
	rm -rf build/sanitized && mkdir -p build/sanitized/tests/paths && ln -s ../src ../include build/sanitized/ &&
		cp build-asan/waymark build/sanitized/ && ln -s waymark build/sanitized/waymark-cc && ln -s waymark build/sanitized/waymark-c++ && cp -P build/waymark-llvm-* build/sanitized/ && cp build-asan/tests/paths/dump build/sanitized/tests/paths/
}

# lint PART...
lint() {
	local part
	for part; do
		check "lint: $part" scripts/lint.sh "$part" >"$work/lint-$part" 2>&1
		keep_failure $? "$work/lint-$part"
		cat "$work/lint-$part"
	done
}

# What the tests of its suite need: nothing else of it runs.
build_tsan() {
	build tsan build-tsan tsan-safe -Db_sanitize=thread -Db_lundef=false
}

stage "Packages"
if ! check "packages" scripts/install-deps.sh build check demo; then
	finish
fi

# What reads no build takes the processor that configuring leaves idle.
[ "$fast" ] || beside lint low lint format headers gcc shell

stage "Build in build/"
build build build all --buildtype=debugoptimized || finish
skip_left_out

if [ "$fast" ]; then
	stage "Tests"
	run_tests tests build
	finish
fi

# Before the demonstration, which makes build/compile_commands.json anew.
beside tidy low lint tidy

# Of the debug information the lines of stacks are enough. Code with the checks of both takes three times as long to compile with
# optimization as without, and what reads so little is fast enough.
# lld links the large programs of sanitizers in a third of the time. The pass is the plain one in every build.
stage "ASan + UBSan: build"
sanitized=
if build asan build-asan -nosan,twice -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true "-Dpass=$PWD/build/src/instrument/waymark-pass.so" -Doptimization=0 -Dc_args=-g1 -Dcpp_args=-g1 \
	-Dc_link_args=-fuse-ld=lld -Dcpp_link_args=-fuse-ld=lld; then
	check "sanitized command beside the plain pass" make_sanitized && sanitized=$PWD/build/sanitized
fi

beside tsan low build_tsan

stage "Tests, read by the plain and by the sanitized command"
WAYMARK_SANITIZED=$sanitized run_tests tests build

# Most of the demonstration is one process at a time. It configures build/, which no test runs in any more.
beside demo check demo scripts/demo.sh

if [ "$sanitized" ]; then
	stage "ASan + UBSan: the other tests; fuzzing; demonstration"
	beside fuzz fuzz build-asan/tests/fuzz 20000
	run_tests asan build-asan --no-suite nosan --no-suite twice --timeout-multiplier 5
	skip_suite asan build-asan nosan
fi

stage "TSan: build"
if join tsan; then
	stage "TSan: runtime tests"
	run_tests tsan build-tsan --suite tsan-safe --timeout-multiplier 5
fi

stage "Demonstration"
join demo

if [ "$sanitized" ]; then
	stage "Fuzzing"
	join fuzz
fi

stage "Lint, what is left of it"
join lint
join tidy
finish
