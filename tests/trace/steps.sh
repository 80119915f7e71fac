#!/bin/bash
# steps.sh BUILD-DIR - the lines of a frame's paths are those that its instructions stand on: gdb steps through function stepped
# of flags.c and of handlers.cpp, instruction by instruction, and the line table says which lines these are. That no line is
# shown of which nothing ran is checked so; that none is missing, but for jumps, which optimized code has at any line.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
cat >step.py <<'END'
import gdb

gdb.execute("set pagination off")
gdb.execute("break stepped")
gdb.execute("run >/dev/null")
gdb.execute("delete")
lines = {}


def depth():
    frame, count = gdb.newest_frame(), 0
    while frame:
        frame, count = frame.older(), count + 1
    return count


# The breakpoint is behind the prologue.
home = depth()
while gdb.newest_frame().is_valid() and gdb.newest_frame().name() == "stepped" or depth() > home:
    frame = gdb.newest_frame()
    line = frame.find_sal().line
    opcode = gdb.selected_inferior().read_memory(frame.pc(), 1)[0]
    text = frame.architecture().disassemble(frame.pc())[0]["asm"].split()[0]
    if line:
        lines.setdefault(line, set()).add("jump" if text.startswith("jmp") else "runs")
    if text.startswith("call") and "abort" in frame.architecture().disassemble(frame.pc())[0]["asm"]:
        break
    gdb.execute("nexti", to_string=True)
print("STEPPED", " ".join(f"{line}:{'runs' if 'runs' in kinds else 'jump'}" for line, kinds in sorted(lines.items())))
END
cat >compare.py <<'END'
import json, sys

level, stepped = sys.argv[2], dict(word.split(":") for word in sys.argv[3:])
text = [""] + [line.strip() for line in open(sys.argv[1])]
ran = {int(line) for line in stepped if stepped[line] == "runs"}
jumps = {int(line) for line in stepped} - ran
frames = json.load(open("core.json"))["threads"][0]["frames"]
frame = next(f for f in frames if "stepped" in (f["name"] or ""))
if frame["trace"] != "whole":
    sys.exit(f"its paths are not whole: {frame['trace']}")
shown = {s["line"] for p in frame["paths"] for s in p["steps"] if "function" not in s}
if level == "O0":
    phantoms = {line for line in shown - ran if line not in jumps or "catch" in text[line]}
else:
    phantoms = shown - ran
# Own instructions, and copies that phis become, stand where jumps do.
missing = {line for line in ran - shown if level == "O0" or text[line] not in ("break;", "}", "{")}
start = next(i for i, line in enumerate(text) if " stepped(" in line)
missing -= {start, start + 1}
if phantoms or missing:
    sys.exit(f"nothing ran on the lines {sorted(phantoms)}, not shown are {sorted(missing)}")
print(f"{len(shown)} lines, {len(jumps)} with jumps only")
END
for program in flags.c handlers.cpp; do
	for level in O0 O2; do
		compiler=cc
		[ $program = flags.c ] || compiler=c++
		"$waymark" $compiler --wm=trace='*=pt' --wm-trace-paths=64 -g -$level "$here/../trace/steps/$program" -o program || exit 1
		core_of core ./program || exit 1
		DEBUGINFOD_URLS='' gdb -q -nx -batch -iex 'set auto-load off' -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /none' -x step.py ./program \
			>stepped.txt 2>&1 </dev/null
		words=$(sed -n 's/^STEPPED //p' stepped.txt)
		[ -n "$words" ] || { cat stepped.txt; fail "$program -$level: gdb does not step"; continue; }
		"$waymark" core --format=json --paths=all ./program core -o core.json || exit 1
		# shellcheck disable=SC2086 # words
		python3 compare.py "$here/../trace/steps/$program" $level $words || fail "$program -$level"
	done
done
finish
