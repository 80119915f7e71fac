#!/usr/bin/env python3
"""run.py [-b BUILD] [-w DIR] [-l LEVELS] [CASE...] - slices of real crashes of released programs: sizes, time, memory, and where the fault is.

Each case is an input that crashes a version of a program as it was released, and the lines that its authors changed to mend it. The program is
built from Debian's source package without Debian's patches, by `waymark cc --wm=trace -g`, at each of LEVELS (default O0,O2). gdb writes the
core. DIR keeps builds and cores (default: build/bench-slice). CPU time and peak memory are those of `waymark core --slice`, which makes the other
two slices for their sizes, if 256 MB are enough for that. Where the fault is not found, it is looked for in the slice of all code, for 60 s.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

from cases import CASES, PACKAGES

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SECONDS_MAX = 60  # of CPU time for a slice


def run(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **options)
    if result.returncode:
        sys.exit("run.py: %s: exit status %d\n%s" % (" ".join(command), result.returncode, result.stdout[-2000:]))
    return result.stdout


def without_patches(source, folder):
    """A copy of the source as its authors released it."""
    shutil.copytree(source, folder, symlinks=True)
    series = os.path.join(folder, "debian", "patches", "series")
    if not os.path.exists(series):
        return
    with open(series, encoding="utf-8") as lines:
        names = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    for name in reversed(names):
        # What is not in the package, such as files that only tests read, is no part of the program.
        command = ["patch", "-R", "-p1", "-s", "-f", "-i", os.path.join("debian", "patches", name)]
        result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode > 1 or "FAILED" in result.stdout:
            sys.exit("run.py: %s is not taken back: %s" % (name, result.stdout))


def build_program(waymark, work, package, level):
    commands, program = PACKAGES[package]
    folder = os.path.join(work, "%s-%s" % (package, level))
    path, mark = os.path.join(folder, program), os.path.join(folder, ".built")
    if os.path.exists(mark):
        return path
    shutil.rmtree(folder, ignore_errors=True)
    fetched = subprocess.run([os.path.join(ROOT, "scripts", "fetch-source.sh"), package], stdout=subprocess.PIPE, text=True, check=False)
    if fetched.returncode:
        sys.exit(fetched.returncode)
    without_patches(fetched.stdout.strip(), folder)
    # cmake wants a compiler of one word.
    compiler = os.path.join(folder, "compiler")
    with open(compiler, "w", encoding="utf-8") as out:
        out.write('#!/bin/sh\nexec %s cc --wm=trace "$@"\n' % waymark)
    os.chmod(compiler, 0o755)
    environment = dict(os.environ, CC=compiler, CFLAGS="-g -" + level, FORCE_UNSAFE_CONFIGURE="1")
    run(["sh", "-c", commands], cwd=folder, env=environment)
    with open(mark, "w", encoding="utf-8"):
        return path


def crash(program, case, core):
    with tempfile.TemporaryDirectory(prefix="waymark-slice.") as folder:
        for name, text in case.files.items():
            with open(os.path.join(folder, name), "wb") as out:
                out.write(text if isinstance(text, bytes) else text.encode())
        command = ["bash", "-c", '. "$0" && core_of "$@"', os.path.join(ROOT, "tests", "support", "core.sh"), core, program] + case.arguments
        run(command, cwd=folder, env=dict(os.environ, **case.environment))


def slice_of(waymark, kind, program, core):
    """The slice, CPU seconds, and peak memory in MB."""
    order = ["--slice-order=nearest"] if kind == "active" else []
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([waymark, "core", "--slice", "--slice-of=" + kind, *order, "--format=json", program, core], stdout=out,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX)))
        _, status, used = os.wait4(process.pid, 0)
        if status and kind == "active":
            sys.exit("run.py: waymark core --slice: status %d" % status)
        if status:
            return None, 0, 0
        out.seek(0)
        return json.load(out), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def lines_of(lines_by_file, fault):
    name, first, last = fault
    return [line for f in lines_by_file if os.path.basename(f["file"]) == name for line in f["lines"] if first <= line["line"] <= last]


def place_of(active, fault):
    """Where the first line of the fault is found: in which place of writes out of bounds, of the slice (the nearest first), or of omissions."""
    name, first, last = fault
    for layer, what in (("overruns", "overrun"), ("omissions", "omission")):
        lines = [line for line in active.get(layer, []) if layer == "overruns" or not line["is_in_slice"]]
        found = lines_of(active["files"], fault)
        if layer == "omissions" and found:
            return "slice %d of %d" % (min(line["place"] for line in found), active["lines"])
        for i, line in enumerate(lines):
            if os.path.basename(line["file"]) == name and first <= line["line"] <= last:
                is_evident = layer == "omissions" or line["rank"] == "evidence"
                if is_evident:
                    return "%s %d of %d" % (what, i + 1, len(lines))
    return "in none"


def row_of(name, level, sizes, place, seconds, megabytes):
    lines = {kind: size["lines"] if size else None for kind, size in sizes.items()}
    shown = ["%d" % lines[kind] if lines[kind] else "-" for kind in ("static", "stack", "active", "ran")]
    smaller = ["%.0f %%" % (100 - 100 * lines["active"] / lines[kind]) if lines[kind] else "-" for kind in ("static", "ran")]
    return "| %s -%s | %s | %s | %s | %.1f s | %.0f MB |" % (name, level, " | ".join(shown), " | ".join(smaller), place, seconds, megabytes)


def row_of_case(waymark, case, level, path, core):
    active, seconds, megabytes = slice_of(waymark, "active", path, core)
    place = place_of(active, case.fault)
    sizes = active["sizes"]
    static = slice_of(waymark, "static", path, core)[0] if place == "in none" else None
    if static:
        sizes = dict(sizes, static=static["sizes"]["static"], stack=static["sizes"]["stack"])
        if place == "in none" and lines_of(static["files"], case.fault):
            place = "of all code only"
    return row_of(case.name, level, sizes, place, seconds, megabytes)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("-b", dest="build", default=os.path.join(ROOT, "build"))
    parser.add_argument("-w", dest="work", default=os.path.join(ROOT, "build", "bench-slice"))
    parser.add_argument("-l", dest="levels", default="O0,O2")
    options = parser.parse_args()
    waymark = os.path.join(os.path.realpath(options.build), "waymark")
    work = os.path.realpath(options.work)
    os.makedirs(work, exist_ok=True)
    unknown = set(options.cases) - {case.name for case in CASES}
    if unknown:
        sys.exit("run.py: no such case: %s" % " ".join(sorted(unknown)))
    print("| crash | all code | stack | active | ran, or may | smaller than all code | than what ran | the fault | CPU | memory |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if options.cases and case.name not in options.cases:
            continue
        for level in [level for level in options.levels.split(",") if level in case.levels]:
            path = build_program(waymark, work, case.package, level)
            core = os.path.join(work, "%s-%s.core" % (case.name, level))
            crash(path, case, core)
            print(row_of_case(waymark, case, level, path, core), flush=True)


if __name__ == "__main__":
    main()
