#!/bin/sh
# residual.sh BUILD - waymark residual: paths that only the field ran, cold paths, another build with a plan and contexts,
# functions that changed, exit status.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"
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
refused 1 "--function clasify: no function has this name" \
	"$waymark" residual --function clasify --tested tested.wmk --field field.wmk
expect 3 "$waymark" residual --format=json -o out.json --tested tested.wmk --field field.wmk
cat >check.py <<'END'
import json
r = json.load(open("out.json"))
assert r["new_paths"] == 2 == len(r["new"]) and r["changed_functions"] == 0 and r["new_counted"] == 2
assert {p["name"]: p["new"] for p in r["new"]} == {"main": "path", "rare": "function"}
assert all(p["tested"] == 0 and p["field"] == 1 and p["lines"] and p["blocks"] for p in r["new"])
END
python3 check.py || fail "JSON: $(cat out.json)"
schema_check out.json
expect 3 "$waymark" residual --format=sarif -o out.sarif --tested tested.wmk --field field.wmk
cat >check.py <<'END'
import json
import urllib.parse
run = json.load(open("out.sarif"))["runs"][0]
r = json.load(open("out.json"))
rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
new = [result for result in run["results"] if result["ruleId"] == "new-path"]
assert {result["ruleId"] for result in run["results"]} <= rules and len(new) == 2
for result, path in zip(new, r["new"]):
    assert result["locations"][0]["logicalLocations"][0]["name"] == path["name"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    places = [step["location"]["physicalLocation"] for step in steps]
    assert [place["region"]["startLine"] for place in places] == [line["line"] for line in path["lines"]]
    assert urllib.parse.unquote(places[0]["artifactLocation"]["uri"]).endswith("prog.c")
END
python3 check.py || fail "SARIF: $(cat out.sarif)"

# Hot in the tests, cold in the field.
WAYMARK_OUT=long.wmk ./prog 4000 >/dev/null
WAYMARK_OUT=short.wmk ./prog 0 rare >/dev/null
expect 3 "$waymark" residual --tested long.wmk --field short.wmk
has out.txt "Hot paths of the tests that are cold in the field"
has out.txt "0.0 % of the field (0 times)"

# Nothing is wrong with a library in which only paths are counted, under a program that has contexts too.
cat >library.c <<'END'
int apply(int (*f)(int), int n)
{
	return n > 5 ? f(n) : n;
}
END
cat >caller.c <<'END'
int apply(int (*f)(int), int n);
__attribute__((noinline)) static int twice(int n)
{
	if (n > 7)
		return 2 * n;
	return n + n;
}
int main(int argc, char **argv)
{
	(void)argv;
	return apply(twice, 4 * argc) < 0;
}
END
build_caller() { # NAME [FLAGS]
	name=$1
	shift
	"$waymark" cc --wm=paths "$@" -O1 -g -fPIC -shared library.c -o "$name.so" &&
		"$waymark" cc --wm=contexts,paths "$@" -O1 -g caller.c "./$name.so" -o "$name" || exit 1
}
build_caller caller
WAYMARK_OUT=apply-1.wmk ./caller || fail "caller"
build_caller planned-caller --wm-plan=apply-1.wmk
WAYMARK_OUT=apply-2.wmk ./planned-caller more || fail "planned-caller"
expect 3 "$waymark" residual --tested apply-1.wmk --field apply-2.wmk
[ ! -s err.txt ] || fail "paths only: $(cat err.txt)"
lacks out.txt " ! "
has out.txt "#1  [apply]"
expect 0 "$waymark" paths apply-2.wmk
[ ! -s err.txt ] || fail "paths only: $(cat err.txt)"
lacks out.txt " ! "
has out.txt "Outside the plan, by calling context"

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
expect 0 "$waymark" paths --format=json planned.wmk
schema_check out.txt
has out.txt '"interesting": '

# Metadata of one side is enough.
mv planned planned-hidden
expect 3 "$waymark" residual --tested tested.wmk --field planned.wmk
has out.txt "New in the field: 2 paths"
has out.txt "planned: No such file or directory"
mv prog prog-hidden
refused 1 "prog: No such file or directory" "$waymark" residual --tested tested.wmk --field planned.wmk
mv prog-hidden prog

# The tested program was rebuilt in place, with another plan: what is known of it are the keys of what ran. A function that no
# test entered is told as that, not as one that the tested programs do not have.
mkdir rebuilt
cp prog.c rebuilt
cd rebuilt || exit 1
"$waymark" cc --wm=paths -O1 -g -DEXTRA=1000 prog.c -o prog && WAYMARK_OUT=tested.wmk ./prog 3 >/dev/null || exit 1
"$waymark" cc --wm=paths --wm-plan=tested.wmk -O1 -g -DEXTRA=1000 prog.c -o prog || exit 1
WAYMARK_OUT=field.wmk ./prog 60 rare >/dev/null || exit 1
cat >check.py <<'END'
import json, sys
r = json.load(open("out.json"))
wanted = dict(pair.split("=") for pair in sys.argv[3:])
assert {p["name"]: p["new"] for p in r["new"]} == wanted, r["new"]
assert r["tested"]["programs_found"] == (sys.argv[1] == "found") and r["field"]["programs_found"]
assert r["tested"]["counted"] == int(sys.argv[2]) and r["changed_functions"] == 0
END
residual() { # STATUS [OPTION...]: as text and as JSON
	expect "$@" --tested tested.wmk --field field.wmk
	wanted_status=$1
	shift
	mv out.txt text.txt
	expect "$wanted_status" "$@" --format=json -o out.json --tested tested.wmk --field field.wmk
}
check() { # ARGUMENT... of check.py
	python3 check.py "$@" || fail "rebuilt, $*: $(cat out.json)"
}
residual 3 "$waymark" residual
has text.txt "prog: is of another build"
[ "$(grep -c "a program was not found" text.txt)" -eq 1 ] || fail "note of the tested side: $(cat text.txt)"
has text.txt "; no test entered this function"
lacks text.txt "do not have this function"
check missing 7 main=path classify=path rare=function
residual 3 "$waymark" residual --function=classify
check missing 3 classify=path
residual 3 "$waymark" residual --function='r?re'
has text.txt "; no test entered this function"
check missing 0 rare=function
residual 3 "$waymark" residual --function=nosuch --function=main
check missing 4 main=path
# With the field's program as the tested one too, everything is known, and the other way round nothing is new.
expect 0 "$waymark" residual --function='classify' --tested field.wmk --field tested.wmk
has out.txt "Every path that ran in the field ran in the tests."
has out.txt "field:   1 file, 3 paths ran, 3 times in all"
# The tested program does not have the function, and is there to say so.
sed -e '/^static void rare/,/^}/d' -e '/argc > 2)$/,+1d' prog.c >less.c
mkdir less
mv less.c less/prog.c
(cd less && "$waymark" cc --wm=paths -O1 -g -DEXTRA=1000 prog.c -o prog && WAYMARK_OUT=../less.wmk ./prog 3 >/dev/null) || exit 1
expect 3 "$waymark" residual --function=rare --tested less.wmk --field field.wmk
has out.txt "; the tested programs do not have this function"
lacks out.txt "a program was not found"
cd .. || exit 1

# A function that changed cannot be compared, and says so.
sed 's/if (y == EXTRA)/if (y == EXTRA || y == -EXTRA)/' prog.c >changed.c
"$waymark" cc --wm=paths -O1 -g -DEXTRA=1000 -c changed.c -o /dev/null || exit 1
mkdir changed
cp changed.c changed/prog.c
(cd changed && "$waymark" cc --wm=paths -O1 -g -DEXTRA=1000 prog.c -o prog && WAYMARK_OUT=changed.wmk ./prog 50 >/dev/null) || exit 1
expect 3 "$waymark" residual --tested tested.wmk --field changed/changed.wmk
has out.txt "Functions that changed between the builds: their paths cannot be compared: 1"
grep -qE '^ +50 times  classify' out.txt || fail "changed: $(cat out.txt)"

# At the final stage a field run whose new source paths go through a select and a table of a switch is not "tested": 4. The source
# stage reports the paths.
cat >rate.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static int rate(int kind, int x)
{
	int r;
	switch (kind) {
	case 0:
		r = 13;
		break;
	case 1:
		r = 7;
		break;
	case 2:
		r = 21;
		break;
	case 3:
		r = 9;
		break;
	case 4:
		r = 42;
		break;
	default:
		r = 1;
	}
	if (x > 100)
		x = 100;
	return r * x;
}
int main(int argc, char **argv)
{
	return argc > 2 && rate(atoi(argv[1]), atoi(argv[2])) < 0;
}
END
for stage in source final; do
	"$waymark" cc --wm=paths --wm-stage=$stage -O2 -g rate.c -o rate-$stage || exit 1
	WAYMARK_OUT=rate-tested-$stage.wmk ./rate-$stage 2 7 && WAYMARK_OUT=rate-field-$stage.wmk ./rate-$stage 4 700 || fail "rate"
done
expect 3 "$waymark" residual --tested rate-tested-source.wmk --field rate-field-source.wmk
has out.txt "New in the field: 1 path,"
has out.txt "-> case 4"
lacks out.txt "Counted as one"
expect 4 "$waymark" residual --tested rate-tested-final.wmk --field rate-field-final.wmk
lacks out.txt "Every path"
has out.txt "No counted path is new in the field. Whether the tests ran all that the field ran is not known."
has out.txt "replaced (1 select, 1 switch table),"
grep -q 'rate  .*rate.c:2  1 select, 1 switch table$' out.txt || fail "rate: $(cat out.txt)"
expect 4 "$waymark" residual --function=main --tested rate-tested-final.wmk --field rate-field-final.wmk
has out.txt "replaced (no select),"
expect 4 "$waymark" residual --format=json -o out.json --tested rate-tested-final.wmk --field rate-field-final.wmk
cat >check.py <<'END'
import json
r = json.load(open("out.json"))
assert r["verdict"] == "unknown" and r["new_paths"] == 0 and r["final_functions"] == 2
assert (r["selects"], r["switch_tables"]) == (1, 1)
assert [(f["name"], f["selects"], f["switch_tables"]) for f in r["not_told_apart"]] == [("rate", 1, 1)]
END
python3 check.py || fail "JSON: $(cat out.json)"
expect 0 "$waymark" residual --tested rate-field-source.wmk --field rate-field-source.wmk
has out.txt "Every path that ran in the field ran in the tests."
expect 0 "$waymark" paths rate-field-final.wmk
has out.txt "replaced (1 select, 1 switch table),"
expect 0 "$waymark" paths --by=function rate-field-final.wmk
grep -q 'rate.c:2  1 select, 1 switch table  may have run in others, too$' out.txt || fail "by function: $(cat out.txt)"
expect 0 "$waymark" paths --format=html -o out.html rate-field-final.wmk
has out.html "counted as one: source paths"
has out.html "<td>1 select, 1 switch table</td>"
expect 0 "$waymark" paths --format=json rate-field-final.wmk
has out.txt '"final_functions": 2, "selects": 1, "switch_tables": 1'
expect 0 "$waymark" paths rate-field-source.wmk
lacks out.txt "merged"

# A conditional expression whose values need no code is a branch at the source stage.
cat >grade.c <<'END'
int main(int argc, char **argv)
{
	(void)argv;
	volatile int grade = argc > 2 ? 4 : 5;
	return grade < 0;
}
END
"$waymark" cc --wm=paths -O2 -g grade.c -o grade && WAYMARK_OUT=grade-1.wmk ./grade && WAYMARK_OUT=grade-2.wmk ./grade 1 2 || fail "grade"
expect 3 "$waymark" residual --tested grade-1.wmk --field grade-2.wmk
has out.txt "New in the field: 1 path,"
expect 0 "$waymark" residual --tested grade-2.wmk --field grade-2.wmk

# The plan, or what it was made of, lies beside the field's recordings, and a pattern takes it along.
"$waymark" merge -o plan.wmk grade-1.wmk
WAYMARK_OUT=grade-3.wmk ./grade 1 2
expect 3 "$waymark" residual --tested plan.wmk --field plan.wmk grade-3.wmk
has out.txt "plan.wmk: 1 of the field's runs is one of the tests, too: leave recordings of tests, and plans made of them, out of --field"
expect 3 "$waymark" residual --tested plan.wmk --field grade-3.wmk
lacks out.txt "of the tests, too"

refused 1 "nosuch.wmk: No such file or directory" "$waymark" residual --tested tested.wmk --field nosuch.wmk
refused 1 "no/such/x: cannot be written" "$waymark" residual -o no/such/x --tested tested.wmk --field field.wmk
finish
