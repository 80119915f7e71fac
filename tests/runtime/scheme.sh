#!/bin/bash
# scheme.sh PROGRAM STATIC-PROGRAM LIBRARY - WAYMARK_SCHEME: what is chosen at start-up, what is said of wrong rules, and that a
# program goes on whatever they are.
set -u
program=$(realpath "$1") static=$(realpath "$2") library=$(realpath "$3")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-scheme.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0

# expect NAME RULES WANT WANT-ERRORS PROGRAM ARGUMENT...: what it prints in one line, and what it says
expect() {
	local name=$1 rules=$2 want=$3 errors=$4 got
	shift 4
	got=$(WAYMARK_SCHEME=$rules "$@" 2>err | tr '\n' ' ') || {
		echo "FAIL $name: the program fails"
		failed=1
	}
	if [ "$got" != "$want" ] || [ "$(cat err)" != "$errors" ]; then
		echo "FAIL $name: $got"
		cat err
		failed=1
	fi
}

none='main 0 _ZN2ns3barEi 0 helper 0 '
say='waymark: WAYMARK_SCHEME:'
for p in "$program" "$static"; do
	got=$("$p" | tr '\n' ' ')
	[ "$got" = "$none" ] || {
		echo "FAIL without the variable: $got"
		failed=1
	}
	expect "empty" "" "$none" "" "$p"
	expect "one" "main=cc+pt" "main 1 _ZN2ns3barEi 0 helper 0 " "" "$p"
	expect "first rule" "h*=stmt;main=fc;*=cc+pt" "main 2 _ZN2ns3barEi 1 helper 4 " "" "$p"
	expect "plain name" "bar=cc+pt" "main 0 _ZN2ns3barEi 1 helper 0 " "" "$p"
	expect "linkage name" "_ZN2ns*=cc+pt" "main 0 _ZN2ns3barEi 1 helper 0 " "" "$p"
	expect "file" "file:lib/*.cpp=cc+pt; file:*=fc" "main 2 _ZN2ns3barEi 1 helper 0 " "" "$p"
	expect "all schemes" "helper=stmt+pt" "main 0 _ZN2ns3barEi 0 helper 9 " "" "$p"
	expect "no such function" "nobody=cc" "$none" "" "$p"
	expect "function and call-site coverage" "helper=fc+cc" "main 0 _ZN2ns3barEi 0 helper 3 " "" "$p"
	expect "not compiled in" "*=stmt" "main 0 _ZN2ns3barEi 0 helper 4 " \
		"$say function main has no scheme stmt compiled in, nor has another one of 1; it stays as it is" "$p"
	expect "not compiled in, one" "bar=pt;main=fc" "main 2 _ZN2ns3barEi 0 helper 0 " \
		"$say function _ZN2ns3barEi has no scheme pt compiled in; it stays as it is" "$p"
	expect "no scheme" "main=fc;helper=xx" "$none" \
		"$say unknown scheme: none, fc, cc, fc+cc or stmt, alone or with +pt, or pt at \"xx\"; nothing is chosen" "$p"
	expect "no =" "main" "$none" "$say no \"=\": a rule is PATTERN=SCHEME at \"main\"; nothing is chosen" "$p"
	expect "several" "main=none|fc" "$none" \
		"$say one scheme for a pattern is chosen, not several at \"main=none|fc\"; nothing is chosen" "$p"
	printf '# rules\nmain=fc # for now\n\n*=cc+pt\n' >rules
	expect "file of rules" "@$tmp/rules" "main 2 _ZN2ns3barEi 1 helper 7 " "" "$p"
	expect "no file" "@/nonexistent" "$none" "$say rules cannot be read at \"@/nonexistent\"; nothing is chosen" "$p"
	expect "a directory" "@$tmp" "$none" "$say rules cannot be read at \"@${tmp:0:39}\"; nothing is chosen" "$p"
	head -c 1048577 /dev/zero | tr '\0' '\n' >big
	expect "too big" "@big" "$none" "$say rules cannot be read at \"@big\"; nothing is chosen" "$p"
done

# Each image reads the rules; what is wrong with them is said once.
expect "library" "in_library=pt" "in_library 1 $none" "" "$program" "$library"
expect "library, all" "file:lib/*=pt;helper=pt;*=cc+pt" "in_library 1 main 1 _ZN2ns3barEi 0 helper 5 " \
	"$say function _ZN2ns3barEi has no scheme pt compiled in; it stays as it is" "$program" "$library"
expect "library, problem" "x" "in_library 0 $none" \
	"$say no \"=\": a rule is PATTERN=SCHEME at \"x\"; nothing is chosen" "$program" "$library"
exit "$failed"
