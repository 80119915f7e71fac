#!/bin/sh
# A profile of LLVM's own decides which calls have no code: the hottest edge, not the one that looks hottest. Contexts stay right, also
# through indirect calls that LLVM has promoted to direct ones.
#
#   pgo.sh BUILD-DIR
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-pgo.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
export WAYMARK_OUT="$tmp"
cd "$tmp"
failed=0

fail() {
	echo "FAIL $*"
	failed=1
}
# code PROGRAM FUNCTION: its instructions
code() {
	objdump -d --no-show-raw-insn --disassemble="$2" "$1"
}
# changes of the id in a function: what an edge with an addend costs
touches_state() {
	code "$1" "$2" | grep -q "<$2>:" || fail "$1 has no $2"
	code "$1" "$2" | grep -Eq '%fs:|<wm1\.(add|set|subtract)'
}
contexts() { # PROGRAM
	./"$1" 0 >tokens
	reads contexts waymark decode --folded --exe "$1" tokens && cat contexts
}

cat >expected <<'E2'
main;looks_hot;target
main;is_hot;target
main;dispatch;often;target
main;dispatch;seldom;target
E2

# Targets that are likely by their types alone are another matter.
WAYMARK_TARGETS=none "$compiler" cc -O2 "$here/pgo.c" -o static
touches_state static looks_hot && fail "without a profile: the call in the loops has code"
touches_state static is_hot || fail "without a profile: the call that looks cold has none"
contexts static | cmp - expected || fail "without a profile: wrong contexts"

# clang's own instrumentation, and the one of LLVM's optimizer: only the latter notes the targets of indirect calls.
for kind in instr- ''; do
	"$compiler" cc -O2 -fprofile-${kind}generate "$here/pgo.c" -o training
	LLVM_PROFILE_FILE=raw ./training 20000
	LLVM_PROFILE_FILE=raw2 contexts training | cmp - expected || fail "-fprofile-${kind}generate: wrong contexts"
	llvm-profdata-19 merge raw -o profile
	"$compiler" cc -O2 -fprofile-${kind}use=profile "$here/pgo.c" -o tuned
	touches_state tuned is_hot && fail "-fprofile-${kind}use: the hottest call has code"
	touches_state tuned looks_hot || fail "-fprofile-${kind}use: the call that only looks hot has none"
	contexts tuned | cmp - expected || fail "-fprofile-${kind}use: wrong contexts"
done
code tuned dispatch | grep -q 'call .*<often[+>]' || fail "the indirect call was not promoted"
code static dispatch | grep -q 'call .*<often[+>]' && fail "the test is wrong: promoted without a profile"

[ $failed = 0 ] && echo "profile-guided: zero edges follow the profile"
exit $failed
