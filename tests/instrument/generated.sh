#!/bin/sh
# The random C and C++ programs of tests/random, as bitcode at each -O level, through the pass alone: every module must stay valid and come
# out of the code generator, as a program and as a shared library, with debug information and without.
#
#   generated.sh BUILD-DIR FIRST LAST      e.g. generated.sh build 1 1000
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-generated.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
unset WAYMARK_LINK_OUTPUT WAYMARK_LINK_KIND
cd "$tmp"

# one SEED LEVEL: leaves what went wrong in $problem
one() {
	problem=
	debug=-g0 kind=
	[ $((($1 + ${#2}) % 2)) = 0 ] || debug=-g
	[ "$shared" = 0 ] || kind=shared
	for part in part0 part1; do
		"$compiler" -w -D__WAYMARK__=1 "-$2" $debug -fPIC -I"$here/../../include" -I"$here/../random" -I. -emit-llvm -c "$part.$lang" \
			-o $part.bc 2>log || { problem="does not compile"; return; }
	done
	llvm-link-19 part0.bc part1.bc -o whole.bc 2>log || { problem="does not link"; return; }
	if ! WAYMARK_LINK_KIND=$kind timeout 60 opt-19 -load-pass-plugin="$build/src/instrument/waymark-pass.so" \
		-passes=waymark-keep-signatures,waymark-contexts,verify whole.bc -o done.bc 2>log; then
		problem="the pass fails"
	elif ! timeout 60 llc-19 -O1 -relocation-model=pic -filetype=obj done.bc -o done.o 2>log; then
		problem="the code generator fails"
	fi
}

seed=$2 failed=0 lang='' shared=''
while [ "$seed" -le "$3" ]; do
	eval "$("$build/tests/random/generate" "$seed" .)"
	[ "$lang" = c ] && compiler=clang-19 || compiler=clang++-19
	# Two levels for each seed; all of them within three seeds.
	case $((seed % 3)) in
	0) levels="O0 O2" ;;
	1) levels="O1 O3" ;;
	2) levels="Os O2" ;;
	esac
	for level in $levels; do
		one "$seed" "$level"
		[ -n "$problem" ] || continue
		failed=$((failed + 1))
		echo "FAIL seed $seed ($lang, $level, $debug${kind:+, }$kind): $problem"
		head -n 4 log
	done
	seed=$((seed + 1))
done
echo "seeds $2 to $3: $failed failed"
[ $failed -eq 0 ]
