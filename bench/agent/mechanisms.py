#!/usr/bin/env python3
"""mechanisms.py DIR PROGRAM... - prints what run.sh found with samples, heap and processes, as Markdown."""
import os
import statistics
import sys

from results import cpu, quartiles, read_runs

PARTS = {
    "samples": ("Samples: user and system time beside that of a plain run", ["walk250", "walk1000", "encode250", "perf250", "gperf250"]),
    "heap": ("Heap: user and system time beside that of a plain run", ["heap", "heap512K", "heaptrack"]),
    "processes": ("A process that does next to nothing: milliseconds of user and system time more", ["walk250", "encode250"]),
}


def pairs(folder, program, part, kind):
    """(native, kind) seconds, turn by turn; none if a turn failed."""
    at = os.path.join(folder, program, part)
    native, other = read_runs(f"{at}.native"), read_runs(f"{at}.{kind}")
    return [(cpu(n), cpu(o)) for n, o in zip(native, other)] if len(native) == len(other) else []


def cell(found, part):
    values = [(o - n) * 1000 if part == "processes" else o / n for n, o in found if n]
    if not values:
        return "-", None
    low, middle, high = quartiles(values)
    digits = 2 if part == "processes" else 3
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})", middle


def show(folder, part, programs):
    title, kinds = PARTS[part]
    rows, middles = [], {kind: [] for kind in kinds}
    for program in programs:
        native = read_runs(os.path.join(folder, program, f"{part}.native"))
        if not native:
            continue
        row = [program, f"{statistics.median(map(cpu, native)):.2f}"]
        for kind in kinds:
            text, middle = cell(pairs(folder, program, part, kind), part)
            row.append(text)
            if middle:
                middles[kind].append(middle)
        rows.append(row)
    if not rows:
        return
    print(f"\n{title}: median of the turns (quartiles).\n")
    print("| " + " | ".join(["program", "native, s", *kinds]) + " |\n|" + "---|" * (len(kinds) + 2))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    if part != "processes":
        means = [f"{statistics.geometric_mean(middles[kind]):.3f} of {len(middles[kind])}" if middles[kind] else "-" for kind in kinds]
        print("| " + " | ".join(["geometric mean", "", *means]) + " |")


def main():
    folder, programs = sys.argv[1], sys.argv[2:]
    for part in PARTS:
        show(folder, part, programs)


main()
