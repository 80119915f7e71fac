#!/bin/sh
# schema.sh BUILD - JSON of contexts is what its schema says (share/waymark/schema). What other commands print is compared by the tests that read it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"
schema_is_there || { echo "skipped: there is no python3-jsonschema"; exit 77; }
"$waymark" cc -O1 -g -o prog "$here/convert.c" -pthread || exit 1
expect 0 "$waymark" run --heap -q -o one.wmk ./prog
mkdir made
report() { # NAME ARGUMENTS: of `waymark report --format=json`
	name=$1
	shift
	expect 0 "$waymark" report --format=json -o "made/$name.json" "$@"
}
report contexts one.wmk
report events --metric=step:sum one.wmk
report function --by=function one.wmk
report line --by=line --metric=step one.wmk
for shape in --tree --inverted --callers=keep --callees=deep; do
	report "tree$shape" "$shape" --min=0 one.wmk
done
report timeline --timeline one.wmk
report slices --timeline --top 3 one.wmk
report sizes --sizes one.wmk
report lifetimes --lifetimes --top 2 one.wmk
expect 0 "$waymark" archive -o one.wmka one.wmk
report archive one.wmka
printf 'main;f 1\n' >other.folded
report import other.folded
expect 0 "$waymark" diff --metric=step --format=json -o made/diff.json one.wmk one.wmk
expect 0 "$waymark" annotate --metric=step --format=json -o made/annotate.json deep one.wmk
expect 0 "$waymark" graph --format=json -o made/graph.json prog
[ "$(ls made | wc -l)" = 17 ] || fail "$(ls made)"
schema_check made/*.json
finish
