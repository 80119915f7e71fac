#!/bin/bash
# attach_hazards.sh BUILD SOURCES TESTS [NAME...] - programs that keep a stack of their own (hazards.sh) are attached to at some capture: what
# tokens from there on decode to is that stack. Where a thread was created is not known then.
set -u
waymark=$1/waymark compare=$1/tests/hazards/compare sources=$2 tests=$3
export FORWARD_LIBRARY=$1/src/sampler/libwaymark-sample.so
shift 3
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-sampler.XXXXXX")
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
export FORWARD_FILE=$dir/here
failures=0
command -v gcc >/dev/null && command -v g++ >/dev/null || { echo "gcc or g++ is missing"; exit 77; }

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# As in hazards.sh; of both sides what is outside of a thread is left out.
own_functions() {
	awk -F '\t' '
	function own(stack,    part, n, i, out) {
		sub(/.*;\[makecontext\];/, "", stack)
		sub(/.*\[thread\];/, "[thread];", stack)
		n = split(stack, part, ";")
		for (i = 1; i <= n; i++)
			if (part[i] in is_own || part[i] == "[signal]" || part[i] == "..." || part[i] == "[thread]")
				out = out (out == "" ? "" : ";") part[i]
		return out
	}
	FNR == NR { if ($0 !~ /^(std::|shadow_)|lambda/) is_own[$0] = 1; next }
	{ gsub(/;\[signal\]/, ";...;[signal]", $2); print own($1) "\t" own($2) }' "$1" -
}

# check NAME AT PROGRAM COMPILER...
check() {
	local name=$1 at=$2 program=$3 i status=0 least
	shift 3
	"$@" -w -D_GNU_SOURCE -I"$sources/../../include" -I"$sources" "$program" -o program -lpthread || { fail "$*: build"; return; }
	rm -f run.wmk here
	./program >plain.txt 2>/dev/null
	FORWARD_AT=$at LD_PRELOAD=$dir/forward.so ./program >tokens.txt 2>errors.txt &
	pid=$!
	for ((i = 0; i < 3000; i++)); do
		[ -e here ] && break
		sleep 0.01
	done
	timeout 100 "$waymark" attach -q -o "$dir/run.wmk" "$pid" 2>said.txt ||
		{ grep -q 'cannot be stopped by ptrace' said.txt && { echo "processes cannot be traced here"; exit 77; }; fail "$name: attach: $(cat said.txt)"; return; }
	wait "$pid" || status=$?
	pid=
	[ $status -eq 0 ] || { fail "$name, $*: status $status"; cat errors.txt; return; }
	grep -v '^wm1:not-instrumented' tokens.txt | "$waymark" decode --folded --wmk run.wmk >decoded.txt || fail "$name, $*: decode"
	nm -C program | sed -n 's/^[0-9a-f]* [tTwW] //p' | sort -u >functions.txt
	own_functions functions.txt <decoded.txt >compared.txt
	least=$((($(grep -c . plain.txt) - at) * 5 / 10))
	"$compare" "$name from capture $at, $*" compared.txt "$least" || failures=$((failures + 1))
}

gcc -w -O1 -shared -fPIC -I"$sources/../../include" -o forward.so "$tests/forward.c" -ldl || exit 1
[ $# -gt 0 ] || set -- callbacks coroutines exceptions mutual threads virtuals
at=3
for name; do
	program=$sources/$name.c cc=gcc
	[ -f "$program" ] || program=$sources/$name.cpp cc=g++
	at=$((at * 5 % 23))
	check "$name" $at "$program" $cc -O2 -fno-optimize-sibling-calls -fno-inline -fno-ipa-sra -fno-ipa-cp -fno-ipa-icf
done
[ $failures -eq 0 ]
