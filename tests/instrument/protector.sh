#!/bin/bash
# protector.sh BUILD-DIR - which functions have a stack protector: with each of clang's options and at each stage those of a traced
# program are those of the plain one. The frame records need none, and do not get one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-protector.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
cd "$tmp" || exit 1
failed=0

# protected PROGRAM: functions that read the canary; bodies of several schemes are one function
protected() {
	llvm-objdump-19 -d --no-show-raw-insn "$1" |
		awk '/^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]/, "", name); sub(/\.wm.*/, "", name) } /%fs:0x28/ { print name }' | sort -u | tr '\n' ' '
}

for level in -O0 -O2; do
	for option in -fno-stack-protector -fstack-protector -fstack-protector-strong -fstack-protector-all; do
		"$compiler" cc --wm=none $level $option "$here/protector.c" -flto -o plain >log 2>&1 || { head -n 5 log; exit 1; }
		want=$(protected plain)
		for what in "trace=*=stmt+pt" "trace=*=none|cc+pt" "trace --wm-stage=source" "contexts,trace --wm-stage=source"; do
			# shellcheck disable=SC2086 # a list of words
			if ! "$compiler" cc --wm=$what $level $option "$here/protector.c" -o traced >log 2>&1; then
				head -n 5 log
				echo "FAIL $what $level $option: not built"
				failed=1
				continue
			fi
			# Functions of the runtime are there as they are built.
			got=" $(protected traced)"
			for name in neither inlines buffer address inlines_buffer main; do
				is=no should=no
				[[ $got = *" $name "* ]] && is=yes
				[[ " $want" = *" $name "* ]] && should=yes
				[ $is = $should ] || { echo "FAIL $what $level $option: $name is protected: $is, as clang has it: $should"; failed=1; }
			done
		done
		echo "ok   $level $option: $want"
	done
done
exit $failed
