#!/usr/bin/env python3
"""lines.py SHOW_LINES FILE... [-d DEBUG_DIR] [-g DEBUG_FILE] [-n COUNT] [-s SEED] [-z] - compares the chains of inlined functions and
lines that Waymark reads for FILE with those of llvm-symbolizer, at COUNT of the instructions that objdump lists, or at all.

-g: what llvm-symbolizer reads, with one FILE. Without it, and with -d, the debug file of DEBUG_DIR.
-z: the debug information went through dwz, which llvm-symbolizer follows in part: names of inlined functions are not compared.
Prints for each file how many chains there are, and how many have inlined functions. Exits with 1 if a chain is wrong or none has inlined
functions."""
import argparse
import collections
import os
import random
import subprocess
import sys

options = argparse.ArgumentParser()
options.add_argument("show_lines")
options.add_argument("files", nargs="+")
options.add_argument("-d", dest="debug_dir")
options.add_argument("-g", dest="debug_file")
options.add_argument("-n", dest="count", type=int)
options.add_argument("-s", dest="seed", type=int, default=1)
options.add_argument("-z", dest="is_dwz", action="store_true")
options = options.parse_args()


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", check=True).stdout


def addresses(path):
    found = []
    for line in run(["objdump", "-d", "--no-show-raw-insn", path]).splitlines():
        at = line.split(":", 1)[0].strip()
        if line.startswith(" ") and at and all(c in "0123456789abcdef" for c in at):
            found.append(int(at, 16))
    if options.count and options.count < len(found):
        found = random.Random(options.seed).sample(found, options.count)
    return found


def header(path):
    """The address of the file's ELF header, as linked."""
    for line in run(["readelf", "-lW", path]).splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            return int(words[2], 16) - int(words[1], 16)
    return 0


def debug_file(path):
    if options.debug_file or not options.debug_dir:
        return options.debug_file or path
    build_id = next(line.split()[-1] for line in run(["readelf", "-nW", path]).splitlines() if "Build ID:" in line)
    return f"{options.debug_dir}/.build-id/{build_id[:2]}/{build_id[2:]}.debug"


def chains(text):
    """Of the form of `addr2line -a -f -i`: an address, then function and file:line by turns."""
    found, lines, at = {}, [], None
    for line in text.splitlines() + ["0x0"]:
        if line.startswith("0x") and len(lines) % 2 == 0:
            if at is not None:
                found[at] = [frame(lines[i], lines[i + 1]) for i in range(0, len(lines), 2)]
            at, lines = int(line, 16), []
        elif line:
            lines.append(line)
    return found


def frame(function, place):
    file, _, line = place.split(" (discriminator")[0].rpartition(":")
    return (function, os.path.basename(file), int(line) if line.isdigit() else 0)


def same(ours, theirs):
    """Line 0 is code that the compiler gives no line; the file beside it means nothing. The name of the function around all is the symbol's
    in theirs."""
    if len(ours) != len(theirs):
        return False
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a[2] != b[2] or (a[2] and a[1] != b[1]):
            return False
        if i + 1 < len(ours) and a[0] != b[0] and not options.is_dwz:
            return False
    return True


def compare(path):
    wanted = addresses(path)
    text = "".join(f"0x{a:x}\n" for a in wanted)
    ours = chains(run([options.show_lines, path, f"{header(path):x}"] + ([options.debug_dir] if options.debug_dir else []), text))
    theirs = chains(run(["llvm-symbolizer-19", "--output-style=GNU", "-a", "-f", "-i", "--no-demangle",
                         "--obj=" + debug_file(path)], text))
    depths = collections.Counter(len(ours[a]) for a in wanted)
    wrong = [a for a in wanted if not same(ours[a], theirs[a])]
    for a in wrong[:5]:
        print(f"{path}: {a:#x}\n  ours   {ours[a]}\n  theirs {theirs[a]}")
    inlined = sum(n for depth, n in depths.items() if depth > 1)
    print(f"{path}: {len(wanted)} addresses, {inlined} in inlined functions, at most {max(depths) - 1} deep; {len(wrong)} wrong")
    return not wrong and inlined > 0


sys.exit(not all([compare(path) for path in options.files]))
