#!/bin/sh
# Random modules (generate_ir.c) of the seeds FIRST to LAST through the pass that counts paths: each must stay valid at both stages and
# with every kind of counter, and come out of the code generator. With "run", each is linked and run: however paths are counted
# and optimized (arrays, hashes inline or called, a plan of all or of few paths, at -O0 and -O2), the program must end as it does without,
# and every path must have the same count; no activation ends that has not begun.
#
#   paths_random.sh BUILD-DIR FIRST LAST [run]      e.g. paths_random.sh build 1 2000
#
# KEEP=DIR keeps the modules that fail.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
run=${4:-}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-random-paths.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
unset WAYMARK_LINK_OUTPUT WAYMARK_LINK_KIND WAYMARK_PATHS WAYMARK_PATHS_ARRAY WAYMARK_PATHS_HASH WAYMARK_PATHS_PLAN WAYMARK_CONTEXTS
cd "$tmp"
[ -z "$run" ] || clang++-19 -O1 -I"$here/../../include" -c "$here/harness.cpp" -o harness.o

# pass SEED STAGE LIMIT: module.bc to done.bc
pass() {
	WAYMARK_PATHS=$2 WAYMARK_PATHS_ARRAY=$3 WAYMARK_LINK_KIND=$kind timeout 60 opt-19 \
		-load-pass-plugin="$build/src/instrument/waymark-pass.so" -passes=waymark-paths,verify module.bc -o done.bc 2>log ||
		{ problem="the pass fails, $2 stage, arrays up to $3"; return 1; }
	[ $((($1 + $3) % 4)) != 0 ] ||
		timeout 60 llc-19 -O$(($1 % 3)) -relocation-model=pic done.bc -filetype=obj -o done.o 2>log ||
		{ problem="the code generator fails, $2 stage, arrays up to $3"; return 1; }
}

# count NAME OPTIONS...: NAME.txt has all counts
count() {
	name=$1
	shift
	"$compiler" c++ --wm=paths -w -fPIE -g0 "$@" -x ir module.ll -x none harness.o -o "$name" >log 2>&1 ||
		{ problem="$name does not build"; return 1; }
	rm -f "$name.wmk"
	status=0
	WAYMARK_OUT=$tmp/$name.wmk timeout 20 "./$name" >"$name.out" 2>&1 || status=$?
	echo "status $status" >>"$name.out"
	[ "$name" = none ] && return
	cmp -s none.out "$name.out" || { problem="$name ends in another way"; diff none.out "$name.out" >log; return 1; }
	reads "$name.txt" tests/paths/dump numbers "$name" -- "$name.wmk" 2>log && [ -s "$name.txt" ] ||
		{ problem="$name: no counts"; return 1; }
	awk -F'\t' '$2 == "unfinished" && $3 < 0' "$name.txt" >log
	[ ! -s log ] || { problem="$name: more activations end than begin"; return 1; }
}

same() {
	cmp -s "$1.txt" "$2.txt" || { problem="$1 and $2 count differently"; diff "$1.txt" "$2.txt" >log; return 1; }
}

counts() {
	count none --wm=contexts || return
	count array -O$(($1 % 3)) && count hash -O$(($1 / 3 % 3)) --wm-path-array=2 && same array hash || return
	count call -O2 --wm-path-array=2 --wm-path-hash=call && same array call || return
	count plan -O$(($1 / 9 % 3)) --wm-path-array=2 --wm-plan="$tmp/array.wmk" && same array plan || return
	printf 'waymark-plan 1\nprofile %s\nhot 60%%\n' "$tmp/array.wmk" >some.plan
	count some -O$(($1 / 3 % 3)) -fPIC --wm-path-array=2 --wm-plan="$tmp/some.plan" && same array some || return
	count warm -O2 --wm-plan="$tmp/array.wmk" && same array warm || return
	count final -O$(($1 % 4)) --wm-stage=final --wm-path-array=$(($1 % 9)) || return
	count final_plan -O$(($1 % 4)) --wm-stage=final --wm-path-array=3 --wm-plan="$tmp/final.wmk" && same final final_plan
}

# check SEED: leaves what went wrong in $problem
check() {
	problem='' kind=
	case $(($1 % 5)) in
	0) before=verify kind=shared ;;
	1) before=verify ;;
	2) before='default<O1>' ;;
	3) before='default<O2>' kind=shared ;;
	4) before='lto<O2>' ;;
	esac
	"$build/tests/instrument/generate_ir" "$1" >module.ll
	if ! timeout 60 opt-19 -passes="$before" -verify-each module.ll -o module.bc 2>log; then
		# LLVM 19's optimizer breaks some of the musttail calls itself.
		[ "$before" = verify ] && problem="generated module is not valid" || echo "skip seed $1: $before alone breaks it"
		return
	fi
	for stage in source final; do
		pass "$1" $stage 4096 && pass "$1" $stage 2 || return 0
	done
	[ -z "$run" ] || counts "$1" || true
}

seed=$2 failed=0
while [ "$seed" -le "$3" ]; do
	check "$seed"
	if [ -n "$problem" ]; then
		failed=$((failed + 1))
		echo "FAIL seed $seed: $problem"
		head -n 6 log
		[ -z "${KEEP:-}" ] || cp module.ll "$KEEP/seed$seed.ll"
	fi
	seed=$((seed + 1))
done
echo "seeds $2 to $3: $failed failed"
[ $failed -eq 0 ]
