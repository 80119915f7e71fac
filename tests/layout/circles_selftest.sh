#!/bin/sh
# circles_selftest.sh CIRCLES-SH CC... - circles.sh must find a circle of four files, over code or data, and nothing in one of three.
set -eu
circles=$1
shift
cc=$*
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
part=$tree/src/house/libhouse.a.p
mkdir -p "$part"

# file NAME USED: NAME.c defines the function NAME, which uses the function USED
file() {
	echo "void $2(void); __attribute__((visibility(\"hidden\"))) void $1(void); void $1(void) { $2(); }" >"$tree/$1.c"
	$cc -c -o "$part/room_$1.c.o" "$tree/$1.c"
}

passes() {
	"$circles" "$tree" >"$tree/out" || { echo "it fails:"; cat "$tree/out"; exit 1; }
}
fails() {
	if "$circles" "$tree" >"$tree/out"; then
		echo "it passes"
		exit 1
	fi
}

file a b
file b c
file c a
file d a
passes
file c d
fails
grep -q '^4 files' "$tree/out"
grep -q '^  libhouse.a/house/room_c.c -> libhouse.a/house/room_d.c: d$' "$tree/out"
# Data closes a circle, too; another library's file of that name does not.
echo 'extern int word; int c(void); int c(void) { return word; }' >"$tree/c.c"
echo 'int a(void); extern int (*keep)(void); int (*keep)(void) = a; int word;' >"$tree/d.c"
for name in c d; do
	$cc -c -o "$part/room_$name.c.o" "$tree/$name.c"
done
fails
mkdir "$tree/src/house/libother.a.p"
mv "$part/room_d.c.o" "$tree/src/house/libother.a.p"
passes
