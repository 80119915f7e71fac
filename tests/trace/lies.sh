#!/bin/bash
# lies.sh BUILD-DIR - compare.py finds what is not true: one lie at a time, planted in what `waymark core` told.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-lies.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
said=$(KEEP=1 TMPDIR=$tmp "$here/run.sh" "$1" bc O2,stmt+pt)
status=$?
echo "$said"
[ $status = 0 ] || exit $status
cd "$tmp"/waymark-trace.*/O2,stmt+pt || exit 1
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here exec python3 - <<'END'
import copy, json, sys
import compare

# Of the JSON, c; its innermost traced frame, f; that one's function, d.
lies = {
    "a call that did not return":
        'g = next(g for g in frames if returned(c, g)); g["returned"].insert(0, returned(c, g)[-1])',
    "a call that returned more often":
        'g = next(g for g in frames if returned(c, g)); g["returned"].append(returned(c, g)[-1]); g["returned"].append(returned(c, g)[-1])',
    "calls in another order":
        'g = next(g for g in frames if len({r["call"] for r in returned(c, g)}) > 1); g["returned"].remove(returned(c, g)[0])',
    "a call left out":
        'g = next(g for g in frames if returned(c, g) and g["returned_whole"]); g["returned"].remove(returned(c, g)[-1])',
    "all calls, though there are older ones":
        'g = next(g for g in frames if returned(c, g) and not g["returned_whole"]); g["returned_whole"] = True',
    "a call that is made each time":
        'u, k = next((d, k) for d in c["functions"] for k, call in enumerate(d["calls"]) if is_own(call) and call["callee"] == "more_arrays"); u["calls_each_time"] = [k]',
    "one ended path too many":
        'f["ended"] += 1',
    "another block in an ended path":
        'f["paths"][0]["blocks"][-1] += 1',
    "another block in the path in progress":
        'f["paths"][-1]["blocks"][0] += 1',
    "a path left out":
        'del f["paths"][0]',
    "two paths swapped":
        'f["paths"][-2], f["paths"][-3] = f["paths"][-3], f["paths"][-2]',
    "no path in progress":
        'del f["paths"][-1]',
    "all paths, though there are older ones, or the other way round":
        'f["trace"] = "last" if f["trace"] == "whole" else "whole"',
    "rounds of a loop left out":
        'g = next(g for g in frames if rounds(g)); g["paths"].remove(rounds(g)[0])',
    "rounds of a loop invented":
        'g = next(g for g in frames if rounds(g)); g["paths"].insert(0, rounds(g)[0])',
    "rounds of another way":
        'g = next(g for g in frames if rounds(g)); rounds(g)[0]["blocks"].append(0)',
    "the paths are lost":
        'f["trace"], f["why"] = "lost", "a lie"',
    "control is elsewhere":
        'f["blocks"] = [f["blocks"][0] - 1]',
    "another scheme":
        'f["scheme"] = 8',
    "a local block not reached":
        'f["blocks_used"][f["blocks"][0]] = False',
    "a local block reached":
        'f["blocks_used"][-1] = True',
    "a block of the run not reached":
        'd["blocks_used"][0] = False',
    "a block of the run reached":
        'u = next(d["blocks_used"] for d in c["functions"] if False in d["blocks_used"]); u[u.index(False)] = True',
    "a function not entered":
        'd["blocks_used"] = [False] * d["block_count"]',
    "a frame left out":
        'frames.remove(f)',
    "a frame invented":
        'frames.insert(frames.index(f), dict(f))',
    "another function":
        'f["function_id"] = next(d["id"] for d in c["functions"] if d["id"] != f["function_id"])',
    "another frame address":
        'f["cfa"] = hex(int(f["cfa"], 16) + 8)',
    "what ran cannot have run":
        'd["blocks_activity"] = "n" + d["blocks_activity"][1:]',
    "what did not run must have run":
        'd["blocks_activity"] = "y" * d["block_count"]',
    "a path in progress that goes on behind its place":
        'f["paths"][-1]["steps"].append(dict(f["paths"][-1]["steps"][-1], line=1))',
    "another call in progress":
        'g = [g for g in frames if "call" in g][-1]; g["call"] = 0 if g["call"] else 1',
}
told = json.load(open("core.json"))
record = compare.Record("recorded/record", False)


def rounds(frame):
    return [p for p in frame.get("paths", []) if p.get("rounds")]


def is_own(call):
    return not call.get("callee", "").startswith(compare.OWN)


def returned(core, frame):
    """Without the recorder's."""
    calls = next(([d["calls"]] for d in core["functions"] if d["id"] == frame.get("function_id")), [[]])[0]
    return [r for r in frame.get("returned", []) if is_own(calls[r["call"]])]


def problems(core):
    comparison = compare.Comparison(record, core, {"scheme": "12"})
    comparison.run()
    return comparison.problems


failed = problems(told) != []
for what, statement in lies.items():
    c = copy.deepcopy(told)
    frames = c["threads"][0]["frames"]
    f = next(f for f in frames if "function_id" in f)
    d = next(d for d in c["functions"] if d["id"] == f["function_id"])
    exec(statement)
    if not problems(c):
        print("FAIL not found:", what)
        failed = True
print(len(lies), "lies")
sys.exit(failed)
END
