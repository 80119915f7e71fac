#!/bin/sh
# paths.sh BUILD - waymark paths on real recordings: every format, sums over files, filters, sources that moved, programs that
# are stripped, of another build or gone, damaged files, unwritable output.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"
cp "$here/paths_program.c" prog.c
build_program() { # NAME [FLAGS]
	name=$1
	shift
	"$waymark" cc --wm=paths -O1 -g -DEXTRA=1000 "$@" prog.c -o "$name" || exit 1
}
build_program prog
WAYMARK_OUT=one.wmk ./prog 100 >want.txt || fail "prog"
WAYMARK_OUT=two.wmk ./prog 10 rare >/dev/null || fail "prog rare"

# Text: counts by hand. classify(i % 5, i): 4 and i < 50 ten times, 1 twenty times, 2 twenty times, the others fifty.
expect 0 "$waymark" paths --top all one.wmk
has out.txt "functions   2 of 3 ran (66.7 %)"
lacks out.txt "unfinished"
lacks out.txt "!"
grep -A 3 "^ *[0-9]*\. .* 10 times  classify" out.txt >path.txt || fail "no path with 10 times"
grep -qE '^ +[0-9]+  +if \(x > 3 && y < 50\) +-> x > 3: true, y < 50: true$' path.txt || fail "outcomes: $(cat path.txt)"
grep -qE '^ +[0-9]+  +return 1;' path.txt || fail "lines: $(cat path.txt)"
grep -qE ' 20 times  classify' out.txt || fail "no path with 20 times"
grep -qE 'switch \(x\) \{ +-> case 1$' out.txt || fail "no case 1"
expect 0 "$waymark" paths --by=function --color=never one.wmk two.wmk
grep -qE '^ .* 110 +110 +[0-9]+ +[0-9]+ +[0-9.]+ %  classify  .*prog.c:11$' out.txt || fail "two files: $(cat out.txt)"
has out.txt "functions   3 of 3 ran (100.0 %)"
expect 0 "$waymark" paths --function 'rar*' two.wmk
has out.txt "Hottest paths: 1"
has out.txt "1 time  rare"
lacks out.txt "classify"
refused 1 "--function nope: no function has this name" "$waymark" paths --function nope one.wmk
expect 0 "$waymark" report one.wmk
has out.txt "waymark paths shows them"
expect 0 "$waymark" paths --color=always one.wmk
grep -q "$(printf '\033')\[1mclassify" out.txt || fail "--color=always has no colours"
expect 0 "$waymark" paths --top 1 one.wmk
[ "$(grep -cE '^ +[0-9]+\. ' out.txt)" -eq 1 ] || fail "--top 1"

# JSON: what is said several times agrees.
expect 0 "$waymark" paths --format=json -o all.json one.wmk two.wmk
schema_check all.json
cat >check.py <<'END'
import json, sys
p = json.load(open("all.json"))
assert p["format"] == "waymark-paths" and len(p["files"]) == 2 and len(p["images"]) == 1 and not p["warnings"]
by_name = {f["name"]: f for f in p["functions"]}
assert by_name["classify"]["entered"] == 110 and by_name["rare"]["entered"] == 1 and by_name["main"]["unfinished"] == 0
for f in p["functions"]:
    blocks = [0] * len(f["blocks"])
    edges = [0] * len(f["edges"])
    for path in f["paths"]:
        assert path["number"] < f["possible"] and path["count"] > 0
        for b in path["blocks"]:
            blocks[b] += path["count"]
        for e in path["edges"] + ([path["end_edge"]] if "end_edge" in path else []):
            edges[e] += path["count"]
        for e, a, b in zip(path["edges"], path["blocks"], path["blocks"][1:]):
            assert (f["edges"][e]["from"], f["edges"][e]["to"]) == (a, b)
    assert blocks == [b["count"] for b in f["blocks"]], (f["name"], blocks)
    assert edges == [e["count"] for e in f["edges"]], (f["name"], edges)
    assert sum(q["count"] for q in f["paths"]) == f["counted"] and len(f["paths"]) == f["paths_run"]
    assert f["begun"] + f["inherited"] - f["ended"] == f["unfinished"]
assert sum(f["counted"] for f in p["functions"]) == p["summary"]["counted"]
END
python3 check.py || fail "JSON does not agree with itself"

# Merged recordings say the same as their parts.
"$waymark" merge -o merged.wmk one.wmk two.wmk || fail "merge"
for files in "one.wmk two.wmk" merged.wmk; do
	expect 0 "$waymark" paths --format=lcov $files
	cp out.txt "lcov.$(echo $files | wc -w)"
done
cmp lcov.1 lcov.2 || fail "a merged recording counts otherwise"
expect 0 "$waymark" paths merged.wmk one.wmk
has out.txt "one.wmk: run "
has out.txt "is in merged.wmk already: it counts twice, leave one out"
expect 0 "$waymark" paths merged.wmk
lacks out.txt "!"
has out.txt "merged.wmk: 2 recordings of "

# The final stage: what is left of the program, outcomes by the lines they go to.
"$waymark" cc --wm=paths --wm-stage=final -O2 -g -DEXTRA=1000 prog.c -o final && WAYMARK_OUT=final.wmk ./final 100 >/dev/null || fail "final"
expect 0 "$waymark" paths --top all final.wmk
has out.txt "in classify (prog.c)"
grep -qE 'if \(x > 3 && y < 50\) +-> to line [0-9]+' out.txt || fail "final: $(cat out.txt)"
for format in json lcov html; do
	expect 0 "$waymark" paths --format=$format final.wmk
	has out.txt prog.c
done

# LCOV: lines and functions by hand.
expect 0 "$waymark" paths --format=lcov one.wmk
has out.txt "SF:$PWD/prog.c"
has out.txt "FNDA:100,classify"
has out.txt "FNDA:0,rare"
line=$(grep -n 'return 1;' prog.c | cut -d : -f 1)
has out.txt "DA:$line,10"
line=$(grep -n 'puts' prog.c | cut -d : -f 1)
has out.txt "DA:$line,0"
line=$(grep -n 'total += ' prog.c | cut -d : -f 1)
has out.txt "DA:$line,100"
[ "$(tail -n 1 out.txt)" = end_of_record ] || fail "lcov does not end in end_of_record"

# unpack FILE: the page with its parts in their places
unpack() {
	"$here/../support/unpack_page.py" "$1" >unpacked.txt && mv unpacked.txt "$1" || fail "$1 cannot be unpacked"
}

# HTML: well nested, nothing from outside, the paths are there.
expect 0 "$waymark" paths --format=html -o out.html one.wmk
unpack out.html
cat >page.py <<'END'
import html.parser, json, sys
VOID = {"meta", "input", "br", "link"}
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.ids, self.steps = [], set(), []
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        assert not {"src", "srcset"} & set(a) and not a.get("href", "#").startswith("http"), attrs
        if "id" in a:
            assert a["id"] not in self.ids, a["id"]
            self.ids.add(a["id"])
        if "data-steps" in a:
            self.steps.append(json.loads(a["data-steps"]))
        if tag not in VOID:
            self.stack.append(tag)
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, (tag, self.getpos())
p = Page()
p.feed(open("out.html").read())
assert not p.stack and len(p.steps) >= int(sys.argv[1])
for steps in p.steps:
    assert steps and all(row in p.ids for row, _ in steps), steps
END
python3 page.py 5 || fail "the page is not sound"
has out.html "if (x &gt; 3 &amp;&amp; y &lt; 50)"

# Names of files in the list: without the directory that they have in common, headers of the system apart.
mkdir -p project/main project/parts
cat >project/parts/part.h <<'END'
static int part(int n)
{
	return n > 1;
}
END
printf '#include <stdlib.h>\n#include "../parts/part.h"\nint main(int n, char **v)\n{\n\treturn part(atoi(v[n - 1]));\n}\n' \
	>project/main/main.c
"$waymark" cc --wm=paths -O1 -g project/main/main.c -o parts && WAYMARK_OUT=parts.wmk ./parts 1 || fail "parts"
expect 0 "$waymark" paths --format=html parts.wmk
has out.txt "<h2>Files <small>in $PWD/project/</small></h2>"
has out.txt "title=\"$PWD/project/main/main.c\"><span>main</span><span>/main.c</span></a>"
has out.txt "<span>parts</span><span>/part.h</span></a>"
has out.txt "<span>/usr/include</span><span>/stdlib.h</span></a>"

# Of a very long file only what is near code that ran is in the page.
{
	echo 'int main(void) { return 0; }'
	seq -f '/* filler %.0f */' 20000
	echo 'int never_run(void) { return 1; }'
} >long.c
"$waymark" cc --wm=paths -g long.c -o long && WAYMARK_OUT=long.wmk ./long || fail "long.c"
expect 0 "$waymark" paths --format=html long.wmk
unpack out.txt
has out.txt "Of 20002 lines only those near code that ran are here"
has out.txt "filler 5 "
lacks out.txt "filler 19 "
lacks out.txt "int never_run"
has out.txt "never_run" # in the index

# A library with paths of its own and a process that forks: all images of all files together.
cat >lib.c <<'END'
int half(int x)
{
	return x % 2 ? -1 : x / 2;
}
END
cat >user.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int half(int x);
int main(void)
{
	int in_child = fork() == 0;

	for (int i = 0; i < (in_child ? 4 : 10); i++)
		half(i);
	if (!in_child)
		wait(0);
	return 0;
}
END
"$waymark" cc --wm=paths -g -fPIC -shared lib.c -o libhalf.so && "$waymark" cc --wm=paths user.c -o user ./libhalf.so || fail "user"
mkdir runs
WAYMARK_OUT=runs/%p.wmk ./user || fail "./user"
expect 0 "$waymark" paths --by=function runs/*.wmk
grep -qE ' 14 +14 +2 +2 +100.0 %  half  ' out.txt || fail "parent and child: $(cat out.txt)"
lacks out.txt "unfinished"
expect 0 "$waymark" paths --format=json -o user.json runs/*.wmk
python3 -c 'import json; p = json.load(open("user.json")); assert len(p["files"]) == 2 and len(p["images"]) == 2' || fail "two images"
expect 0 "$waymark" paths --format=html -o out.html runs/*.wmk && unpack out.html # main has no debug information: no place to link to
python3 page.py 2 || fail "the page is not sound without debug information"
mv libhalf.so hidden.so
expect 0 "$waymark" paths runs/*.wmk
has out.txt "libhalf.so: No such file or directory"
has out.txt "unknown     1 function, counted 14 times"
has out.txt "the program has no metadata of this function"
expect 0 "$waymark" paths --format=lcov runs/*.wmk
has err.txt "libhalf.so: No such file or directory"
expect 0 "$waymark" paths --exe hidden.so runs/*.wmk
lacks out.txt "unknown"

# Sources that moved, are gone, or changed.
mkdir moved
mv prog.c moved/prog.c
expect 0 "$waymark" paths one.wmk
has out.txt "prog.c: No such file or directory: give the directory with --source-dir"
grep -qE "^        13 -> column 8: true, column 17: true, 14, 27 -> leaves$" out.txt || fail "lines without source: $(cat out.txt)"
lacks out.txt "return 1;"
expect 0 "$waymark" paths --source-dir moved one.wmk
has out.txt "return 1;"
expect 0 "$waymark" paths --source-dir "$PWD=$PWD/moved" one.wmk
has out.txt "return 1;"
expect 0 "$waymark" paths --format=html one.wmk
has out.txt "The source is not there: "
mv moved/prog.c .
touch -d '1 hour' prog.c
expect 0 "$waymark" paths one.wmk
has out.txt "prog.c was changed after the recording: lines may not fit"
touch -d '1 hour ago' prog.c

# A process that is killed: what it counted, and what it was in.
(WAYMARK_OUT=killed.wmk ./prog 20 stop) 2>killed.txt && fail "raise"
expect 0 "$waymark" paths killed.wmk
has out.txt "was killed or replaced, or runs unseen"
has out.txt "unfinished  1 of 21 activations: main 1"

# Where the program is.
mkdir gone
mv prog gone/prog
refused 1 "prog: No such file or directory" "$waymark" paths one.wmk
expect 0 "$waymark" paths --exe gone one.wmk
objcopy --only-keep-debug gone/prog gone/prog.debug
objcopy --strip-debug --add-gnu-debuglink=gone/prog.debug gone/prog prog
expect 1 "$waymark" paths one.wmk
has err.txt "prog: has no .debug_waymark_paths (stripped, or not built with waymark cc --wm=paths): give"
mv gone/prog.debug .
expect 0 "$waymark" paths one.wmk
has out.txt "Hottest paths"
rm prog.debug
id=$(readelf -n gone/prog | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/$(echo "$id" | cut -c 1-2)"
objcopy --only-keep-debug --compress-debug-sections=zlib gone/prog "debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug"
expect 0 "$waymark" paths --debug-dir debug one.wmk
has out.txt "Hottest paths"
build_program other -DOTHER -O0
other=$(readelf -n other | sed -n 's/.*Build ID: //p')
rm prog
mv other prog
refused 1 "prog: is of another build: its build id is $other, $id is wanted" "$waymark" paths one.wmk
rm prog
mv gone/prog prog

# Damage, and output that cannot be written.
# Of a condition over several lines, each operand's outcome stands on the operand's line, though its branch does not; the lines
# of the branches count all the same.
cat >conditions.c <<'END'
int main(int argc, char **argv)
{
	if (argc == 7
	    || argv[1][0] < 'c')
		return 0;
	if (
	    argc == 2 &&
	    argv[1][0] == 'd'
	    && argv[1][1])
		return 0;
	for (int i = 0;
	     i < argc;
	     i++)
		argv[0] = 0;
	return 0;
}
END
"$waymark" cc --wm=paths -O1 -g conditions.c -o conditions || exit 1
WAYMARK_OUT=conditions.wmk ./conditions a && WAYMARK_OUT=conditions.wmk ./conditions d || exit 1
expect 0 "$waymark" paths --format=json -o conditions.json conditions.wmk
schema_check user.json conditions.json
expect 0 "$waymark" paths --top all conditions*.wmk
sed -n 's/^ *\([0-9][0-9]*\)  .*  *-> /\1 /p' out.txt | sort -u >outcomes.txt
for outcome in "3 false" "4 true" "4 false" "7 true" "8 true" "9 false" "12 true" "12 false"; do
	grep -qxF "$outcome" outcomes.txt || fail "conditions: no outcome \"$outcome\": $(cat out.txt)"
done
! grep -qE '^(6|11) (true|false)$' outcomes.txt || fail "conditions: an outcome where nothing is tested: $(cat out.txt)"
has conditions.json '"line": 4, "column": 6, "branch_only": true'
expect 0 "$waymark" paths --format=lcov conditions*.wmk
for count in DA:3,2 DA:4,2 DA:5,1 DA:7,1 DA:8,1 DA:9,1 DA:10,0 DA:11,3 DA:12,3 DA:13,2; do
	grep -qx "$count" out.txt || fail "conditions: no $count: $(cat out.txt)"
done

refused 1 "nosuch.wmk: No such file or directory" "$waymark" paths nosuch.wmk
refused 1 "prog: offset 0x0: this is no .wmk file" "$waymark" paths prog
"$waymark" cc -O1 "$here/program.c" -o plain && WAYMARK_OUT=plain.wmk ./plain >/dev/null
refused 1 "plain.wmk: no paths were recorded: build the program with waymark cc --wm=paths" "$waymark" paths plain.wmk
expect 0 "$waymark" paths plain.wmk one.wmk
has out.txt "plain.wmk: no paths were recorded in it"
head -c 5000 one.wmk >cut.wmk
expect 1 "$waymark" paths cut.wmk
[ "$(wc -l <err.txt)" -eq 1 ] || fail "cut.wmk: $(cat err.txt)"
objcopy --dump-section .debug_waymark_paths=section prog
head -c 60 section >cut-section
objcopy --update-section .debug_waymark_paths=cut-section prog damaged
mv prog prog-hidden
refused 1 "damaged: .debug_waymark_paths: offset 0x" "$waymark" paths --exe damaged one.wmk
mv prog-hidden prog
refused 1 "no/such/dir/x: cannot be written: No such file or directory" "$waymark" paths -o no/such/dir/x one.wmk
refused 1 ".: is a directory, a file is needed" "$waymark" paths --format=html -o . one.wmk
expect 1 sh -c '"$0" paths one.wmk >/dev/full' "$waymark"
has err.txt "No space left on device"
finish
