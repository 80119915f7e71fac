#!/bin/sh
# diff.sh BUILD - differences of recordings of two builds: numbers, moved code, filters, exit status.
. "$(dirname "$0")/lib.sh"

# Two builds: lines differ, a function is in another file, one has another name. program N: how often each event happens.
cat >common.h <<'EOF'
#include <stdlib.h>
#include <waymark.h>
extern int times;
void moved(void);
#define event(count)                          \
	do {                                  \
		for (int i = 0; i < (count); i++) \
			wm_event("work", 10); \
	} while (0)
EOF
cat >moved.c <<'EOF'
#include "common.h"
__attribute__((noinline)) void moved(void)
{
	event(1);
}
EOF
cp moved.c other.c
mkdir a b
cat >a/prog.c <<'EOF'
#include "../common.h"
int times;
__attribute__((noinline)) static void grows(void) { event(times); }
__attribute__((noinline)) static void goes(void) { event(2); }
__attribute__((noinline)) static void same(void) { event(4); }
int main(int argc, char **argv)
{
	times = argc > 1 ? atoi(argv[1]) : 1;
	grows();
	goes();
	same();
	moved();
}
EOF
{
	printf '\n\n\n'
	sed 's/goes/comes/' a/prog.c
} >b/prog.c
"$waymark" cc -O1 -g a/prog.c moved.c -o old && "$waymark" cc -O1 -g b/prog.c other.c -o new || exit 1
expect 0 "$waymark" run --events -q -o old.wmk ./old 10
expect 0 "$waymark" run --events -q -o new.wmk ./new 13

expect 0 "$waymark" diff old.wmk new.wmk
has out.txt "  goes -> comes"
expect 0 "$waymark" diff --format=folded old.wmk new.wmk
printf '%s\n' "main;comes 2 2" "main;grows 10 13" "main;moved 1 1" "main;same 4 4" | cmp - out.txt || fail "renamed: $(cat out.txt)"
expect 0 "$waymark" diff --format=svg -o out.svg old.wmk new.wmk
has out.svg "renamed from goes"
expect 0 "$waymark" diff --no-renames old.wmk new.wmk
has out.txt "work: 17 -> 20, +3 (+17.6 %)"
has out.txt "Functions by change of self: 4"
grep -qE '^ +10 +13 +\+3 +\+30.0 % +\+3  grows$' out.txt || fail "grows: $(cat out.txt)"
grep -qE '^ +2 +0 +-2 +-100.0 % +-2  goes$' out.txt || fail "goes: $(cat out.txt)"
grep -qE '^ +0 +2 +\+2 +new +\+2  comes$' out.txt || fail "comes: $(cat out.txt)"
lacks out.txt "same"
lacks out.txt "moved" # its numbers did not change
expect 0 "$waymark" diff --no-renames --format=folded old.wmk new.wmk
printf '%s\n' "main;comes 0 2" "main;goes 2 0" "main;grows 10 13" "main;moved 1 1" "main;same 4 4" | cmp - out.txt ||
	fail "folded: $(cat out.txt)"
expect 0 "$waymark" diff --no-renames --metric=work:sum --format=json old.wmk new.wmk
python3 - out.txt <<'END_PYTHON' || fail "json: $(cat out.txt)"
import json
import sys

diff = json.load(open(sys.argv[1], encoding="utf-8"))
assert diff["total"] == [170, 200] and diff["metric"] == "work:sum"
assert {f["name"]: f["self"] for f in diff["functions"]} == {"grows": [100, 130], "goes": [20, 0], "comes": [0, 20], "main": [0, 0]}
assert [c["functions"][-1] for c in diff["contexts"]] == ["grows", "comes", "goes"]
assert not diff["renamed"] and all(site is None for c in diff["contexts"] for site in c["sites"])
END_PYTHON
expect 0 "$waymark" diff --format=svg -o out.svg old.wmk new.wmk
has out.svg "10 -&gt; 13 (+30.0%)"
expect 0 "$waymark" diff --no-renames --min=15 old.wmk new.wmk
has out.txt "Contexts by change: 1 of 3 that changed"

# A function that is in another file, and changed.
sed 's/event(1)/event(5)/' moved.c >other.c
"$waymark" cc -O1 -g b/prog.c other.c -o newer || exit 1
expect 0 "$waymark" run --events -q -o newer.wmk ./newer 10
expect 0 "$waymark" diff --function=moved old.wmk newer.wmk
grep -qE '^ +1 +5 +\+4 +\+400.0 % +\+4  moved \(moved from .*moved\.c to .*other\.c\)$' out.txt || fail "moved: $(cat out.txt)"

# Call sites: lines came in, a call came, another one went; `inner` is inlined in the new build alone.
mkdir c d
cat >c/sites.c <<'EOF'
#include "../common.h"
int times;
INNER void inner(int n) { event(n); }
__attribute__((noinline)) static void outer(int n) { inner(n); }
__attribute__((noinline)) static void other(void) { event(1); }
int main(void)
{
	outer(10);
	outer(20);
	other();
	outer(30);
	outer(40);
	times = 1;
}
EOF
sed -e 's/^{/\n\n{/' -e 's/outer(20)/outer(22)/' -e '/outer(30)/d' -e 's/times = 1;/times = 2;/' c/sites.c >d/sites.c
"$waymark" cc -O1 -g '-DINNER=__attribute__((noinline)) static' c/sites.c -o sites-old || exit 1
"$waymark" cc -O1 -g '-DINNER=__attribute__((always_inline)) static inline' d/sites.c -o sites-new || exit 1
expect 0 "$waymark" run --events -q -o sites-old.wmk ./sites-old
expect 0 "$waymark" run --events -q -o sites-new.wmk ./sites-new
expect 0 "$waymark" diff --format=json sites-old.wmk sites-new.wmk
python3 - out.txt <<'END_PYTHON' || fail "sites: $(cat out.txt)"
import json
import sys

diff = json.load(open(sys.argv[1], encoding="utf-8"))
found = [(c["functions"], c["sites"][0] and c["sites"][0]["lines"], c["value"]) for c in diff["contexts"]]
way = ["main", "outer", "inner"]
assert found == [(way, None, [70, 40]), (way, [9, 11], [20, 22])], found  # which of the last two went is not known
END_PYTHON
expect 0 "$waymark" diff sites-old.wmk sites-new.wmk
has out.txt "sites.c:11 (was 9)"

# The exit status.
expect 0 "$waymark" diff --fail-above=18% old.wmk new.wmk
expect 3 "$waymark" diff --fail-above=17% old.wmk new.wmk
has out.txt "Functions by change"
expect 0 "$waymark" diff --fail-above=0 new.wmk old.wmk
expect 3 "$waymark" diff --fail-above=29 --function grows old.wmk new.wmk
expect 0 "$waymark" diff --fail-above=0 --function same old.wmk new.wmk
expect 0 "$waymark" diff --no-renames --function comes old.wmk new.wmk
has out.txt "work: 0 -> 2, +2 (new)"
mkdir both
cp old.wmk new.wmk both/
expect 0 "$waymark" diff both old.wmk
has out.txt "work: 37 -> 17, -20 (-54.1 %)"
refused 1 "nothing: neither recording has a context with it" "$waymark" diff --function nothing old.wmk new.wmk
refused 1 "old.wmk: nothing recorded is called bytes; there is: work, work:sum" "$waymark" diff --metric=bytes old.wmk new.wmk
refused 2 "two recordings are needed, OLD and NEW" "$waymark" diff old.wmk
refused 2 "--fail-above x: must be a percentage" "$waymark" diff --fail-above=x old.wmk new.wmk

# Renamed and moved code as plain compilers build it, under the agent: names, sizes and lines are those of symbols and DWARF.
[ -e "$build/src/sampler/libwaymark-sample.so" ] || { finish; exit; } # a sanitizer build has no sampler
cat >lib.c <<'EOF'
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) void FUNCTION(int n)
{
	for (int i = 0; i < n; i++)
		kept = malloc(100);
}
EOF
printf 'void FUNCTION(int n);\nint main(void)\n{\n\tFUNCTION(5);\n\treturn 0;\n}\n' >user.c
cc -O1 -g -DFUNCTION=load user.c lib.c -o plain-old && cc -O1 -g -DFUNCTION=fetch user.c lib.c -o plain-new &&
	cc -O1 -g -DFUNCTION=load -fPIC -shared lib.c -o libload.so.2 &&
	sed 's/(5)/(6)/' user.c >more.c && cc -O1 -g -DFUNCTION=load more.c ./libload.so.2 -o plain-moved || exit 1
for name in old new moved; do
	expect 0 "$waymark" run --heap -q -o "plain-$name.wmk" "./plain-$name"
done
expect 0 "$waymark" diff --metric=allocations plain-old.wmk plain-new.wmk
has out.txt "  load -> fetch"
expect 0 "$waymark" diff --metric=allocations --format=folded plain-old.wmk plain-new.wmk
grep -q '^main;fetch;.*malloc.* 5 5$' out.txt || fail "fetch: $(cat out.txt)"
expect 0 "$waymark" diff --metric=allocations --function=load --min=0 --format=json plain-old.wmk plain-moved.wmk
has out.txt '"is_moved": true, "moved_from": "'"$PWD"'/plain-old", "moved_to": "'
expect 0 "$waymark" run --heap -q -o plain-more.wmk ./plain-old
expect 0 "$waymark" diff --metric=allocations --format=json plain-old.wmk plain-more.wmk
has out.txt '"renamed": []'
finish
