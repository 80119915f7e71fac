#!/usr/bin/env python3
"""mechanisms.py DIR COMMAND COUNT VARIANT... PROGRAM... - prints what run.sh (COMMAND) found of each mechanism as Markdown; the ratios are in
DIR/mechanisms.json."""
import os
import statistics
import sys

from measured import MEASURES, Program, read_arguments, read_rows

from turns import Part, print_part, write_json  # measured.py has set the path

WHAT = {"process": "CPU time of the process", "main": "CPU time of the main thread", "wall": "time"}


def steady(folder, measure, variants, names):
    part = Part(f"steady-{measure}", f"Steady state: {WHAT[measure]} of an iteration beside that of a plain run", "ms")
    for name in names:
        program = Program(folder, name, variants, measure)
        if program.runs["plain"]:
            part.plain[name] = program.median("plain", "steady")
        for variant in variants[1:]:
            part.add(variant, name, program.pairs(variant, "steady"))
    return part


def start(folder, column, name, what, variants):
    part = Part(name, f"A class that says hello: {what} beside that of a plain run", "ms")
    runs = {variant: [row[column] for row in read_rows(os.path.join(folder, "start-hello", variant))[0]] for variant in variants}
    plain = runs["plain"]
    if plain:
        part.plain["hello"] = statistics.median(plain)
    for variant in variants[1:]:
        if len(runs[variant]) == len(plain):  # otherwise a turn failed, and none has its partner
            part.add(variant, "hello", zip(plain, runs[variant]))
    return part


def main():
    folder, command = sys.argv[1:3]
    variants, names = read_arguments(sys.argv[3:])
    at = os.path.join(folder, "mechanisms")
    names = [name for name in names if name != "hello"]
    parts = [start(at, 0, "start-process", "CPU time of all processes", variants), start(at, 1, "start-wall", "time", variants)]
    parts += [steady(at, measure, variants, names) for measure in MEASURES]
    for part in parts:
        print_part(part, variants[1:])
    write_json(os.path.join(folder, "mechanisms.json"), folder, "java", command, parts)
    print("\nasync-profiler is not in Debian, so it is not among them.")


main()
