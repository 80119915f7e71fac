#!/bin/bash
# assembly.sh BUILD SOURCES - walks through code without call frame information: hand assembly (SOURCES/assembly.S), a program whose entry
# function is its own, call frame information that is wrong for a while, stacks that a frame pointer
# or a saved stack pointer leads away from, and code made at run time. The stacks are whole, and frames that were found so are marked.
set -u
source=$(realpath "$2") include=$(realpath "$2/../../include")
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/../agent/lib.sh"
unset DEBUGINFOD_URLS

# expect NAME METRIC STACK: that is its stack.
expect() {
	local stacks
	stacks=$("$waymark" report --format=folded --metric="$2" out/*.wmk | sed 's/\[code\]+0x[0-9a-f]*/[code]/')
	[ "$stacks" = "$3" ] || fail "$1: not '$3' but: $stacks"
}

# try NAME OPTION...
try() {
	local name=$1
	shift
	gcc -w "$@" -I"$include" -o program "$source/assembly.c" "$source/assembly.S" || exit 1
	rm -rf out && mkdir out
	timeout 60 "$waymark" run -q --sample -o out/ ./program || fail "$name: status $?"
	expect "$name" back "main;outer_[fp];by_push_[fp];by_branches_[fp];by_frame;back 2"
	"$waymark" report --format=folded --metric=cpu out/*.wmk | sed 's/ [0-9]*$//' | grep late >late.txt
	[ "$(cat late.txt)" = 'main_[fp];late' ] || fail "$name: late: $(cat late.txt)"
	expect "$name" elsewhere "main_[fp];on_stack;elsewhere 1"
	expect "$name" switched "main_[fp];on_saved;switched 1"
	expect "$name" went "go_first;went 1"
	expect "$name" called "main;make_and_call_[fp];[code];called 1"
}

try optimized -O2 -fomit-frame-pointer
try frame-pointers -O0
try own-entry -O2 -nostartfiles -DENTRY
finish
