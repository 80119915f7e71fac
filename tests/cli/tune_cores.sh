#!/bin/bash
# tune_cores.sh BUILD - programs that `waymark cc` built with several schemes: WAYMARK_SCHEME and waymark tune decide what their
# cores tell, and a core decides what the next one does.
. "$(dirname "$0")/lib.sh"
. "$here/../support/core.sh"
unset WAYMARK_SCHEME

cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int library(int n, int end);
int other_leaf(int n);
static __attribute__((noinline)) int leaf(int n)
{
	if (n == 5)
		abort();
	return n * 2;
}
static __attribute__((noinline)) int walk(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 3 ? leaf(i) : library(i, n);
	return sum;
}
__attribute__((noinline)) int aside(int n)
{
	return n > 2 ? printf("%d\n", n) : other_leaf(n);
}
int callback(int n)
{
	return leaf(n) + 1;
}
int main(int argc, char **argv)
{
	return aside(argc) + walk(argc > 1 ? atoi(argv[1]) : 3) == 12345;
}
END
cat >jumps.c <<'END'
#include <stdlib.h>
int library(int n, int end)
{
	static void *const to[] = {&&up, &&down, &&end_it}; /* its address cannot be that of two bodies */
	unsigned int at = (unsigned int)n;

	(void)end;
	goto *to[at % 3];
up:
	at++;
	goto *to[at % 3];
down:
	at++;
	goto *to[at % 3];
end_it:
	abort();
}
END
cat >other_leaf.c <<'END'
int other_leaf(int n);
static __attribute__((noinline)) int leaf(int n)
{
	return n > 1 ? n : 7;
}
int other_leaf(int n)
{
	return leaf(n) + leaf(n + 1);
}
END
cat >library.c <<'END'
int callback(int n);
int library(int n, int end);
static __attribute__((noinline)) int leaf(int n, int end)
{
	return end == 4 ? callback(5) + 1 : n;
}
int library(int n, int end)
{
	return n > 2 ? leaf(n, end) + 1 : 0;
}
END
wm_cc() {
	"$waymark" cc -O1 -g '--wm=trace=aside=none|cc;*=none|cc|fc+pt|cc+pt' "$@"
}
wm_cc -shared -fPIC library.c -o liblibrary.so || exit 1
wm_cc prog.c other_leaf.c -o prog -L. -llibrary -Wl,-rpath,"$tmp" || exit 1
cp prog prog.unstripped

expect 0 "$waymark" tune prog --list
[ "$(grep -c ' none     none cc fc+pt cc+pt$' out.txt)" -eq 6 ] || fail "list of prog: $(cat out.txt)"
grep -q '^aside .* none     none cc$' out.txt || fail "list of prog: $(cat out.txt)"
expect 0 "$waymark" tune liblibrary.so --list
[ "$(wc -l <out.txt)" -eq 3 ] || fail "list of the library: $(cat out.txt)"

# paths_of CORE: how many frames tell paths
paths_of() {
	"$waymark" core --format=json prog "$1" >core.json 2>err.txt || fail "waymark core: $(cat err.txt)"
	grep -c '"trace": "\(whole\|last\)"' core.json
}
core_of off.core ./prog 9 >/dev/null 2>&1 || exit 1
[ "$(paths_of off.core)" -eq 0 ] || fail "paths with everything off"
WAYMARK_SCHEME='*=cc+pt' core_of on.core ./prog 9 >/dev/null 2>err.txt
[ "$(paths_of on.core)" -ge 3 ] || fail "WAYMARK_SCHEME: $(paths_of on.core) frames with paths"

# From the core of a run without tracing: its functions get paths, others not; what --set says comes before.
expect 0 "$waymark" tune prog --from off.core --list
has out.txt "prog: 3 of 7 functions changed"
for f in leaf walk main; do
	grep -q "^$f .*/prog.c  *cc+pt    none cc fc+pt cc+pt$" out.txt || fail "--from, $f: $(cat out.txt)"
done
for f in aside callback; do
	grep -q "^$f .* none     none cc" out.txt || fail "--from, $f: $(cat out.txt)"
done
grep -q "^leaf .*/other_leaf.c  *none " out.txt || fail "--from, another leaf: $(cat out.txt)"
core_of tuned.core ./prog 9 >/dev/null 2>&1
[ "$(paths_of tuned.core)" -ge 3 ] || fail "tuned: $(paths_of tuned.core) frames with paths"
expect 0 "$waymark" tune prog --set '*=cc' --from off.core -o both --list
has out.txt "both: 4 of 7 functions changed"
grep -q "^aside .* cc  *none cc$" out.txt || fail "--set and --from: $(cat out.txt)"

# The library, by a core that names its program; what was chosen with coverage keeps it.
core_of library.core ./prog 4 >/dev/null 2>&1
expect 0 "$waymark" tune liblibrary.so --set library=cc --from library.core --list
has out.txt "liblibrary.so: 2 of 2 functions changed"
[ "$(grep -c ' cc+pt    none' out.txt)" -eq 2 ] || fail "--from, the library: $(cat out.txt)"
core_of library.core ./prog 4 >/dev/null 2>&1
[ "$(paths_of library.core)" -ge 5 ] || fail "library: $(paths_of library.core) frames with paths"

# A function that was not compiled several times, and one whose schemes keep no paths.
"$waymark" cc -O1 -g '--wm=trace=walk=none|cc;*=none|cc+pt' prog.c other_leaf.c jumps.c -o jumps || exit 1
core_of jumps.core ./jumps 9 >/dev/null 2>&1
expect 0 "$waymark" tune jumps --from jumps.core
has out.txt "jumps: 1 of 6 functions changed"
has err.txt "jumps.core: library and 1 more of its functions have no scheme with paths compiled in"

# Stripped, with the debug file elsewhere.
cp prog.unstripped stripped
objcopy --only-keep-debug prog.unstripped kept.dbg
strip stripped
cp stripped prog
core_of stripped.core ./prog 9 >/dev/null 2>&1
expect 1 "$waymark" tune prog --from stripped.core
has err.txt "frames of prog have no known function: give its debug file with --exe or --debug-dir"
has err.txt "no function on the stacks of stripped.core has a scheme with paths to choose"
cmp -s prog stripped || fail "prog was changed"
expect 0 "$waymark" tune prog --from stripped.core off.core --exe kept.dbg
has out.txt "prog: 3 of 7 functions changed"

refused 1 'No such file' "$waymark" tune prog --from nothing.core
printf 'int main(void) { return 0; }\n' >other.c
wm_cc other.c -o other
refused 1 'build id' "$waymark" tune other --from off.core
finish
