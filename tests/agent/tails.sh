#!/bin/sh
# tails.sh BUILD INCLUDE SOURCES HAZARDS - loops of tail calls, deep recursion, frames of variable size and coroutines, built by gcc and
# clang, under the agent: what tokens decode to is the stack that the program keeps itself, also after new epochs have begun, and deep
# stacks are sampled.
set -u
compare=$1/tests/hazards/compare include=$2 sources=$3 hazards=$4
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
built=0

# one LINES PROGRAM COMPILER OPTION...: no debug information, which would name what is inlined
one() {
	lines=$1 program=$2
	shift 2
	"$@" -w -D_GNU_SOURCE -I"$include" -I"$hazards" "$program" -o program || { fail "$*: build"; return; }
	rm -f run.wmk
	timeout 100 "$waymark" run --events -q -o "$dir/run.wmk" ./program >tokens.txt 2>errors.txt || fail "$*: status $?"
	"$waymark" decode --folded --wmk run.wmk <tokens.txt >decoded.txt || fail "$*: decode"
	"$compare" "$(basename "$program"), $*" decoded.txt "$lines" || failures=$((failures + 1))
	built=$((built + 1))
}

# deep COMPILER OPTION...: the program of the last call of `one`
deep() {
	rm -f run.wmk
	./program deep >plain.txt
	timeout 100 "$waymark" run -q --sample=1000 --encode -o "$dir/run.wmk" ./program deep >deep.txt || fail "deep, $*: status $?"
	cmp -s plain.txt deep.txt || fail "deep, $*: prints something else"
	"$waymark" report --format folded run.wmk >folded.txt || fail "deep, $*: report"
	grep -q 'main;down;' folded.txt || fail "deep, $*: no samples"
	! grep -q '^\[unknown\]' folded.txt || fail "deep, $*: samples are damaged"
}

for cc in gcc clang-19; do
	command -v "$cc" >/dev/null || continue
	for options in '-O2' '-O3 -fcf-protection=full -no-pie -fno-pie' '-O0'; do
		[ "$options" = -O0 ] && lines=11 || lines=293
		# shellcheck disable=SC2086
		one $lines "$sources/tails.c" $cc $options
		# shellcheck disable=SC2086
		[ "$options" = -O0 ] || deep $cc $options
	done
	one 52 "$hazards/frames.c" $cc -O0
	[ $cc = gcc ] && same_names='-fno-ipa-sra -fno-ipa-cp' || same_names=
	# shellcheck disable=SC2086
	one 52 "$hazards/frames.c" $cc -O2 $same_names
	one 174 "$hazards/coroutines.c" $cc -O0
	# shellcheck disable=SC2086
	one 174 "$hazards/coroutines.c" $cc -O2 $same_names
done
[ $built -gt 0 ] || { echo "neither gcc nor clang-19 is there"; exit 77; }
finish
