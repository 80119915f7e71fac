#!/bin/sh
# inputs.sh BUILD-DIR - `waymark cc` with what other compilers and options bring: bitcode of ThinLTO, of a newer LLVM and of gcc, precompiled
# headers and modules, other linkers, -r, static-pie, profiles of LLVM, ccache. Each is instrumented exactly or refused in one line.
set -u
build=${WAYMARK_SANITIZED:-$(cd "$1" && pwd)}
include=$(dirname "$0")/../../include
include=$(cd "$include" && pwd)
cc="$build/waymark cc"
cxx="$build/waymark c++"
clang=$($cc -### -c -x c /dev/null 2>&1 | sed -n 's/.*clang version \([0-9]*\)\..*/\1/p')
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-cc-inputs.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_CC WAYMARK_CXX CCACHE_EXTRAFILES
cd "$tmp" || exit 1
failed=0

fail() {
	echo "FAIL $*"
	failed=$((failed + 1))
}
# says NAME STATUS TEXT COMMAND...: ends so, and has said one line with TEXT in it; TEXT may be empty: nothing
says() {
	name=$1 status=$2 text=$3
	shift 3
	"$@" >out 2>err
	got=$?
	[ $got = "$status" ] || fail "$name: exit status $got: $(head -3 err)"
	if [ -n "$text" ]; then
		[ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err || fail "$name: says: $(head -3 err)"
	else
		[ ! -s err ] || fail "$name: says: $(head -3 err)"
	fi
}
# prints NAME PROGRAM EXPECTED: the tokens that it prints decode to that
prints() {
	"./$2" >tokens 2>/dev/null || fail "$1: exit status $?"
	got=$("$build/waymark" decode --folded --exe "$2" tokens | tr '\n' ' ')
	[ "$got" = "$3 " ] || fail "$1: decoded '$got', want '$3 '"
}
# foreign NAME PROGRAM OBJECTS MEMBERS: what waymark graph says of its objects without bitcode
foreign() {
	got=$("$build/waymark" graph --format=json "$2" | sed -n 's/.*"foreign_\(objects\|members\)": \([0-9]*\).*/\2/p' | tr '\n' ' ')
	[ "$got" = "$3 $4 " ] || fail "$1: waymark graph says '$got', want '$3 $4 '"
}

cat >show.h <<'E2'
#ifndef SHOW_H
#define SHOW_H
#include <stdio.h>
#include <waymark.h>
static inline void show(wm_context c)
{
	char token[WM_TOKEN_MAX];
	wm_token(c, token, sizeof token);
	puts(token);
}
#endif
E2
cat >main.c <<'E2'
#include "show.h"
void part(void (*)(void));
static void back(void) { show(wm_capture()); }
int main(void)
{
	show(wm_capture());
	part(back);
	return 0;
}
E2
# Nothing of it is inlined where it is bitcode, and it makes no capture of its own, so that any compiler can build it.
cat >part.c <<'E2'
void part(void (*f)(void));
static volatile int calls;
__attribute__((noinline)) void part(void (*f)(void)) { f(); calls++; }
E2
direct="main main;part;back"
through="main main;[part];back"

# Bitcode of clang alone: that of full LTO is instrumented, that of ThinLTO is code of others.
"clang-$clang" -flto -O2 -fPIE -gline-tables-only -c part.c -o full.o
says "clang -flto" 0 "" $cc -O2 main.c full.o -o full
prints "clang -flto" full "$direct"
foreign "clang -flto" full 0 0
# Without debug information: the function is there nevertheless, also where what it calls was inlined into it.
"clang-$clang" -flto -O2 -fPIE -c part.c -o bare.o
says "clang -flto without -g" 0 "" $cc -O2 main.c bare.o -o bare
prints "clang -flto without -g" bare "$direct"
for option in "" -ffat-lto-objects -fsplit-lto-unit; do
	# shellcheck disable=SC2086 # empty or a word
	"clang-$clang" -flto=thin $option -O2 -fPIE -c part.c -o thin.o
	says "ThinLTO $option" 0 "thin.o: bitcode of -flto=thin is linked as machine code, not instrumented" $cc -O2 main.c thin.o -o thin
	prints "ThinLTO $option" thin "$through"
	foreign "ThinLTO $option" thin 1 0
	rm -f libthin.a
	"llvm-ar-$clang" rcs libthin.a thin.o
	says "ThinLTO $option in an archive" 0 "./libthin.a(thin.o): bitcode of -flto=thin" $cc -O2 main.c -L. -lthin -o thin
	prints "ThinLTO $option in an archive" thin "$through"
	foreign "ThinLTO $option in an archive" thin 0 1
done
says "ThinLTO that waymark cc compiles" 0 "" $cc -flto=thin -O2 -c part.c -o own.o
says "ThinLTO that waymark cc links" 0 "" $cc -flto=thin -O2 main.c own.o -o own
prints "ThinLTO that waymark cc compiles and links" own "$direct"

# gcc's.
gcc -flto -O2 -fPIE -c part.c -o slim.o
says "gcc -flto" 1 "slim.o: has the intermediate code of gcc -flto and no machine code" $cc main.c slim.o -o slim
rm -f libslim.a
gcc-ar rcs libslim.a slim.o
says "gcc -flto in an archive" 1 "./libslim.a(slim.o): has the intermediate code" $cc main.c -L. -lslim -o slim
gcc -flto -ffat-lto-objects -O2 -fPIE -c part.c -o fat.o
says "gcc -flto -ffat-lto-objects" 0 "" $cc -O2 main.c fat.o -o fat
prints "gcc -flto -ffat-lto-objects" fat "$through"
foreign "gcc -flto -ffat-lto-objects" fat 1 0

# Of a newer LLVM: its number stands in the first block, in letters of six bits.
cat >newer.py <<'E2'
import sys
letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
def bits(text):
    return sum(letters.index(c) << 6 * i for i, c in enumerate(text))
data = bytearray(open(sys.argv[1], "rb").read())
start = data.find(b"BC\xc0\xde")
word = int.from_bytes(data[start : start + 64], "little")
old, size = bits("LLVM" + sys.argv[3]), 6 * len("LLVM" + sys.argv[3])
at = [i for i in range(512 - size) if word >> i & (1 << size) - 1 == old]
assert len(at) == 1, at
word ^= (old ^ bits("LLVM99")) << at[0]
data[start : start + 64] = word.to_bytes(64, "little")
open(sys.argv[2], "wb").write(data)
E2
python3 newer.py full.o newer.o "$clang" || fail "no bitcode of a newer LLVM"
says "newer bitcode" 1 "newer.o: bitcode of LLVM 99, which LLVM $clang cannot read; compile it with waymark cc" $cc main.c newer.o -o newer
"clang-$clang" -flto -ffat-lto-objects -O2 -fPIE -c part.c -o fat.o
python3 newer.py fat.o newer.o "$clang" || fail "no object of a newer LLVM"
says "newer object" 0 "newer.o: bitcode of LLVM 99, which LLVM $clang cannot read: linked as machine code" $cc -O2 main.c newer.o -o newer
prints "newer object" newer "$through"
foreign "newer object" newer 1 0

# Headers and modules are compiled to files of their own: nothing is linked.
for words in "-x c-header show.h" show.h "-xc-header show.h" "-x c-header show.h -c"; do
	# shellcheck disable=SC2086 # a list of words
	says "$words" 0 "" $cc -O2 $words -o show.pch
	says "$words: used" 0 "" $cc -O2 -include-pch show.pch main.c part.c -o header
	prints "$words: used" header "$direct"
done
cat >shape.cppm <<'E2'
module;
#include <stdio.h>
#include <waymark.h>
export module shape;
export template <class T> T twice(T x) { return x + x; }
export __attribute__((noinline)) int draw(int n)
{
	char token[WM_TOKEN_MAX];
	wm_token(wm_capture(), token, sizeof token);
	puts(token);
	return n;
}
export inline int both(int n) { return draw(n) + draw(n); }
E2
printf 'import shape;\nint main() { return twice(both(1)) - 4; }\n' >import.cpp
std=-std=c++20
shape="main;both@shape(int);draw@shape(int) main;both@shape(int);draw@shape(int)"
for what in contexts contexts,paths; do
	says "module, $what" 0 "" $cxx --wm=$what $std -O1 --precompile shape.cppm -o shape.pcm
	says "module's object, $what" 0 "" $cxx --wm=$what $std -O1 -c shape.pcm -o shape.o
	says "import, $what" 0 "" $cxx --wm=$what $std -O1 -fmodule-file=shape=shape.pcm import.cpp shape.o -o module
	prints "import, $what" module "$shape"
	says "module in one step, $what" 0 "" $cxx --wm=$what $std -O1 -fmodule-file=shape=shape.pcm import.cpp shape.cppm -o module
	prints "module in one step, $what" module "$shape"
done
says "header unit" 0 "" $cxx $std -fmodule-header=user show.h -o show.pcm

# Other linkers.
for word in -fuse-ld=bfd -fuse-ld=gold --ld-path=/usr/bin/ld.bfd; do
	for what in contexts paths trace; do
		says "$word, $what" 0 "$word: linked with lld" $cc --wm=$what -O2 $word main.c part.c -o linked
		readelf -p .comment linked | grep -q LLD || fail "$word, $what: not linked with lld"
	done
	says "$word, none" 0 "" $cc --wm=none $word -O2 part.c -shared -fPIC -o linked.so
	readelf -p .comment linked.so | grep -q LLD && fail "$word, none: linked with lld"
done
says "--ld-path of lld" 0 "" $cc --ld-path="/usr/bin/ld.lld-$clang" -O2 main.c part.c -o linked
prints "--ld-path of lld" linked "$direct"
# Build systems ask which linker it is.
for word in "-Wl,--version" "-Xlinker --version"; do
	# shellcheck disable=SC2086
	$cc $word 2>&1 | grep -q LLD || fail "$word: is not answered by lld"
	# shellcheck disable=SC2086
	$cc --wm=none $word 2>&1 | grep -q 'GNU ld' || fail "$word with --wm=none: is not answered by GNU ld"
done

# -r in each of its spellings leaves machine code.
says "objects" 0 "" $cc -O2 -fPIE -c main.c part.c
for word in -r "-no-pie -nostdlib -Wl,-r" "-no-pie -nostdlib -Wl,--relocatable" "-no-pie -nostdlib -Xlinker -r"; do
	# shellcheck disable=SC2086
	says "$word" 0 "-r: whole.o has no bitcode" $cc $word main.o part.o -o whole.o
	says "$word: linked" 0 "" $cc whole.o -o whole
	[ "$(./whole 2>/dev/null)" = "wm1:not-instrumented
wm1:not-instrumented" ] || fail "$word: prints $(./whole 2>&1)"
done

says "static-pie" 0 "" $cc -static-pie -O2 main.c part.c -o pie
readelf -d pie | grep -q 'FLAGS_1.*PIE' || fail "static-pie: is none"
readelf -l pie | grep -q INTERP && fail "static-pie: is not static"
prints "static-pie" pie "$direct"

# Profiles and coverage of LLVM: their files are written, and say what ran.
says "-fprofile-generate" 0 "" $cc -O2 -fprofile-generate main.c part.c -o generate
LLVM_PROFILE_FILE=generate.profraw
export LLVM_PROFILE_FILE
prints "-fprofile-generate" generate "$direct"
"llvm-profdata-$clang" merge generate.profraw -o generate.profdata 2>err || fail "-fprofile-generate: $(head -1 err)"
"llvm-profdata-$clang" show --counts --function=part generate.profdata | grep -q 'Block counts: \[1\]\|Function count: 1' || fail "-fprofile-generate: part() has not run once"
says "-fprofile-use" 0 "" $cc -O2 -fprofile-use=generate.profdata main.c part.c -o use
prints "-fprofile-use" use "$direct"
says "coverage of the source" 0 "" $cc -O2 -fprofile-instr-generate -fcoverage-mapping main.c part.c -o coverage
prints "coverage of the source" coverage "$direct"
"llvm-profdata-$clang" merge generate.profraw -o coverage.profdata
"llvm-cov-$clang" report ./coverage -instr-profile=coverage.profdata 2>&1 | grep -q '^part.c .* 100.00%' || fail "coverage of the source: part.c is not covered"
says "--coverage" 0 "" $cc --coverage -O0 main.c part.c -o gcov
prints "--coverage" gcov "$direct"
"llvm-cov-$clang" gcov -n gcov-part.gcda 2>&1 | grep -q 'Lines executed:100.00%' || fail "--coverage: part.c is not covered"

# ccache runs the compiler for each set of options, and for each content of files that CCACHE_EXTRAFILES names.
if command -v ccache >/dev/null; then
	CCACHE_DIR=$tmp/cache
	unset CCACHE_DISABLE CCACHE_PREFIX CCACHE_RECACHE
	export CCACHE_DIR
	# cached NAME HITS COMMAND...: how many results are out of the cache from now on
	cached() {
		name=$1 hits=$2
		shift 2
		"$@" 2>err || fail "ccache, $name: $(head -3 err)"
		got=$(ccache --print-stats | awk '$1 ~ /^(direct|preprocessed)_cache_hit$/ { n += $2 } END { print n + 0 }')
		[ "$got" = "$hits" ] || fail "ccache, $name: $got hits, want $hits"
	}
	$cc -O2 -c main.c -o want.o
	cached "first" 0 ccache "$build/waymark-cc" -O2 -c main.c -o got.o
	cached "again" 1 ccache "$build/waymark-cc" -O2 -c main.c -o got.o
	cmp -s want.o got.o || fail "ccache: the object is another one"
	cached "paths" 1 ccache "$build/waymark-cc" --wm=paths -O2 -c main.c -o got.o
	cached "trace" 1 ccache "$build/waymark-cc" --wm=trace -O2 -c main.c -o got.o
	printf 'waymark-plan 1\nfunction main\n' >plan
	CCACHE_EXTRAFILES=plan
	export CCACHE_EXTRAFILES
	cached "plan" 1 ccache "$build/waymark-cc" --wm=paths --wm-plan=plan -O2 -c main.c -o got.o
	cached "plan again" 2 ccache "$build/waymark-cc" --wm=paths --wm-plan=plan -O2 -c main.c -o got.o
	printf 'waymark-plan 1\nfunction back\n' >plan
	cached "other plan" 2 ccache "$build/waymark-cc" --wm=paths --wm-plan=plan -O2 -c main.c -o got.o
else
	echo "ccache is not installed: not tested"
fi

[ $failed = 0 ] && echo "waymark cc: inputs of others are instrumented or named" || echo "waymark cc: $failed failed"
[ $failed = 0 ]
