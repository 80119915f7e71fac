#!/usr/bin/env python3
"""mechanisms.py DIR COMMAND PROGRAM... - prints what run.sh (COMMAND) found with samples, heap and processes, as Markdown; the ratios are in
DIR/mechanisms.json."""
import os
import statistics
import sys

from results import cpu, read_runs

from turns import Part, print_part, write_json  # results.py has set the path

PARTS = {
    "samples": (Part("samples", "Samples: user and system time beside that of a plain run", "s"),
                ["walk250", "walk1000", "encode250", "perf250", "gperf250"]),
    "heap": (Part("heap", "Heap: user and system time beside that of a plain run", "s"), ["heap", "heapencode", "heap512K", "heaptrack"]),
    "processes": (Part("processes", "A process that does next to nothing: milliseconds of user and system time more", "ms", is_ratio=False),
                  ["walk250", "encode250"]),
}


def collect(folder, program, part, kinds):
    at = os.path.join(folder, program, part.name)
    unit = 1 if part.is_ratio else 1000
    native = [cpu(row) * unit for row in read_runs(f"{at}.native")]
    if not native:
        return
    part.plain[program] = statistics.median(native)
    for kind in kinds:
        other = [cpu(row) * unit for row in read_runs(f"{at}.{kind}")]
        if len(other) == len(native):  # otherwise a turn failed, and none has its partner
            part.add(kind, program, zip(native, other))


def main():
    folder, command, programs = sys.argv[1], sys.argv[2], sys.argv[3:]
    for part, kinds in PARTS.values():
        for program in programs:
            collect(folder, program, part, kinds)
        print_part(part, kinds)
    write_json(os.path.join(folder, "mechanisms.json"), folder, "native", command, [part for part, _ in PARTS.values()])


main()
