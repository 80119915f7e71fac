#!/bin/sh
# lazy.sh BUILD INCLUDE SOURCES HAZARDS - functions that lead to no event for a while, built by gcc and clang, under the agent: what tokens
# decode to is the stack that the program keeps itself, and what never leads to an event stays as the program has it.
set -u
compare=$1/tests/hazards/compare include=$2 sources=$3 hazards=$4
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
built=0

# number NAME: what the agent says of it at the end
number() {
	sed -n "s/.* $1 \([0-9]*\) .*/\1/p" errors.txt
}

for cc in gcc clang-19; do
	command -v "$cc" >/dev/null || continue
	# The names of functions that gcc changes are not those that the program pushes.
	[ "$cc" = gcc ] && same='-fno-ipa-sra -fno-ipa-cp' || same=
	for options in '-O0' '-O2 -fno-pie -no-pie -fno-plt'; do
		# shellcheck disable=SC2086
		$cc $options $same -w -D_GNU_SOURCE -I"$include" -I"$hazards" "$sources/lazy.c" -lpthread -o program ||
			{ fail "$cc $options: build"; continue; }
		for more in '' ,epochs; do
			rm -f run.wmk
			WAYMARK_AGENT=lazy,verbose$more timeout 60 "$waymark" run -q -o "$dir/run.wmk" ./program >tokens.txt 2>errors.txt ||
				fail "$cc $options$more: status $?"
			"$waymark" decode --folded --wmk run.wmk <tokens.txt >decoded.txt || fail "$cc $options$more: decode"
			"$compare" "lazy.c, $cc $options$more" decoded.txt 70 || failures=$((failures + 1))
			[ "$(number promotions)" -gt 20 ] || fail "$cc $options$more: nothing was promoted: $(cat errors.txt)"
			[ "$(number eventless)" -gt 10 ] || fail "$cc $options$more: all is instrumented: $(cat errors.txt)"
		done
		built=$((built + 1))
	done
	# Every allocation by its stack, against what the program counts.
	$cc -O2 -w -o heap "$sources/heap.c" || { fail "$cc: build"; continue; }
	WAYMARK_AGENT=lazy timeout 60 "$waymark" run -q --heap --encode -o "$dir/heap.wmk" ./heap >counted.txt || fail "$cc, heap: status $?"
	awk '$1 == "bytes" { print $2, $3 }' counted.txt | sort >want.txt
	"$waymark" report --format folded --metric bytes heap.wmk 2>notes.txt >folded.txt
	grep ';counted;' folded.txt | sort | cmp -s want.txt - || fail "$cc: bytes differ"
	lacks folded.txt '[lost]'
done
[ $built -gt 0 ] || { echo "neither gcc nor clang-19 is there"; exit 77; }
finish
