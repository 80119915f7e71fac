#!/usr/bin/env python3
"""oracle.py BUILD FIRST COUNT [--outside] [--paths] [--switches=N] [--batch=N] [--criteria=N] [--keep=DIR] [--options=TEXT] - random programs record
their own dynamic slices, each of which must be in the static slice of the same line, and in those that are restricted by what ran and by the stack.

Batches of programs are one program to the compiler; their options go round. With --outside a part of the functions counts as a shared library's.
With --paths what ran is what the programs' own recordings of paths say, as `waymark slice --ran` reads them. With --switches the programs run again and
again instead, each time with one branch going the other way, N times each program: the branch is in the slices of what changes, or among their
omissions (check_switches.c).
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import random_programs

HERE = os.path.dirname(os.path.abspath(__file__))
NO_PIPES = " -DNO_PIPES"  # random_programs.py
OPTIONS = ["-O0", "-O2", "-O1 -fno-inline", "-O0", "-O2 -fno-inline"]


def run(command, **more):
    return subprocess.run(command, check=True, **more)


def build_runtime(where):
    """The runtime of switches is compiled once."""
    made = os.path.join(where, "switches.o")
    run(["clang-19", "-O2", "-w", "-D_GNU_SOURCE", "-c", os.path.join(HERE, "switches.c"), "-o", made])
    return made


def build_switched(build, bitcode, where, runtime):
    """The program of some bitcode, changed by the pass: (its code, its executable)."""
    code, changed, program = (os.path.join(where, name) for name in ("code.bc", "changed.bc", "program"))
    run([os.path.join(build, "tests/analyze/slice-compare"), "write", bitcode, code])
    run(["opt-19", "-load-pass-plugin", os.path.join(build, "tests/analyze/switch-pass.so"), "-strip-debug", "-passes=switches", code, "-o", changed])
    run(["clang-19", "-O0", "-w", changed, runtime, "-o", program, "-lm"])
    return code, program


def write_batch(first, count, where, size=None):
    source = os.path.join(where, "programs.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(random_programs.batch(first, count, size))
    return source


def compile_batch(first, count, options, where, size=None):
    bitcode = os.path.join(where, "programs.bc")
    run(["clang-19", *options.split(), "-g", "-w", "-emit-llvm", "-c", write_batch(first, count, where, size), "-o", bitcode])
    return bitcode


def compile_counted(build, first, count, options, where):
    """A program that counts its paths."""
    program = os.path.join(where, "programs")
    run([os.path.join(build, "waymark"), "cc", "--wm=trace,paths", "--wm-stage=source", *options.split(), "-g", "-w", write_batch(first, count, where), "-o", program])
    return program


def check_command(build, code, first, count, options):
    return [os.path.join(build, "tests/analyze/slice-check-random"), *options, code, str(first), str(count)]


def check_batch(arguments, first, count, options, where, _):
    kind = ["-n", str(arguments.criteria)] + ["-o"] * arguments.outside
    if arguments.paths:
        code = compile_counted(arguments.build, first, count, options, where)
        kind += ["-p", os.path.join(where, "programs.wmk")]
    else:
        code = compile_batch(first, count, options, where)
    command = check_command(arguments.build, code, first, count, kind)
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return result.returncode, result.stdout


def check_switches(arguments, first, count, options, where, runtime):
    code, program = build_switched(arguments.build, compile_batch(first, count, options + NO_PIPES, where), where, runtime)
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
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--criteria", type=int, default=6)
    parser.add_argument("--outside", action="store_true", help="a part of the functions counts as a shared library's")
    parser.add_argument("--paths", action="store_true", help="what ran is what paths say that the programs count")
    parser.add_argument("--options", help="of the compiler, for all batches")
    parser.add_argument("--keep", help="a folder for what the last batch was made of")
    arguments = parser.parse_args()
    totals, failed = [0] * (5 if arguments.switches else 9), 0
    check = check_switches if arguments.switches else check_batch
    with tempfile.TemporaryDirectory(prefix="waymark-oracle.") as where:
        if arguments.keep:
            where = arguments.keep
            os.makedirs(where, exist_ok=True)
        runtime = build_runtime(where) if arguments.switches else None
        for first in range(arguments.first, arguments.first + arguments.count, arguments.batch):
            count = min(arguments.batch, arguments.first + arguments.count - first)
            options = arguments.options or OPTIONS[first // arguments.batch % len(OPTIONS)]
            status, text = check(arguments, first, count, options, where, runtime)
            numbers = [int(n) for n in re.findall(r"(\d+) [a-z]", text.strip().split("\n")[-1])]
            totals = [a + b for a, b in zip(totals, numbers)]
            if (first - arguments.first) // arguments.batch % 50 == 49:
                print("to seed %d: %d checks, %d missing" % (first + count - 1, totals[0], totals[4]), flush=True)
            if status:
                failed += 1
                print("FAIL: seeds %d to %d with %s\n%s" % (first, first + count - 1, options, text), flush=True)
    what = ("%d switches, %d changes asked about, %d in slices, %d in omissions, %d missing" if arguments.switches else
            "%d criteria, %d instructions in dynamic slices, %d in static ones, %d in active ones, %d missing; %d empty points-to sets; "
            "%d stacks, %d instructions in slices of stacks, %d in those of their activations")
    print("seeds %d to %d: " % (arguments.first, arguments.first + arguments.count - 1) + what % tuple(totals))
    if failed or not totals[1] or (arguments.paths and totals[3] >= totals[2]):
        sys.exit(1)


if __name__ == "__main__":
    main()
