#!/usr/bin/env python3
"""oracle.py BUILD FIRST COUNT [--switches=N] [--batch=N] [--criteria=N] [--keep=DIR] [--options=TEXT] - random programs record their own dynamic slices, each of
which must be in the static slice of the same line, and in those that are restricted by what ran and by the stack. Batches of programs are one program to the compiler; their options go round. With --switches the programs run again and again instead, each time with one branch going the other way, N times each
program: the branch is in the slices of what changes, or among their omissions (check_switches.c).
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = ["-O0", "-O2", "-O1 -fno-inline", "-O0", "-O2 -fno-inline"]
PASSES = {"shadow": "shadow-pass.so", "switches": "switch-pass.so"}
RECORDING_NODES = 60000  # of those that end by themselves; each third one is stopped somewhere before


def run(command, **more):
    return subprocess.run(command, check=True, **more)


def build_runtime(where, names=("shadow", "shadow_library")):
    """The runtime is compiled once: its objects."""
    objects = []
    for name in names:
        objects.append(os.path.join(where, name + ".o"))
        run(["clang-19", "-O2", "-w", "-D_GNU_SOURCE", "-c", os.path.join(HERE, name + ".c"), "-o", objects[-1]])
    return objects


def build_recorder(build, bitcode, where, objects, name="shadow"):
    """The program of some bitcode, changed by a pass: (its code, its executable)."""
    code, changed, program = (os.path.join(where, name) for name in ("code.bc", "changed.bc", "program"))
    run([os.path.join(build, "tests/analyze/slice-compare"), "write", bitcode, code])
    run(["opt-19", "-load-pass-plugin", os.path.join(build, "tests/analyze", PASSES[name]), "-strip-debug", "-passes=" + name, code, "-o", changed])
    run(["clang-19", "-O0", "-w", "-Wl,-z,lazy", changed, *objects, "-o", program, "-lm"])
    return code, program


def record(program, seed, where):
    path = os.path.join(where, "%d.nodes" % seed)
    limit = RECORDING_NODES if seed % 3 else 300 + seed * 7919 % 4000
    environment = dict(os.environ, SHADOW_OUT=path, SHADOW_LIMIT=str(limit))
    subprocess.run([program, str(seed)], env=environment, timeout=60, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def compile_batch(first, count, options, where):
    source, bitcode = os.path.join(where, "programs.c"), os.path.join(where, "programs.bc")
    with open(source, "w", encoding="ascii") as file:
        run([sys.executable, os.path.join(HERE, "random_programs.py"), str(first), str(count)], stdout=file)
    run(["clang-19", *options.split(), "-g", "-w", "-emit-llvm", "-c", source, "-o", bitcode])
    return bitcode


def record_batch(arguments, first, count, options, where, objects):
    """Returns the code of the batch and a recording of each program."""
    bitcode = compile_batch(first, count, options, where)
    code, program = build_recorder(arguments.build, bitcode, where, objects)
    return code, [record(program, seed, where) for seed in range(first, first + count)]


def check_batch(arguments, first, count, options, where, objects):
    code, recordings = record_batch(arguments, first, count, options, where, objects)
    command = [os.path.join(arguments.build, "tests/analyze/slice-compare"), "check", code, "-r", "-n", str(arguments.criteria), *recordings]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    for path in recordings:
        os.unlink(path)
    return result.returncode, result.stdout


def check_switches(arguments, first, count, options, where, objects):
    code, program = build_recorder(arguments.build, compile_batch(first, count, options, where), where, objects, "switches")
    command = [os.path.join(arguments.build, "tests/analyze/slice-switches"), code, program, os.path.join(where, "run"), str(first), str(count),
               str(arguments.switches)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return result.returncode, result.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--switches", type=int, default=0)
    parser.add_argument("--batch", type=int, default=6)
    parser.add_argument("--criteria", type=int, default=6)
    parser.add_argument("--options", help="of the compiler, for all batches")
    parser.add_argument("--keep", help="a folder for what the last batch was made of")
    arguments = parser.parse_args()
    totals, failed = [0] * (5 if arguments.switches else 9), 0
    check = check_switches if arguments.switches else check_batch
    with tempfile.TemporaryDirectory(prefix="waymark-oracle.") as where:
        if arguments.keep:
            where = arguments.keep
            os.makedirs(where, exist_ok=True)
        objects = build_runtime(where, ("switches",)) if arguments.switches else build_runtime(where)
        for first in range(arguments.first, arguments.first + arguments.count, arguments.batch):
            count = min(arguments.batch, arguments.first + arguments.count - first)
            options = arguments.options or OPTIONS[first // arguments.batch % len(OPTIONS)]
            status, text = check(arguments, first, count, options, where, objects)
            numbers = [int(n) for n in re.findall(r"(\d+) [a-z]", text.strip().split("\n")[-1])]
            totals = [a + b for a, b in zip(totals, numbers)]
            if (first - arguments.first) // arguments.batch % 50 == 49:
                print("to seed %d: %d checks" % (first + count - 1, totals[0]), flush=True)
            if status:
                failed += 1
                print("FAIL: seeds %d to %d with %s\n%s" % (first, first + count - 1, options, text), flush=True)
    what = ("%d switches, %d changes asked about, %d in slices, %d in omissions, %d missing" if arguments.switches else
            "%d criteria, %d instructions in dynamic slices, %d in static ones, %d in active ones, %d missing; %d empty points-to sets; "
            "%d stacks, %d instructions in slices of stacks, %d in those of their activations")
    print("seeds %d to %d: " % (arguments.first, arguments.first + arguments.count - 1) + what % tuple(totals))
    if failed or not totals[1]:
        sys.exit(1)


if __name__ == "__main__":
    main()
