#!/bin/bash
# core_cases.sh BUILD - of a switch, `waymark core` and `waymark paths` tell all values that lead where control went.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
cp "$here/core_cases.c" .

said=("case 10, 35" "case (-7, )?1 to 9" "case 100, 102, 104, 106, 108, 110, 112, 114 or others" "default")
for options in "-O0" "-O2" "-O1 --wm-stage=source"; do
	# shellcheck disable=SC2086 # a list of words
	"$compiler" cc --wm=trace $options -g core_cases.c -o program || exit 1
	arguments=()
	for text in "${said[@]}"; do
		arguments+=(x)
		core_of program.core ./program "${arguments[@]}" || exit 1
		expect 0 "$waymark" core ./program program.core
		grep -qE "switch \(x\).* -> $text\$" out.txt || fail "$options, ${#arguments[@]} arguments: no '$text'"
		expect 0 "$waymark" core --format=json ./program program.core
		grep -qE "\"outcome\": \"$text" out.txt || fail "$options, ${#arguments[@]} arguments: no '$text' in JSON"
		expect 0 "$waymark" core --format=html ./program program.core
		grep -qE "$text" out.txt || fail "$options, ${#arguments[@]} arguments: no '$text' in the page"
	done
done

"$compiler" cc --wm=paths -g core_cases.c -o program || exit 1
WAYMARK_OUT=$PWD/program.wmk ./program
expect 0 "$waymark" paths --top=20 --exe=./program program.wmk
for text in "${said[@]}"; do
	grep -qE "switch \(x\).* -> $text\$" out.txt || fail "paths: no '$text'"
done
expect 0 "$waymark" paths --format=json --exe=./program program.wmk
grep -q '"outcome": "cases", "values": \[\[10, 10\], \[35, 35\]\], "more": false' out.txt || fail "paths: no values in JSON"
expect 0 "$waymark" paths --format=html --exe=./program program.wmk
"$here/../support/unpack_page.py" out.txt >page.txt || fail "paths: the page cannot be unpacked"
grep -qE '>(10, 35|100, 102, 104, 106, 108, 110, 112, 114 or others): ' page.txt || fail "paths: no values in the page"
finish
