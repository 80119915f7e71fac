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

failed=0
lie() { # WHAT STATEMENT: of the JSON, c; its innermost traced frame, f; that one's function, d
	python3 - "$2" <<'END' || exit 1
import json, sys
c = json.load(open("core.json"))
frames = c["threads"][0]["frames"]
f = next(f for f in frames if "function_id" in f)
d = next(d for d in c["functions"] if d["id"] == f["function_id"])
exec(sys.argv[1])
json.dump(c, open("lie.json", "w"))
END
	if python3 "$here/compare.py" recorded/record lie.json scheme=7 >found.txt 2>&1; then
		echo "FAIL not found: $1"
		failed=1
	elif grep -q Traceback found.txt; then
		cat found.txt
		echo "FAIL not understood: $1"
		failed=1
	fi
}

python3 "$here/compare.py" recorded/record core.json scheme=7 || exit 1
lie "one ended path too many" 'f["ended"] += 1'
lie "another block in an ended path" 'f["paths"][0]["blocks"][-1] += 1'
lie "another block in the path in progress" 'f["paths"][-1]["blocks"][0] += 1'
lie "a path left out" 'del f["paths"][0]'
lie "two paths swapped" 'f["paths"][-2], f["paths"][-3] = f["paths"][-3], f["paths"][-2]'
lie "no path in progress" 'del f["paths"][-1]'
lie "all paths, though there are older ones" 'f["trace"] = "whole"'
lie "the paths are lost" 'f["trace"], f["why"] = "lost", "a lie"'
lie "control is elsewhere" 'f["blocks"] = [f["blocks"][0] - 1]'
lie "another scheme" 'f["scheme"] = 4'
lie "a local block not reached" 'f["blocks_used"][f["blocks"][0]] = False'
lie "a local block reached" 'f["blocks_used"][-1] = True'
lie "a block of the run not reached" 'd["blocks_used"][0] = False'
lie "a block of the run reached" 'u = next(d["blocks_used"] for d in c["functions"] if False in d["blocks_used"]); u[u.index(False)] = True'
lie "a function not entered" 'd["blocks_used"] = [False] * d["block_count"]'
lie "a frame left out" 'frames.remove(f)'
lie "a frame invented" 'frames.insert(frames.index(f), dict(f))'
lie "another function" 'f["function_id"] = next(d["id"] for d in c["functions"] if d["id"] != f["function_id"])'
lie "another frame address" 'f["cfa"] = hex(int(f["cfa"], 16) + 8)'
lie "what ran cannot have run" 'd["blocks_activity"] = "n" + d["blocks_activity"][1:]'
lie "what did not run must have run" 'd["blocks_activity"] = "y" * d["block_count"]'
lie "another call in progress" 'g = [g for g in frames if "call" in g][-1]; g["call"] = 0 if g["call"] else 1'
exit $failed
