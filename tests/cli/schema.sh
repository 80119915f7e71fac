#!/bin/sh
# schema.sh BUILD - JSON of contexts is what its schema says (share/waymark/schema), and has no member that the schema does not know.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3 # Debian's has python3-jsonschema
$python -c 'import jsonschema' 2>/dev/null || { echo "skipped: there is no python3-jsonschema"; exit 77; }
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
expect 0 "$waymark" archive -o one.wmka one.wmk
report archive one.wmka
printf 'main;f 1\n' >other.folded
report import other.folded
expect 0 "$waymark" diff --metric=step --format=json -o made/diff.json one.wmk one.wmk
expect 0 "$waymark" annotate --metric=step --format=json -o made/annotate.json deep one.wmk
[ "$(ls made | wc -l)" = 14 ] || fail "$(ls made)"
$python - "$here/../../share/waymark/schema/contexts.schema.json" made/*.json <<'END' || fail "JSON and its schema differ"
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for definition in schema["$defs"].values():
    stack = [definition]
    while stack:
        part = stack.pop()
        if part.get("type") == "object":
            part["additionalProperties"] = False
        stack += [*part.get("properties", {}).values(), *([part["items"]] if "items" in part else [])]
validator = jsonschema.Draft202012Validator(schema)
failed = False
for name in sys.argv[2:]:
    value = json.load(open(name))
    kind = next((n for n, d in schema["$defs"].items() if d["properties"].get("format", {}).get("const") == value["format"]), None)
    if kind is None:
        print(f"{name}: {value['format']} is in no schema")
        failed = True
        continue
    for error in jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}).iter_errors(value):
        print(f"{name}: {error.json_path}: {error.message[:200]}")
        failed = True
    if not failed:
        validator.validate(value)
# A value of another type is found.
value["version"] = "1"
assert not validator.is_valid(value)
sys.exit(failed)
END
finish
