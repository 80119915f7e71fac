#!/bin/bash
# run.sh BUILD-DIR NAME CONFIGURATION... - builds a program of this folder, has it crash, and compares all that `waymark core`
# tells of the core with what was recorded (record.h).
#
# A configuration is words with commas between: an -O level, schemes (pt, cc+pt, ...; several with | between), and any of
#   source     trace the source's functions, before they are inlined
#   apart      two programs: one is traced, the other one records, so that the traced code is all as it would be without;
#              for programs that do the same in each run
#   kill=K     fault at the K-th place of many (record_pass.cpp); 0: a place that the program's name chooses
#   ring=N     paths kept for each frame
#   set=S      WAYMARK_SCHEME=*=S when it runs
#   tune=S     the program's file is changed by `waymark tune --set *=S`
#   contexts   exact calling contexts as well
#   arg=WORD   what the program is given
#   static, nopie, pic, gc, strip      options of clang, and what is done to the program afterwards
# NAME random=SEED is a program of ../paths/generate_flow.c. KEEP=1 keeps the directory.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
name=$2
shift 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-trace.XXXXXX")
if [ -n "${KEEP:-}" ]; then echo "kept: $tmp"; else trap 'rm -rf "$tmp"' EXIT; fi
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_CC WAYMARK_CXX WAYMARK_SCHEME MALLOC_PERTURB_
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
main=$build/waymark
pass=$build/tests/trace/record-pass.so
recorder=("$build/tests/trace/record.o" "$build/tests/trace/kill.o")

# How each program is run, and what compare.py must find; the bug of each stands in its file.
arguments=() compare=() stop=fault
case $name in
gzip) arguments=("$(printf 'long/%.0s' {1..52})ab") compare=(stack=3) ;;
again | bc | ccrypt | copy | dispatch | divide | inlined | interpreter | matcher | realigned) compare=(stack=2) ;;
smash) arguments=("$(printf 'UP%.0s' {1..200})") compare=(stack=1 cut lost=convert) ;;
smashed) compare=(stack=1 cut "lost=convert|main") ;;
queue) compare=(stack=2) ;;
qsort) compare=(stack=3) ;;
destructor) compare=(stack=3) ;;
overflow) compare=(stack=5000 ahead) ;;
deep) compare=(stack=3000) ;;
hang) compare=(stack=2 ahead) stop=hung ;;
deadlock) compare=(stack=1) stop=hung ;;
assertion) compare=(stack=2) ;;
handler) compare=(stack=4) ;;
longjmp) compare=(stack=3) ;;
library) compare=(stack=4) ;;
rounds) compare=(stack=20) ;;
returned) compare=(stack=3) ;;
plain) compare=(stack=2) ;;
wide) compare=(stack=5) ;;
random=*)
	"$build/tests/paths/generate-flow" "${name#random=}" "$tmp" || exit 2
	compare=(stack=1)
	;;
esac

# compile ARGUMENT...: with the compiler of the step; C++ when there is a C++ file
compile() {
	local compiler=cc
	case "$*" in
	*.cpp*) compiler="c++ -std=c++20" ;;
	esac
	# shellcheck disable=SC2086 # words
	"$main" $compiler "${traced[@]}" -g -pthread $opt "$@"
}

# make DIRECTORY RULES: builds there
make() {
	mkdir -p "$1" && cd "$1" || return 1
	local traced=("--wm=${contexts}trace=$2" "--wm-stage=$stage" "--wm-trace-paths=$ring")
	[ -z "${WMREC_RECORDS:-}" ] || traced+=(-DRECORDS)
	if [ -n "${WMREC_RECORDS:-}${WMREC_KILLS:-}" ]; then
		if [ $stage = final ]; then traced+=("-Wl,--load-pass-plugin=$pass"); else traced+=("-fpass-plugin=$pass"); fi
	fi
	if [ "$name" = library ]; then
		compile -fPIC -shared "$here/library_part.c" "${recorder[@]}" -o plugin.so &&
			compile "$here/library.c" "${recorder[@]}" -ldl -o prog
	elif [ -f "$tmp/random.cpp" ] || [ -f "$tmp/random.c" ]; then
		compile -w -include "$here/single.h" "$tmp"/random.c* "${recorder[@]}" -o prog
	elif [ -f "$here/$name.cpp" ]; then
		compile -w "$here/$name.cpp" "${recorder[@]}" -o prog
	else
		compile -w "$here/$name.c" "${recorder[@]}" -o prog
	fi >build.log 2>&1 || { head -n 5 build.log; echo "FAIL $label: does not build"; return 1; }
	local image
	for image in ${tuned:+prog plugin.so}; do # plugin.so: of library
		[[ $2 != *"|"* ]] || [ ! -f $image ] || "$main" tune $image --set "*=$tuned" >>tune.log || return 1
	done
	[ -z "$strips" ] || {
		objcopy-19 --only-keep-debug prog prog.debug 2>/dev/null || objcopy --only-keep-debug prog prog.debug
		strip prog && objcopy --add-gnu-debuglink=prog.debug prog
	} || return 1
}

# All threads wait for a lock. Who was woken runs, so nothing changes any more.
is_blocked() {
	local state
	for state in /proc/"$1"/task/*/syscall; do
		[ "$(cut -d' ' -f1 <"$state")" = 202 ] || return 1
	done
}

# Has ./prog run until it stops, and writes its core.
crash() {
	export WMREC_FILE=$PWD/record
	rm -f record core
	if [ $stop = fault ]; then
		(ulimit -s 2048; core_of core ./prog "${arguments[@]}")
		local status=$?
		[ $status != 77 ] || exit 77
		return $status
	fi
	local pid hung
	mkfifo said
	./prog >said &
	pid=$!
	disown $pid # no "Killed"
	exec 3<said
	read -r hung <&3
	while [ "$name" = deadlock ] && kill -0 $pid && ! is_blocked $pid; do :; done
	DEBUGINFOD_URLS='' gdb -q -nx -batch -iex 'set auto-load off' -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /none' -p $pid \
		-ex 'generate-core-file core' -ex kill >core.gdb 2>&1 </dev/null
	kill -KILL $pid 2>/dev/null
	exec 3<&-
	rm -f said
	[ -s core ] && return
	if grep -q 'ptrace: Operation not permitted' core.gdb; then
		echo "SKIP: processes cannot be traced here (ptrace is not permitted)"
		exit 77
	fi
	cat core.gdb
	echo "FAIL $label: no core (it said: $hung)"
	return 1
}

# How often places to stop at are passed: one of them, which the label chooses.
choose_kill() {
	local passed
	passed=$(WMREC_FILE=$PWD/record WMREC_COUNT=1 WMREC_KILL=1000000000000 ./prog "${arguments[@]}" 2>&1 >/dev/null | sed -n 's/^passed //p')
	[ "${passed:-0}" -gt 0 ] || { echo "FAIL $label: passes no places to stop at"; return 1; }
	WMREC_KILL=$((1 + 0x$(printf %s "$label" | sha256sum | cut -c1-12) % passed))
	export WMREC_KILL
}

check() {
	local opt="" stage=final schemes="" ring=8 is_apart="" strips="" kill="" tuned="" contexts="" word
	local label="$name $1" dir=$tmp/$1
	unset WMREC_KILL WMREC_KILLS WMREC_RECORDS WAYMARK_SCHEME
	for word in ${1//,/ }; do
		case $word in
		O*) opt+=" -$word" ;;
		source) stage=source ;;
		apart) is_apart=1 ;;
		kill=*) kill=${word#kill=} ;;
		ring=*) ring=${word#ring=} ;;
		set=*) export WAYMARK_SCHEME="*=${word#set=}" ;;
		tune=*) tuned=${word#tune=} ;;
		contexts) contexts=contexts, ;;
		arg=*) arguments=("${word#arg=}") ;;
		static) opt+=" -static" ;;
		nopie) opt+=" -no-pie -fno-pie" ;;
		pic) opt+=" -fPIC" ;;
		gc) opt+=" -ffunction-sections -Wl,--gc-sections" ;;
		strip) strips=1 ;;
		*) schemes=$word ;;
		esac
	done
	export WMREC_STAGE=$stage
	[ "$name" != smashed ] || is_apart=1 # who records has a stack, too
	# Who records stands behind what would be a tail call at the end.
	[ $stage = final ] || [ ! $is_apart ] || opt+=" -fno-optimize-sibling-calls"
	[ -z "$kill" ] || export WMREC_KILLS=1
	if [ $is_apart ]; then
		WMREC_RECORDS=1 make "$dir/recorded" "*=none" && make "$dir/traced" "*=$schemes" || return 1
	else
		WMREC_RECORDS=1 make "$dir/traced" "*=$schemes" && ln -s traced "$dir/recorded" || return 1
	fi
	[ -z "$kill" ] || export WMREC_KILL=$kill
	if [ "$kill" = 0 ]; then
		cd "$dir/recorded" && choose_kill || return 1
	fi
	if [ $is_apart ]; then
		cd "$dir/recorded" && crash || return 1
	fi
	cd "$dir/traced" && crash || return 1
	cd "$dir" || return 1
	"$main" core --format=json --frames=all --paths=all traced/prog traced/core -o core.json || { echo "FAIL $label: waymark core fails"; return 1; }
	local options=("${compare[@]}" "ring=$ring" ${is_apart:+apart})
	[ $stage = final ] || options+=(source)
	local numbers=([0]=none fc cc fc+cc stmt [8]=pt fc+pt cc+pt fc+cc+pt stmt+pt) i
	for i in "${!numbers[@]}"; do
		case ${WAYMARK_SCHEME:-"*=${tuned:-$schemes}"} in
		"*=${numbers[i]}") options+=("scheme=$i") ;;
		esac
	done
	[ "$name" != smashed ] && [ "$name" != smash ] && [ -n "$kill" ] && options+=(stack=1)
	if ! python3 "$here/compare.py" recorded/record core.json "${options[@]}" >found.txt 2>&1; then
		tail -n "${LINES_MAX:-12}" found.txt
		echo "FAIL $label${WMREC_KILL:+ (killed at $WMREC_KILL)}: differs"
		return 1
	fi
	echo "ok   $label: $(cat found.txt)"
}

failed=0
for configuration; do
	check "$configuration" || failed=1
	[ -n "${KEEP:-}" ] || rm -f "$tmp/$configuration"/*/record
done
exit $failed
