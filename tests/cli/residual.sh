#!/bin/sh
# residual.sh BUILD - waymark residual: paths that only the field ran, cold paths, another build with a plan and contexts,
# functions that changed, exit status.
. "$(dirname "$0")/lib.sh"
cp "$here/paths_program.c" prog.c
"$waymark" cc --wm=paths -O1 -g -DEXTRA=1000 prog.c -o prog || exit 1
WAYMARK_OUT=tested.wmk ./prog 100 >/dev/null
WAYMARK_OUT=same.wmk ./prog 60 >/dev/null
WAYMARK_OUT=field.wmk ./prog 3 rare >/dev/null

expect 0 "$waymark" residual --tested tested.wmk --field same.wmk tested.wmk
has out.txt "Every path that ran in the field ran in the tests."
has out.txt "field:   2 files"
expect 3 "$waymark" residual --tested tested.wmk --field field.wmk
has out.txt "New in the field: 2 paths"
has out.txt "no test entered this function"
grep -qE 'if \(argc > 2\) +-> true$' out.txt || fail "outcome of the new path: $(cat out.txt)"
expect 0 "$waymark" residual --tested tested.wmk field.wmk --field field.wmk
expect 0 "$waymark" residual --function classify --tested tested.wmk --field field.wmk
expect 3 "$waymark" residual --format=json -o out.json --tested tested.wmk --field field.wmk
cat >check.py <<'END'
import json
r = json.load(open("out.json"))
assert r["new_paths"] == 2 == len(r["new"]) and r["changed_functions"] == 0 and r["new_counted"] == 2
assert {p["name"]: p["new"] for p in r["new"]} == {"main": "path", "rare": "function"}
assert all(p["tested"] == 0 and p["field"] == 1 and p["lines"] and p["blocks"] for p in r["new"])
END
python3 check.py || fail "JSON: $(cat out.json)"

# Hot in the tests, cold in the field.
WAYMARK_OUT=long.wmk ./prog 4000 >/dev/null
WAYMARK_OUT=short.wmk ./prog 0 rare >/dev/null
expect 3 "$waymark" residual --tested long.wmk --field short.wmk
has out.txt "Hot paths of the tests that are cold in the field"
has out.txt "0.0 % of the field (0 times)"

# The field runs another build, with the tested paths as its plan: residual paths come with their calling contexts.
"$waymark" cc --wm=contexts,paths --wm-plan=tested.wmk -O1 -g -DEXTRA=1000 prog.c -o planned || exit 1
WAYMARK_OUT=planned.wmk ./planned 3 rare >/dev/null
expect 3 "$waymark" residual --tested tested.wmk --field planned.wmk
has out.txt "New in the field: 2 paths"
has out.txt "1 time in this calling context"
has out.txt "#0  rare at prog.c:"
expect 0 "$waymark" paths planned.wmk
has out.txt "outside it 2 times"
has out.txt "Outside the plan, by calling context"
has out.txt "alpha 1.00 in the median"

# Metadata of one side is enough.
mv planned planned-hidden
expect 3 "$waymark" residual --tested tested.wmk --field planned.wmk
has out.txt "New in the field: 2 paths"
has out.txt "planned: No such file or directory"
mv prog prog-hidden
refused 1 "prog: No such file or directory" "$waymark" residual --tested tested.wmk --field planned.wmk
mv prog-hidden prog

# A function that changed cannot be compared, and says so.
sed 's/if (y == EXTRA)/if (y == EXTRA || y == -EXTRA)/' prog.c >changed.c
"$waymark" cc --wm=paths -O1 -g -DEXTRA=1000 -c changed.c -o /dev/null || exit 1
mkdir changed
cp changed.c changed/prog.c
(cd changed && "$waymark" cc --wm=paths -O1 -g -DEXTRA=1000 prog.c -o prog && WAYMARK_OUT=changed.wmk ./prog 50 >/dev/null) || exit 1
expect 3 "$waymark" residual --tested tested.wmk --field changed/changed.wmk
has out.txt "Functions that changed between the builds: their paths cannot be compared: 1"
grep -qE '^ +50 times  classify' out.txt || fail "changed: $(cat out.txt)"

refused 1 "nosuch.wmk: No such file or directory" "$waymark" residual --tested tested.wmk --field nosuch.wmk
refused 1 "no/such/x: cannot be written" "$waymark" residual -o no/such/x --tested tested.wmk --field field.wmk
finish
