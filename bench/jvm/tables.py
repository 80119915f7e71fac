#!/usr/bin/env python3
"""tables.py RESULTS MEASURE COUNT VARIANT... PROGRAM... - prints the results of run.sh as tables in Markdown."""
import math
import os
import statistics
import sys

from measured import Program, quartiles, read_arguments, read_rows


def number(value, digits=0):
    return "-" if math.isnan(value) else f"{value:,.{digits}f}"


def spread(ratios):
    low, middle, high = quartiles(ratios)
    return "-" if math.isnan(middle) else f"{middle:.2f} ({low:.2f} to {high:.2f})"


def print_head(*words):
    print("| " + " | ".join(words) + " |\n|" + "---|" + "---:|" * (len(words) - 1))


def print_row(*words):
    print("| " + " | ".join(words) + " |")


def print_ratios(title, programs, variants, value):
    print(f"\n## {title}\n")
    print_head("program", "plain ms", *variants)
    medians = {variant: [] for variant in variants}
    for program in programs:
        cells = []
        for variant in variants:
            ratios = program.ratios(variant, value)
            cells.append(spread(ratios))
            if ratios:
                medians[variant].append(statistics.median(ratios))
        print_row(program.name, number(program.median("plain", value)), *cells)
    print_row("geometric mean", "", *(number(statistics.geometric_mean(m) if m else math.nan, 3) for m in medians.values()))
    print_row("largest", "", *(number(max(m, default=math.nan), 2) for m in medians.values()))


def print_memory(programs, variants):
    print("\n## Memory at most, MB, and nodes of the calling-context tree\n")
    print_head("program", "plain", *variants, "nodes")
    for program in programs:
        print_row(program.name, *(number(program.median(v, "memory")) for v in ["plain", *variants]), number(program.nodes))


def print_starts(folder, variants):
    print("\n## Starting: milliseconds from beginning to end, their ratio, and MB at most\n")
    print_head("program", "plain", *variants)
    for name in ("start-hello", "start-javac"):
        runs = {v: read_rows(os.path.join(folder, name, v))[0] for v in ["plain", *variants]}
        cells = []
        for variant, rows in runs.items():
            if not rows:
                cells.append("-")
                continue
            text = number(statistics.median(row[1] for row in rows))
            if variant != "plain":
                text += f", {spread([row[1] / plain[1] for row, plain in zip(rows, runs['plain'])])}"
            cells.append(f"{text}, {number(statistics.median(row[2] for row in rows) / 1024)} MB")
        print_row(name[6:], *cells)


def print_captures(folder, variants):
    for variant in variants:
        path = os.path.join(folder, f"capture.{variant}")
        if os.path.exists(path):
            print(f"\n## Nanoseconds of one context: {variant}\n")
            print_head("", "10 calls", "50 calls", "200 calls")
            with open(path) as f:
                print(f.read(), end="")
    print("\nasync-profiler is not in Debian, so it is not among them.")


def main():
    folder, measure = sys.argv[1:3]
    variants, names = read_arguments(sys.argv[3:])
    others = variants[1:]
    programs = [Program(folder, name, variants, measure) for name in names]
    programs = [program for program in programs if program.runs["plain"]]
    what = {"process": "CPU time of the process", "main": "CPU time of the main thread", "wall": "time"}[measure]
    turns = max((len(program.runs["plain"]) for program in programs), default=0)
    print(f"Ratios are of {what}, to the plain run of the same turn: median (quartiles) of {turns}.")
    print_ratios("Steady state", programs, others, "steady")
    print_ratios("First iteration", programs, others, "first")
    print_memory(programs, others)
    print_starts(folder, others)
    print_captures(folder, variants)


main()
