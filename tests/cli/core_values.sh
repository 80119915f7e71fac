#!/bin/bash
# core_values.sh BUILD - values of variables in `waymark core`: what gdb reads of the same core, at each level of optimization; how the
# address of a fault comes of them; and none with --no-values.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"

# compared LABEL LEAST PROGRAM CORE: at least LEAST values are known, and are gdb's.
compared() {
	expect 0 "$waymark" core --format=json "$3" "$4"
	cp out.txt core.json
	schema_check core.json
	DEBUGINFOD_URLS='' gdb -q -nx -batch -iex 'set debuginfod enabled off' -ex "python options = 'core.json $2'" \
		-x "$here/../support/compare_values.py" "$3" "$4" >compared.txt 2>&1 </dev/null
	tail -n 1 compared.txt | grep -q '^[0-9]* values compared$' || fail "$1: $(tail -n 15 compared.txt)"
}

for options in "-O0" "-O1" "-O2" "-O3 -gdwarf-4" "-O0 -gdwarf-4 -no-pie" "-O2 -fno-omit-frame-pointer --wm-stage=source"; do
	for program in core_values.c core_values.cpp; do
		language=cc least=24
		[ $program = core_values.c ] || language=c++ least=18
		[[ $options == -O0* ]] || least=12
		# shellcheck disable=SC2086 # a list of words
		"$compiler" $language --wm=trace $options -g "$here/$program" -o program || exit 1
		core_of program.core ./program || exit 1
		compared "$program $options" $least ./program program.core
	done
done

"$compiler" c++ --wm=trace -O0 -g "$here/core_values.cpp" -o program || exit 1
core_of program.core ./program || exit 1
expect 0 "$waymark" core ./program program.core
tr -s '\n ' ' ' <out.txt | grep -q ' inner->hidden = 2, hidden = 2, from_root = 11, count = 12, limit = 9, made = 2 ' || fail "members: $(grep -A4 values: out.txt)"
"$compiler" cc --wm=trace -O0 -g "$here/core_values.c" -o program || exit 1
core_of program.core ./program || exit 1
expect 0 "$waymark" core ./program program.core
for text in 'arguments: list=0x7ff[0-9a-f]*, text="a text with \\"quotes\\", a \\\\ and \\t", index=2,$' ' weight=2.5$' \
	' list->last->next = NULL' 'fault: 0x[0-9a-f]* is in list->last->next->weights\[index\]$' 'color=BLUE, is_deep=true,'; do
	grep -q "$text" out.txt || fail "text: no '$text' in: $(head -n 20 out.txt)"
done
expect 0 "$waymark" core --format=html ./program program.core
grep -q 'list-&gt;last-&gt;next</td><td>NULL' out.txt || fail "the page has no value"
expect 0 "$waymark" core --no-values ./program program.core
! grep -qE 'arguments:|fault:|values:' out.txt || fail "--no-values: there are values"
expect 0 "$waymark" core --no-values --format=json ./program program.core
! grep -qE '"(arguments|values|fault)"' out.txt || fail "--no-values: there are values in JSON"

# Damaged debug information: whatever it says, the rest is shown.
for seed in $(seq 1 "${DAMAGES:-20}"); do
	python3 "$here/../support/damage_debug.py" program damaged "$seed"
	for command in "$waymark" ${WAYMARK_SANITIZED:+"$WAYMARK_SANITIZED/waymark"}; do
		timeout 20 "$command" core ./damaged program.core >out.txt 2>err.txt
		status=$?
		[ $status -le 1 ] || fail "damage $seed: exit status $status: $(tail -n 3 err.txt)"
		[ $status = 1 ] || grep -q '^#0 ' out.txt || fail "damage $seed: no stack"
	done
done
# Lines of another file, with anything on them: only what names variables is a value.
mkdir -p garbage
python3 - garbage/core_values.c <<'EOF'
import random, sys
dice = random.Random(7)
words = ["list", "->", ".", "[", "]", "(", ")", "last", "next", "weights", "index", "sum", "::", "this", "\"", "'", "\\", "/*", "//",
         "0x", "9" * 30, "table", "struct", "-", "&", "*", "n", "\0", "x" * 300, "\xff", " "]
with open(sys.argv[1], "w", encoding="latin-1") as file:
    for _ in range(200):
        file.write("list->last; " + "".join(dice.choice(words) for _ in range(dice.randrange(120))) + "\n")
EOF
expect 0 "$waymark" core --format=json --source-dir=garbage ./program program.core
grep -q '"name": "list->last"' out.txt || fail "garbage: no values at all"
finish
