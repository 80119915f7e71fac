#!/usr/bin/env python3
"""questions.py BUILD SOURCE-DIR - runs every command of docs/questions.md, in its order, and compares what is printed with the page: headings
but for their numbers, and each line that has none.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HEADINGS = ("Functions", "Images", "Lines", "Threads", "Callers", "Callees", "Calls", "Sizes", "Life")

# Programs that need not be there: without one, neither it nor its recordings are asked for.
OPTIONAL = {"cmake": ("cmake",), "jython": ("jython", "java"), "postgres": ("postgres",), "redis": ("redis-server", "redis-cli")}
RECORDED = {"redis": r"examples/redis\.sh|redis\.wmk|early\.wmk", "cmake": r"cmake\.wmk", "jython": r"jython\.wmk", "postgres": r"postgres\.wmk"}


def read_blocks(page):
    """Commands with the lines that the page has below them."""
    blocks = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("    $ "):
            blocks.append((line[6:], []))
        elif line.startswith("    ") and blocks:
            blocks[-1][1].append(line[4:])
    return blocks


def comparable(line):
    """The line without what differs from run to run; None if all of it may."""
    words = line.split()
    if not words or words == ["…"]:
        return None
    if words[0] in HEADINGS:
        return re.sub(r"[0-9][0-9,.]*", "N", " ".join(words))
    return None if re.search("[0-9]", line) else " ".join(words)


def main():
    build, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    if not shutil.which("perl") or not pathlib.Path("/usr/include/linux").is_dir():
        print("no perl, or no headers of Linux")
        return 77
    environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}")
    for name in ("WAYMARK_OUT", "WAYMARK_LIMIT", "LD_PRELOAD"):
        environment.pop(name, None)
    failed = False
    with tempfile.TemporaryDirectory(prefix="waymark-questions.") as place:
        os.symlink(source / "examples", f"{place}/examples")
        for command, lines in read_blocks(source / "docs/questions.md"):
            if any(re.search(RECORDED[name], command) and not all(map(shutil.which, needed)) for name, needed in OPTIONAL.items()):
                print(f"left out: {command}")
                continue
            done = subprocess.run(command, shell=True, cwd=place, env=environment, capture_output=True, text=True, timeout=600,
                                  check=False)
            if done.returncode != 0:
                print(f"{command}: exit status {done.returncode}: {done.stderr}")
                failed = True
            got = {comparable(line) for line in done.stdout.splitlines()}
            for line in lines:
                if comparable(line) and comparable(line) not in got:
                    print(f"{command}: prints no line like: {line}\nbut: {done.stdout}")
                    failed = True
    return failed


sys.exit(main())
