#!/usr/bin/env python3
"""tables.py RESULTS - the tables of schemes.sh: sizes of slices by tracing scheme, in instructions and in lines, time and memory.

A size is its share of the slice of all code, the geometric mean of a program's crashes; -: there is no slice of all code. The last row is the
geometric mean of the programs. Where a slice of a program is coarse, it is too large by an unknown amount, and so is its size in a cell that begins
with <; a share of a coarse slice of all code is too small (>), and of two coarse ones nothing is known (?). Such programs are not in the last row.
"""
import math
import sys
from collections import defaultdict

WHATS = ["stack", "none", "fc", "cc", "stmt", "pt", "cc+pt", "stmt+pt"]
TITLES = {"cc+pt": "realistic", "stmt+pt": "all"}


def mean(numbers):
    numbers = [max(n, 1e-9) for n in numbers]
    return math.exp(sum(math.log(n) for n in numbers) / len(numbers)) if numbers else None


def read(path):
    """results[level, stage][program][crash][what] = [instructions, lines, of what ran, of what ran, seconds, megabytes, is coarse] or a message"""
    results = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    with open(path, encoding="utf-8") as file:
        for line in file:
            level, stage, program, crash, what, *rest = line.rstrip("\n").split("\t")
            results[level, stage][program][crash][what] = [float(n) for n in rest[:6]] + [rest[6] == "coarse"] if len(rest) == 7 else rest[0]
    return results


def is_known(slices, what):
    return isinstance(slices.get(what), list)


def bound(is_coarse, of_is_coarse):
    """What stands in front of a size, or of a share."""
    return "?" if is_coarse and of_is_coarse else "< " if is_coarse else "> " if of_is_coarse else ""


def is_coarse(crashes, what):
    return any(slices[what][6] for slices in crashes.values() if is_known(slices, what))


def shares(crashes, what, number):
    """Of each crash: the size by that of the slice of all code."""
    return [slices[what][number] / slices["full"][number] for slices in crashes.values() if is_known(slices, what) and is_known(slices, "full")]


def of_ran(crashes, what, number):
    return [slices[what][number] / slices[what][number + 2] for slices in crashes.values() if is_known(slices, what)]


def percent(value):
    return "-" if value is None else "%.0f" % (100 * value) if value >= 0.1 else "%.1f" % (100 * value)


def bounded(mark, value):
    return percent(value) if value is None else "?" if mark == "?" else mark + percent(value)


def sizes(programs, number):
    """A row for each program, and one for all."""
    rows, all_values = [], defaultdict(list)
    for program, crashes in programs.items():
        full = mean([slices["full"][number] for slices in crashes.values() if is_known(slices, "full")])
        full_is_coarse = is_coarse(crashes, "full")
        cells = [(what, mean(shares(crashes, what, number)), bound(is_coarse(crashes, what), full_is_coarse)) for what in WHATS]
        cells.append(("ran", mean(of_ran(crashes, "cc+pt", number)), bound(is_coarse(crashes, "cc+pt"), False)))
        rows.append([program, "-" if full is None else "%s%.0f" % (bound(full_is_coarse, False), full)] + [bounded(mark, value) for _, value, mark in cells])
        if not any(mark or value is None for _, value, mark in cells):
            for what, value, _ in cells:
                all_values[what].append(value)
    rows.append(["geometric mean", ""] + [percent(mean(all_values[what])) for what in WHATS + ["ran"]])
    return rows


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def most(crashes, what, number):
    values = [slices[what][number] for slices in crashes.values() if is_known(slices, what)]
    return max(values) if values else None


def why(crashes, what):
    for slices in crashes.values():
        if isinstance(slices.get(what), str):
            return slices[what]
    return None


def costs(programs):
    rows = []
    for program, crashes in programs.items():
        row = [program, str(len(crashes))]
        for what in ["full", "cc+pt", "stmt+pt"]:
            seconds, megabytes = most(crashes, what, 4), most(crashes, what, 5)
            row.append("%.1f s, %.0f MB" % (seconds, megabytes) if seconds is not None else why(crashes, what) or "-")
        rows.append(row)
    return rows


def main():
    results = read(sys.argv[1])
    for (level, stage), programs in sorted(results.items(), reverse=True):
        for number, what in ((1, "lines"), (0, "instructions")):
            print("-%s, %s stage, %s: percent of the slice of all code; last: realistic, percent of what ran\n" % (level, stage, what))
            table(["program", "all code"] + [TITLES.get(w, w) for w in WHATS] + ["of ran"], sizes(programs, number))
        print("-%s, %s stage, CPU time and memory, the most of a program's crashes\n" % (level, stage))
        table(["program", "crashes", "all code", "realistic", "all"], costs(programs))


if __name__ == "__main__":
    main()
