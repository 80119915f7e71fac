"""Reads what run.sh left in its folder of results."""
import math
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from turns import quartiles  # noqa: E402,F401 (also for those who import this)

MEASURES = {"process": 0, "main": 1, "wall": 2}


def read_rows(path):
    """Rows of numbers; those with a name in a dictionary."""
    rows, named = [], {}
    try:
        with open(path) as f:
            for line in f:
                words = line.split()
                if words and words[0].isalpha():
                    named[words[0]] = float(words[1])
                elif words:
                    rows.append([float(word) for word in words])
    except FileNotFoundError:
        pass
    return rows, named


class Run:
    """Of one process. first, steady: milliseconds; memory: megabytes."""

    def __init__(self, path, column):
        rows, named = read_rows(path)
        times = [row[column] for row in rows]
        self.is_whole = "VmHWM" in named
        self.first = times[0] if times else math.nan
        self.steady = statistics.median(times[len(times) // 2:]) if times else math.nan
        self.memory = named.get("VmHWM", math.nan) / 1024


class Program:
    """Runs of a program by the name of the variant, and by their number: a run that failed is in none."""

    def __init__(self, folder, name, variants, measure):
        self.name, self.runs = name, {}
        for variant in variants:
            at = os.path.join(folder, name, variant)
            numbers = os.listdir(at) if os.path.isdir(at) else []
            runs = {int(n): Run(os.path.join(at, n), MEASURES[measure]) for n in numbers}
            self.runs[variant] = {n: run for n, run in runs.items() if run.is_whole}
        rows, _ = read_rows(os.path.join(folder, name, "nodes"))
        self.nodes = rows[0][0] if rows else math.nan

    def median(self, variant, value):
        runs = [getattr(run, value) for run in self.runs[variant].values()]
        return statistics.median(runs) if runs else math.nan

    def pairs(self, variant, value):
        """(plain, other), turn by turn."""
        plain, other = self.runs["plain"], self.runs[variant]
        return [(getattr(plain[n], value), getattr(other[n], value)) for n in sorted(plain.keys() & other.keys())]

    def ratios(self, variant, value):
        return [other / plain for plain, other in self.pairs(variant, value) if plain]


def read_arguments(words):
    """COUNT VARIANT... PROGRAM..."""
    count = int(words[0])
    return words[1:1 + count], words[1 + count:]
