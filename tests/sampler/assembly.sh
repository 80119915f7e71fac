#!/bin/bash
# assembly.sh BUILD SOURCES - walks through code without call frame information: hand assembly (SOURCES/assembly.S), a program whose entry
# function is its own, call frame information that is wrong for a while, stacks that a frame pointer
# or a saved stack pointer leads away from, and code made at run time. The stacks are whole, and frames that were found so are marked.
set -u
waymark=$1/waymark source=$2
include=$(cd "$source/../../include" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-sampler.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD DEBUGINFOD_URLS
failures=0

# expect NAME METRIC STACK: that is its stack.
expect() {
	local stacks
	stacks=$("$waymark" report --format=folded --metric="$2" out/*.wmk | sed 's/\[code\]+0x[0-9a-f]*/[code]/')
	[ "$stacks" = "$3" ] || { echo "FAIL: $1: not '$3' but: $stacks"; failures=$((failures + 1)); }
}

# try NAME OPTION...
try() {
	local name=$1
	shift
	gcc -w "$@" -I"$include" -o program "$source/assembly.c" "$source/assembly.S" || exit 1
	rm -rf out && mkdir out
	timeout 60 "$waymark" run -q --sample -o out/ ./program || { echo "FAIL: $name: status $?"; failures=$((failures + 1)); }
	expect "$name" back "main;outer_[fp];by_push_[fp];by_branches_[fp];by_frame;back 2"
	"$waymark" report --format=folded --metric=cpu out/*.wmk | sed 's/ [0-9]*$//' | grep late >late.txt
	[ "$(cat late.txt)" = 'main_[fp];late' ] || { echo "FAIL: $name: late: $(cat late.txt)"; failures=$((failures + 1)); }
	expect "$name" elsewhere "main_[fp];on_stack;elsewhere 1"
	expect "$name" switched "main_[fp];on_saved;switched 1"
	expect "$name" called "main;make_and_call_[fp];[code];called 1"
}

try optimized -O2 -fomit-frame-pointer
try frame-pointers -O0
try own-entry -O2 -nostartfiles -DENTRY
[ $failures -eq 0 ]
