#!/bin/sh
# tune.sh BUILD - waymark tune: programs of each kind are changed as asked, whole or not at all, and run so; wrong rules and
# files that cannot be tuned get one line.
. "$(dirname "$0")/lib.sh"
unset WAYMARK_SCHEME
source=$here/../runtime/tunables.c

# build_program NAME FLAG...: three functions (tests/runtime/tunables.c), of their schemes the first is chosen
build_program() {
	name=$1
	shift
	clang-19 -g -O1 -I"$here/.." -I"$here/../../include" "$@" "$source" -o "$name" -fuse-ld=lld -Wl,--whole-archive \
		"$build/src/runtime/libwaymark-trace.a" -Wl,--no-whole-archive -Wl,--build-id || exit 1
}
# runs NAME WANT: what it prints, in one line
runs() {
	got=$("./$1" | tr '\n' ' ')
	[ "$got" = "$2 " ] || fail "$1: runs as: $got"
}
build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

none='main 0 _ZN2ns3barEi 0 helper 0'
tuned='main 1 _ZN2ns3barEi 1 helper 7'
build_program pie -DPLAIN
build_program fixed -no-pie
build_program static -static -DSTATIC
build_program lib.so -shared -fPIC -DLIBRARY
cp pie stripped && strip stripped
for p in pie fixed static stripped; do
	runs $p "$none"
	cp $p original
	chmod 751 $p
	id=$(build_id $p)
	expect 0 "$waymark" tune $p --set '*=cc+pt'
	has out.txt "$p: 3 of 3 functions changed"
	runs $p "$tuned"
	[ "$(stat -c %a $p)" = 751 ] || fail "$p: another mode: $(stat -c %a $p)"
	[ "$(build_id $p)" = "$id" ] || fail "$p: another build id"
	[ "$(cmp -l original $p | wc -l)" -eq 3 ] || fail "$p: other bytes changed"
	expect 0 "$waymark" tune $p --set '*=cc+pt'
	has out.txt "$p: 0 of 3 functions changed"
	expect 0 "$waymark" tune $p --set 'ns::bar=cc' --set 'main=none;helper=none'
	cmp -s original $p || fail "$p: not as it was"
done
expect 0 "$waymark" tune lib.so --set 'in_*=pt'
expect 0 ./pie ./lib.so
has out.txt "in_library 1"

# Names of every kind, files, first rule, rules in a file.
for rule in 'bar' '_ZN2ns*' 'ns::bar' 'ns::bar(int)' 'ns::*' 'file:*.cpp' 'file:lib/bar.cpp'; do
	expect 0 "$waymark" tune pie -o out --set "$rule=cc+pt"
	runs out 'main 0 _ZN2ns3barEi 1 helper 0'
	has out.txt "out: 1 of 3 functions changed"
done
expect 0 "$waymark" tune pie -o out --set 'helper=stmt; main = fc' --set '*=cc+pt'
runs out 'main 2 _ZN2ns3barEi 1 helper 4'
[ ! -s err.txt ] || fail "says: $(cat err.txt)"
expect 0 "$waymark" tune pie -o out --set '*r*=cc+pt' --set 'bar=cc'
has err.txt '"bar" has no effect: rules before it match its functions'
runs out 'main 0 _ZN2ns3barEi 1 helper 7'
printf '# these\nhelper=pt\nmain=cc+pt # and this one\n' >rules
expect 0 "$waymark" tune pie -o out --set @rules
runs out 'main 1 _ZN2ns3barEi 0 helper 5'
runs pie "$none"
WAYMARK_SCHEME='helper=fc' ./out | tr '\n' ' ' | grep -qx 'main 1 _ZN2ns3barEi 0 helper 1 ' ||
	fail "WAYMARK_SCHEME does not win over tune"

cat >want <<'END'
function      file             chosen    available
helper        -                fc+cc+pt  none fc cc fc+cc stmt pt fc+pt cc+pt fc+cc+pt stmt+pt
ns::bar(int)  src/lib/bar.cpp  cc        cc cc+pt
main          src/main.c       none      none cc+pt fc
END
expect 0 "$waymark" tune pie -o out --set helper=fc+cc+pt
runs out 'main 0 _ZN2ns3barEi 0 helper 8'
expect 0 "$waymark" tune out --list
diff want out.txt || fail "--list"
expect 0 "$waymark" tune out --set helper=none --list
head -n 1 out.txt | grep -qx "out: 1 of 3 functions changed" || fail "--set and --list: $(head -n 1 out.txt)"
[ "$(grep -c "^helper  *-  *none  " out.txt)" -eq 1 ] || fail "--set and --list: $(cat out.txt)"

# A program that is running is replaced, and goes on as it was; links lead to the new one or keep the old one.
cat >wait.c <<'END'
#include "runtime/tunables.h"
TUNABLE("f", "", "", 2, "0, 8, 0, 0, 0, 0, 0, 0, 0, 0");
int main(void)
{
	tunables_print();
	fflush(stdout);
	getchar();
	tunables_print();
	return 0;
}
END
source=$tmp/wait.c
build_program waiting
source=$here/../runtime/tunables.c
ln -s waiting symbolic
ln waiting hard
mkfifo in out1
./waiting <in >out1 &
exec 3>in 4<out1
read -r line <&4
expect 0 "$waymark" tune symbolic --set f=pt
has out.txt "symbolic: 1 of 1 function changed"
echo >&3
read -r after <&4
exec 3>&- 4<&-
wait $!
[ "$line $after" = "f 0 f 0" ] || fail "a running program: $line, then $after"
[ -h symbolic ] || fail "the symbolic link was replaced"
[ "$(echo | ./waiting | head -n 1)" = "f 1" ] || fail "a running program was not replaced"
[ "$(echo | ./hard | head -n 1)" = "f 0" ] || fail "a hard link was changed in place"

# What belongs to the file stays; what is only copied is no set-user-ID program.
cp pie kept
chmod 4750 kept
if setfattr -n user.waymark -v yes kept 2>/dev/null; then
	expect 0 "$waymark" tune kept --set helper=fc
	[ "$(getfattr --only-values -n user.waymark kept)" = yes ] || fail "an extended attribute is gone"
else
	expect 0 "$waymark" tune kept --set helper=fc
fi
[ "$(stat -c %a kept)" = 4750 ] || fail "kept: another mode: $(stat -c %a kept)"
expect 0 "$waymark" tune kept --set helper=cc -o copied
[ "$(stat -c %a copied)" = 750 ] || fail "copied: another mode: $(stat -c %a copied)"

# Nothing is changed when anything is wrong.
cp pie original
refused 2 "unknown scheme" "$waymark" tune pie --set 'main=yes'
refused 2 'no "="' "$waymark" tune pie --set 'main'
refused 2 'several schemes: choose one' "$waymark" tune pie --set 'main=none|cc'
refused 2 'it contains no rule' "$waymark" tune pie --set ' # none'
refused 1 'function main has no scheme stmt compiled in, only none, cc+pt, fc; 1 more lack theirs' \
	"$waymark" tune pie --set '*=stmt'
refused 1 'function ns::bar(int) has no scheme pt compiled in, only cc, cc+pt' "$waymark" tune pie --set 'bar=pt;*=none'
refused 1 'matches "nobody"' "$waymark" tune pie --set 'nobody=cc;main=cc+pt'
refused 1 'cannot be written' "$waymark" tune pie --set 'main=fc' -o nowhere/out
refused 2 '--set, --from or --list' "$waymark" tune pie
refused 2 'a program is needed' "$waymark" tune --list
refused 2 'one program' "$waymark" tune pie pie --list
refused 1 'No such file' "$waymark" tune missing --list
refused 1 'No such file' "$waymark" tune pie --set @missing
cmp -s original pie || fail "pie was changed"
if [ "$(id -u)" -ne 0 ]; then
	mkdir locked && cp pie locked/ && chmod 555 locked
	refused 1 'cannot be written' "$waymark" tune locked/pie --set 'main=fc'
	chmod 755 locked
fi
left=$(find . -name '*.??????' | head -n 1)
[ -z "$left" ] || fail "left behind: $left"

# Files of other kinds.
objcopy --only-keep-debug pie pie.debug
refused 1 'is a debug file' "$waymark" tune pie.debug --list
refused 1 'no function has several schemes' "$waymark" tune /bin/true --list
clang-19 -c -I"$here/.." -I"$here/../../include" "$source" -o tunables.o
refused 1 'is not linked yet' "$waymark" tune tunables.o --list
cp pie headless
printf '\0\0\0\0\0\0\0\0' | dd of=headless bs=1 seek=40 conv=notrunc status=none
printf '\0\0\0\0' | dd of=headless bs=1 seek=60 conv=notrunc status=none
refused 1 'has no section headers' "$waymark" tune headless --list
echo text >text
refused 1 'this is no ELF file' "$waymark" tune text --list
: >empty
refused 1 'this is no ELF file' "$waymark" tune empty --list
refused 1 'is a directory' "$waymark" tune . --list
head -c 3000 pie >short
refused 1 'is truncated' "$waymark" tune short --list
finish
