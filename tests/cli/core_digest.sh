#!/bin/bash
# core_digest.sh BUILD - the digest of a frame names the branches that decided, by a reckoning by hand at -O0 and -O2; it is in text,
# JSON and on the page; each of its lines is in the frame's paths.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
cp "$here/core_digest.c" .
cat >digest.py <<'END2'
import json, sys
name, core = sys.argv[1], json.load(open(sys.argv[2]))
for thread in core["threads"]:
	for frame in thread["frames"]:
		for line in frame.get("digest", []):
			path = frame["paths"][line["path"]]
			steps = [s for s in path["steps"] if (s["line"], s["file"], s.get("function")) ==
				(line["line"], line["file"], line.get("function"))]
			assert line["block"] in path["blocks"], line
			assert any(line["outcome"] in s.get("outcome", "").split(", ") for s in steps) or \
				line["outcome"] == path["end"] and steps, line
frame = next(f for f in core["threads"][0]["frames"] if f["name"] == name)
print("; ".join("%d %s" % (line["line"], line.get("outcome")) for line in frame["digest"]))
END2

# decided LEVEL ARGUMENT FUNCTION DIGEST
decided() {
	core_of "$1$2.core" "./program-$1" "$2" || exit 1
	expect 0 "$waymark" core --format=json -o core.json "./program-$1" "$1$2.core"
	schema_check core.json
	python3 digest.py "$3" core.json >said.txt 2>err.txt || fail "$1 $2: $(tail -n 1 err.txt)"
	[ "$(cat said.txt)" = "$4" ] || fail "$1 $2: $(cat said.txt); not: $4"
}

for level in O0 O2; do
	"$waymark" cc --wm=trace -g -$level core_digest.c -o program-$level || exit 1
done
# Both early returns; not the assertion, which ends the program, nor what is behind the first `if` either way.
decided O0 e early '25 false; 23 false'
decided O2 e early '25 to line 27; 23 to line 25'
# The end of the list ended the loop; the round before, the key had another one follow.
decided O0 f find '33 p: false; 33 check(p->key) != key: true'
# A case of the last round, and that there was one.
decided O0 c commands "44 case '+'; 43 true"
decided O2 c commands "44 case '+'; 43 back to line 44"
# Every round goes on; only that of 3 comes here.
decided O0 s serve '62 true'
decided O2 s serve '62 to line 63'
# That a was true only led to the test of b: had it been false, the program would have ended here, too.
decided O0 a asserts '73 check(b): false; 72 true'
decided O0 e main "81 case 'e'"

expect 0 "$waymark" core ./program-O0 O0a.core
grep -A 3 'decided by' out.txt | head -n 4 >digest.txt
grep -qE '73 +assert\(check\(a\) && check\(b\)\); +-> check\(b\): false$' digest.txt || fail "text: $(cat digest.txt)"
sed -n 2p digest.txt | grep -q 'check(b)' || fail "the last branch is not first: $(cat digest.txt)"
expect 0 "$waymark" core --format=html -o page.html ./program-O0 O0a.core
grep -A 2 '<h3>Decided by</h3>' page.html | grep -q 'check(b): false' || fail "the page has no digest"

# More than five: the rest with --full.
cat >many.c <<'END2'
static volatile int zero;
__attribute__((noinline)) static void f(int n)
{
	if (zero) return;
	if (n == 1) return;
	if (n == 2) return;
	if (n == 3) return;
	if (n == 4) return;
	if (n == 5) return;
	if (n == 6) return;
	*(volatile int *)8 = 1;
}
int main(int argc, char **argv)
{
	f(argc + 10);
	return 0;
}
END2
"$waymark" cc --wm=trace -g -O0 many.c -o many || exit 1
core_of many.core ./many || exit 1
expect 0 "$waymark" core ./many many.core
has out.txt 'and 2 before these (--full)'
[ "$(sed -n '/decided by/,/and 2 before/p' out.txt | grep -c ' -> false')" = 5 ] || fail "not five lines: $(cat out.txt)"
expect 0 "$waymark" core --full ./many many.core
[ "$(sed -n '/decided by/,/in progress/p' out.txt | grep -c ' -> false')" = 7 ] || fail "not all lines: $(cat out.txt)"
finish
