#!/usr/bin/env python3
"""run.py [-b BUILD] [-w DIR] [-l LEVELS] [CASE...] - slices of real crashes of released programs: sizes, time, memory, and where the fault is.

Each case is an input that crashes a version of a program as it was released, and the lines that its authors changed to mend it. The program is
built from Debian's source package without Debian's patches, by `waymark cc --wm=trace -g`, at each of LEVELS (default O0,O2). gdb writes the
core. DIR keeps builds and cores (default: build/bench-slice). CPU time and peak memory are those of `waymark core --slice`, which makes the other
two slices for their sizes.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

# Name, source package, program in it, files, arguments, and the fault: a file and the first and last of the lines that the mend is about.
CASES = [
    ("patch-rename", "patch", "src/patch", {
        "y": "hello\n",
        "in.diff": "diff --git \nrename from x\nrename to y\n--- /dev/null\n+++ b/y\n@@ -1 +1 @@\n-hello\n+world\n",
    }, ["-p1", "-f", "-i", "in.diff"], ("pch.c", 974, 979)),  # CVE-2018-6951: names are missing where two are needed
    ("patch-newline", "patch", "src/patch", {
        "one": "a\nb",
        "two": "c\n",
        "in.diff": "--- one\n+++ one\n@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n"
                   "--- two\n+++ two\n@@ -1 +1 @@\n-c\n+d\n",
    }, ["-p0", "-f", "-o", "out", "-i", "in.diff"], ("patch.c", 358, 358)),  # a state is not set again for the second file
    ("patch-ed", "patch", "src/patch", {
        "in.diff": "0a\nhello\n.\n",
    }, ["-f", "-e", "-i", "in.diff", "missing"], ("pch.c", 2394, 2398)),  # a script of ed for a file that is not there
]


def run(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if result.returncode:
        sys.exit("run.py: %s: exit status %d\n%s" % (" ".join(command), result.returncode, result.stdout[-2000:]))
    return result.stdout


def without_patches(source, folder):
    """A copy of the source as its authors released it."""
    shutil.copytree(source, folder, symlinks=True)
    series = os.path.join(folder, "debian", "patches", "series")
    with open(series, encoding="utf-8") as lines:
        names = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    for name in reversed(names):
        run(["patch", "-R", "-p1", "-s", "-i", os.path.join("debian", "patches", name)], cwd=folder)


def build_program(waymark, work, package, program, level):
    folder = os.path.join(work, "%s-%s" % (package, level))
    path = os.path.join(folder, program)
    if os.path.exists(path):
        return path
    shutil.rmtree(folder, ignore_errors=True)
    fetched = subprocess.run([os.path.join(ROOT, "scripts", "fetch-source.sh"), package], stdout=subprocess.PIPE, text=True, check=False)
    if fetched.returncode:
        sys.exit(fetched.returncode)
    without_patches(fetched.stdout.strip(), folder)
    environment = dict(os.environ, CC=waymark + " cc --wm=trace", CFLAGS="-g -%s" % level, FORCE_UNSAFE_CONFIGURE="1")
    run(["./configure", "-q"], cwd=folder, env=environment)
    for part in ("lib", os.path.dirname(program)):
        run(["make", "-C", part, "-j2"], cwd=folder, env=environment)
    return path


def crash(program, files, arguments, core):
    with tempfile.TemporaryDirectory(prefix="waymark-slice.") as folder:
        for name, text in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(text)
        run(["bash", "-c", '. "$0" && core_of "$@"', os.path.join(ROOT, "tests", "support", "core.sh"), core, program] + arguments, cwd=folder)


def slice_of(waymark, kind, program, core):
    """The slice, CPU seconds, and peak memory in MB."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([waymark, "core", "--slice", "--slice-of=" + kind, "--format=json", program, core], stdout=out)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            sys.exit("run.py: waymark core --slice: status %d" % status)
        out.seek(0)
        return json.load(out), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def has(lines_by_file, fault):
    name, first, last = fault
    return any(os.path.basename(f["file"]) == name and any(first <= line["line"] <= last for line in f["lines"]) for f in lines_by_file)


def place_of(active, static, fault):
    """Where the lines of the fault are found."""
    if has(active["files"], fault):
        return "in the slice"
    name, first, last = fault
    omissions = [branch for branch in active["omissions"] if not branch["is_in_slice"]]
    for i, branch in enumerate(omissions):
        if os.path.basename(branch["file"]) == name and first <= branch["line"] <= last:
            return "omission %d of %d" % (i + 1, len(omissions))
    return "of all code only" if has(static["files"], fault) else "in none"


def row_of(name, level, active, static, fault, seconds, megabytes):
    lines = {kind: size["lines"] for kind, size in active["sizes"].items()}
    return "| %s -%s | %d | %d | %d | %d | %.0f %% | %.0f %% | %s | %.1f s | %.0f MB |" % (
        name, level, lines["static"], lines["stack"], lines["active"], lines["ran"], 100 - 100 * lines["active"] / lines["static"],
        100 - 100 * lines["active"] / lines["ran"], place_of(active, static, fault), seconds, megabytes)


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
    unknown = set(options.cases) - {case[0] for case in CASES}
    if unknown:
        sys.exit("run.py: no such case: %s" % " ".join(sorted(unknown)))
    print("| crash | all code | stack | active | ran, or may | smaller than all code | than what ran | the fault | CPU | memory |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, package, program, files, arguments, fault in CASES:
        if options.cases and name not in options.cases:
            continue
        for level in options.levels.split(","):
            path = build_program(waymark, work, package, program, level)
            core = os.path.join(work, "%s-%s.core" % (name, level))
            crash(path, files, arguments, core)
            active, seconds, megabytes = slice_of(waymark, "active", path, core)
            static, _, _ = slice_of(waymark, "static", path, core)
            print(row_of(name, level, active, static, fault, seconds, megabytes), flush=True)


if __name__ == "__main__":
    main()
