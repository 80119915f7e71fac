#!/bin/sh
# ir.sh BUILD - waymark ir: the bitcode of a traced program is what LLVM takes, before instrumentation, found by build id.
. "$(dirname "$0")/lib.sh"

cat >prog.c <<'END'
#include <stdio.h>
__attribute__((noinline)) static int walk(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 3 ? i : n;
	return sum;
}
int main(int argc, char **argv)
{
	(void)argv;
	return printf("%d\n", walk(argc)) < 0;
}
END
"$waymark" cc -O1 -g --wm=trace prog.c -o prog || exit 1
expect 0 "$waymark" ir prog -o prog.bc
llvm-dis-19 prog.bc -o prog.ll || fail "llvm-dis"
grep -q 'define internal .*@walk(' prog.ll || fail "no function walk: $(grep define prog.ll)"
lacks prog.ll wm1
lacks prog.ll waymark_points
expect 0 "$waymark" ir prog
cmp -s out.txt prog.bc || fail "standard output has something else"
# What it says is what runs.
clang-19 -O1 prog.bc -o again 2>/dev/null && [ "$(./again 1 2 3)" = "$(./prog 1 2 3)" ] || fail "the bitcode is another program"

objcopy --only-keep-debug prog kept.dbg
cp prog stripped && strip stripped
refused 1 'has no .debug_waymark_ir' "$waymark" ir stripped
expect 0 "$waymark" ir stripped --exe kept.dbg -o stripped.bc
cmp -s stripped.bc prog.bc || fail "of the debug file it is something else"

"$waymark" cc -O1 --wm=none prog.c -o plain || exit 1
refused 1 'has no .debug_waymark_ir' "$waymark" ir plain
refused 1 'no ELF file' "$waymark" ir prog.c
refused 1 'No such file' "$waymark" ir missing
refused 2 'one program' "$waymark" ir
refused 1 'nowhere' "$waymark" ir prog -o nowhere/prog.bc
objcopy --dump-section .debug_waymark_ir=section prog && printf 'x' | dd of=section bs=1 seek=100 conv=notrunc status=none
objcopy --update-section .debug_waymark_ir=section prog damaged
refused 1 'damaged: .debug_waymark_ir: offset 0x' "$waymark" ir damaged -o damaged.bc
[ ! -e damaged.bc ] || fail "damaged.bc was written"
finish
