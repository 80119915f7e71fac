#!/usr/bin/env python3
"""tidy-database.py BUILD OUT - copies BUILD/compile_commands.json into the folder OUT, without repetition, and lists its sources
in OUT/sources. A source that several targets compile with the same macros and the same include folders is there once. What those
commands differ in (names of outputs and of the targets' own folders, position independence, debug information, optimization,
threads) is nothing that clang-tidy's checks look at."""
import json
import os
import shlex
import sys


def says(command):
    """The macros and include folders; a target's own folder (*.p) has only what Meson generates for it: nothing here."""
    words = shlex.split(command)
    kept = [w for w in words if w.startswith(("-D", "-U", "-std=", "-fno-")) or (w.startswith("-I") and not w.endswith(".p"))]
    kept += [words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-isystem", "-include")]
    return tuple(sorted(kept))


build, out = sys.argv[1:]
with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
    commands = json.load(file)
kept, seen = [], set()
for command in commands:
    key = (os.path.join(command["directory"], command["file"]), says(command["command"]))
    if key not in seen:
        seen.add(key)
        kept.append(command)
os.makedirs(out, exist_ok=True)
with open(os.path.join(out, "compile_commands.json"), "w", encoding="utf-8") as file:
    json.dump(kept, file, indent=1)
sources = {os.path.relpath(os.path.join(c["directory"], c["file"])) for c in kept}
with open(os.path.join(out, "sources"), "w", encoding="utf-8") as file:
    file.writelines(source + "\n" for source in sorted(sources))
