#!/bin/bash
# hazards.sh BUILD SOURCES [NAME...] - programs that keep a stack of their own, built by plain compilers and walked by the sampler: what tokens
# decode to is that stack.
#
# A walk has what is on the machine's stack: also the functions of the C library, which the programs do not know, and no frames that tail
# calls replaced. So only functions of the program are compared, and no tail calls are compiled. A coroutine's stack begins with its
# function. Where a handler interrupts a function that has just begun or is about to end, the program does not count that function.
set -u
waymark=$1/waymark compare=$1/tests/hazards/compare sources=$2
shift 2
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-sampler.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
failures=0

# Both sides without what is not a function of the program: names of functions in the first file.
own_functions() {
	awk -F '\t' '
	function own(stack,    part, n, i, out) {
		sub(/.*;\[makecontext\];/, "", stack)
		n = split(stack, part, ";")
		for (i = 1; i <= n; i++)
			if (part[i] in is_own || part[i] == "[signal]" || part[i] == "..." || part[i] == "[thread]")
				out = out (out == "" ? "" : ";") part[i]
		return out
	}
	FNR == NR { if ($0 !~ /^(std::|shadow_)|lambda/) is_own[$0] = 1; next }
	{ gsub(/;\[signal\]/, ";...;[signal]", $2); print own($1) "\t" own($2) }' "$1" -
}

check() {
	local name=$1 program=$2 status=0 least
	shift 2
	"$@" -w -D_GNU_SOURCE -I"$sources/../../include" -I"$sources" "$program" -o program -lpthread ||
		{ echo "FAIL: $*: build"; failures=$((failures + 1)); return; }
	rm -f run.wmk
	./program >plain.txt 2>/dev/null
	timeout -k 5 100 "$waymark" run -q --sample=997 -o "$dir/run.wmk" ./program >tokens.txt 2>errors.txt || status=$?
	[ $status -eq 0 ] || { echo "FAIL: $name, $*: status $status"; cat errors.txt; failures=$((failures + 1)); return; }
	"$waymark" decode --folded --wmk run.wmk <tokens.txt >decoded.txt ||
		{ echo "FAIL: $name, $*: decode"; failures=$((failures + 1)); }
	nm -C program | sed -n 's/^[0-9a-f]* [tTwW] //p' | sort -u >functions.txt
	own_functions functions.txt <decoded.txt >compared.txt
	least=$(($(grep -c . plain.txt) * 9 / 10)) # how many a timer's handler prints is chance
	"$compare" "$name, $*" compared.txt "$least" || failures=$((failures + 1))
}

command -v gcc >/dev/null && command -v g++ >/dev/null || { echo "gcc or g++ is missing"; exit 77; }
[ $# -gt 0 ] || set -- builtinjmp callbacks coroutines exceptions forking frames goto indirect mutual setjmp signals stdthread tasks threads virtuals
for name; do
	program=$sources/$name.c cc=gcc
	[ -f "$program" ] || program=$sources/$name.cpp cc=g++
	check "$name" "$program" $cc -O0
	check "$name" "$program" $cc -O2 -fno-optimize-sibling-calls -fno-inline -fno-ipa-sra -fno-ipa-cp -fno-ipa-icf
done
[ $failures -eq 0 ]
