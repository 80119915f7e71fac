#!/bin/sh
# Random modules (generate_ir.c) of the seeds FIRST to LAST: the pass must leave each valid, at every level of optimization before it
# and as a program or a shared library, and the code generator must take it. With "run", each is also linked by waymark cc and run:
# whatever foreign code calls must come back, or be left by a throw, with the id and the context stack as they were (harness.cpp).
#
#   random.sh BUILD-DIR FIRST LAST [run]      e.g. random.sh build 1 2000
#
# KEEP=DIR keeps the modules that fail.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
run=${4:-}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-random-ir.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
unset WAYMARK_LINK_OUTPUT WAYMARK_LINK_KIND WAYMARK_LINK_SYMBOLIC
export WAYMARK_OUT="$tmp"
cd "$tmp"
[ -z "$run" ] || clang++-19 -O1 -I"$here/../../include" -c "$here/harness.cpp" -o harness.o

# check SEED: leaves what went wrong in $problem
check() {
	problem=
	case $(($1 % 5)) in
	0) before=verify kind=shared ;;
	1) before=verify kind= ;;
	2) before='default<O1>' kind= ;;
	3) before='default<O2>' kind=shared ;;
	4) before='lto<O2>' kind= ;;
	esac
	"$build/tests/instrument/generate_ir" "$1" >module.ll
	if ! timeout 60 opt-19 -passes="$before" -verify-each module.ll -o module.bc 2>log; then
		# LLVM 19's optimizer breaks some of the musttail calls itself.
		[ "$before" = verify ] && problem="generated module is not valid" || echo "skip seed $1: $before alone breaks it"
		return
	fi
	if ! WAYMARK_LINK_KIND=$kind timeout 60 opt-19 -load-pass-plugin="$build/src/instrument/waymark-pass.so" \
		-passes=waymark-contexts,verify module.bc -o done.bc 2>log; then
		problem="pass fails after $before"
	elif [ $(($1 % 4)) = 0 ] && ! timeout 60 llc-19 -O2 -relocation-model=pic done.bc -filetype=obj -o done.o 2>log; then
		problem="code generator fails"
	elif [ -n "$run" ]; then
		"$compiler" c++ -O$(($1 / 5 % 3)) -w -fPIE -x ir module.ll -x none harness.o -o program >log 2>&1 ||
			{ problem="does not link"; return; }
		timeout 20 ./program >log 2>&1 || problem="exit status $? when run"
	fi
}

seed=$2 failed=0
while [ "$seed" -le "$3" ]; do
	check "$seed"
	if [ -n "$problem" ]; then
		failed=$((failed + 1))
		echo "FAIL seed $seed: $problem"
		head -n 4 log
		[ -z "${KEEP:-}" ] || cp module.ll "$KEEP/seed$seed.ll"
	fi
	seed=$((seed + 1))
done
echo "seeds $2 to $3: $failed failed"
[ $failed -eq 0 ]
