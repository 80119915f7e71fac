#!/usr/bin/env python3
"""schema.py FILE...: each file is JSON that the schema of its kind in share/waymark/schema describes. It has no member that the schema does not know,
and no object has a member twice. An array is what `waymark graph` prints; other files say by `format` what they are."""
import json
import pathlib
import sys

import jsonschema

folder = pathlib.Path(__file__).resolve().parent.parent.parent / "share" / "waymark" / "schema"


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"a member twice: {[name for name, _ in pairs]}")
    return members


def closed(part):
    """Users get schemas that allow members of later versions; a test must not."""
    if isinstance(part, dict):
        if "properties" in part:
            part["additionalProperties"] = False
        for below in part.values():
            closed(below)
    elif isinstance(part, list):
        for below in part:
            closed(below)


def read_schemas():
    kinds = {}
    for path in sorted(folder.glob("*.schema.json")):
        schema = json.loads(path.read_text(), object_pairs_hook=unique)
        jsonschema.Draft202012Validator.check_schema(schema)
        closed(schema["$defs"])
        for name, definition in schema["$defs"].items():
            is_top = {"$ref": f"#/$defs/{name}"} in [*schema.get("oneOf", []), {"$ref": schema.get("$ref")}]
            if is_top:
                kind = definition.get("properties", {}).get("format", {}).get("const", "array")
                assert kind not in kinds, f"{path}: two schemas of {kind}"
                kinds[kind] = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}), schema
    return kinds


def check(kinds, name):
    try:
        value = json.loads(pathlib.Path(name).read_text(), object_pairs_hook=unique)
    except ValueError as error:
        print(f"{name}: {error}")
        return False
    kind = "array" if isinstance(value, list) else value.get("format")
    if kind not in kinds:
        print(f"{name}: no schema has the format {kind}")
        return False
    validator, schema = kinds[kind]
    errors = list(validator.iter_errors(value))
    for error in errors[:10]:
        print(f"{name}: {error.json_path}: {error.message[:200]}")
    if not errors:
        jsonschema.validate(value, schema, jsonschema.Draft202012Validator)
        # A value of another type is found.
        (value[0] if kind == "array" else value)["program" if kind == "array" else "version"] = {}
        assert not validator.is_valid(value)
    return not errors


schemas = read_schemas()
results = [check(schemas, name) for name in sys.argv[1:]]
sys.exit(0 if results and all(results) else 1)
