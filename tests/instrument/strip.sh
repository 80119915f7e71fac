#!/bin/sh
# Stripped programs: what they print in the field is decoded at home by build id, with debug files made and kept in every usual way; a
# program without its debug file gets one line.
#
#   strip.sh BUILD-DIR
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
waymark=$build/waymark
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-strip.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
cd "$tmp"
failed=0

fail() {
	echo "FAIL $*"
	failed=$((failed + 1))
}
build_id() {
	readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'
}
# into_tree ROOT FILE: as distributions keep debug files
into_tree() {
	id=$(build_id "$2")
	rest=${id#??}
	mkdir -p "$1/.build-id/${id%"$rest"}"
	mv "$2" "$1/.build-id/${id%"$rest"}/$rest.debug"
}
# field: runs what is in field/, there, and takes the text and the .wmk home; then the programs are gone from where they ran
field() {
	rm -rf home away
	mkdir home
	(cd field && WAYMARK_OUT=../home LD_LIBRARY_PATH=. ./prog) >home/log.txt || fail "$1: the program fails"
	mv field away
}
# same NAME OPTION...: what came home decodes
same() {
	name=$1
	shift
	(cd home && "$waymark" decode --folded "$@" log.txt) >got 2>err || { fail "$name: exit status $?"; head -n 3 err; }
	cmp -s got expected || { fail "$name:"; diff expected got | head -n 6; }
}
fresh() {
	rm -rf field debug
	mkdir field debug
	cp -p built/* field
}

mkdir built
"$waymark" cc -O2 -g -fPIC -shared -DLIBRARY "$here/strip.c" -o built/libpart.so
"$waymark" cc -O2 -g "$here/strip.c" -Lbuilt -lpart -o built/prog
cat >expected <<'E2'
main;[qsort];compare;show
main;down;down;show
main;library;down;down;down;show
E2

fresh
field "not stripped"
same "not stripped, told where" --exe ../away
same "one file told, then the other" --exe ../away/prog --exe ../away/libpart.so

# GNU's tools, and LLVM's where they are installed.
for tools in objcopy:strip llvm-objcopy-19:llvm-strip-19; do
	objcopy=${tools%:*} strip=${tools#*:}
	command -v "$objcopy" >/dev/null || { echo "skip $objcopy: not installed"; continue; }
	fresh
	for f in prog libpart.so; do
		$objcopy --only-keep-debug field/$f debug/$f.debug
		$strip field/$f
		$objcopy --add-gnu-debuglink=debug/$f.debug field/$f
	done
	field "$strip"
	same "$objcopy: debug files told" --exe ../debug
	cp debug/* away
	same "$objcopy: beside the programs, by debug link" --exe ../away/prog --exe ../away/libpart.so
	mkdir away/.debug
	mv away/*.debug away/.debug
	same "$objcopy: in .debug beside the programs" --exe ../away/prog --exe ../away/libpart.so
	rm -rf away/.debug
	for f in prog libpart.so; do
		into_tree tree-"$strip" debug/$f.debug
	done
	same "$objcopy: by build id alone" --debug-dir ../tree-"$strip"
	same "$objcopy: by build id, programs told" --exe ../away --debug-dir ../tree-"$strip"
done

if command -v eu-strip >/dev/null; then
	fresh
	for f in prog libpart.so; do
		eu-strip -f debug/$f.debug field/$f
		into_tree tree-eu debug/$f.debug
	done
	field "eu-strip"
	same "eu-strip: by build id" --debug-dir ../tree-eu
else
	echo "skip eu-strip: not installed"
fi

# Debug sections that are compressed, by the linker and after it.
for how in zlib zstd; do
	fresh
	"$waymark" cc -O2 -g "$here/strip.c" -Lbuilt -lpart -Wl,--compress-debug-sections=$how -o field/prog
	field "$how by the linker"
	same "$how by the linker" --exe ../away
	fresh
	objcopy --compress-debug-sections=$how field/prog 2>/dev/null || { echo "skip $how: objcopy does not know it"; continue; }
	field "$how by objcopy"
	same "$how by objcopy" --exe ../away
done

# Nothing kept: the program runs as before, and what is missing is said in one line.
fresh
for f in field/*; do
	strip "$f"
done
field "strip"
"$waymark" graph away/prog >got 2>err && fail "graph of a stripped program: exit status 0"
if [ "$(wc -l <err)" != 1 ] || ! grep -q 'away/prog: has no .debug_waymark (stripped' err; then
	fail "graph of a stripped program:"
	cat err
fi
(cd home && "$waymark" decode --folded --exe ../away log.txt) >got 2>err || :
[ "$(grep -c '^wm1:.*\[.*\]$' got)" = 3 ] || { fail "decode without debug files: tokens should stay, with the reason"; cat got err; }

[ $failed = 0 ] && echo "stripped programs decode"
[ $failed = 0 ]
