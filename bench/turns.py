"""What benches share that run the same work in several ways in turn: tables of the ratios in Markdown, and the ratios kept as JSON."""
import datetime
import json
import math
import os
import re
import statistics


def quartiles(values):
    if len(values) < 2:
        return values * 3 if values else [math.nan] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


class Part:
    """What was compared: values[kind][program] are ratios to the plain run of the same turn, or (is_ratio false) how much more than it."""

    def __init__(self, name, title, plain_unit, is_ratio=True):
        self.name, self.title, self.plain_unit, self.is_ratio = name, title, plain_unit, is_ratio
        self.plain, self.values = {}, {}

    def add(self, kind, program, pairs):
        """pairs: (plain, other), turn by turn."""
        found = [other / plain if self.is_ratio else other - plain for plain, other in pairs if plain > 0]
        if found:
            self.values.setdefault(kind, {})[program] = found

    def mean(self, kind):
        """Over programs, of the medians."""
        return statistics.geometric_mean([statistics.median(found) for found in self.values[kind].values()])


def cell(found, digits):
    if not found:
        return "-"
    low, middle, high = quartiles(found)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def print_row(*words):
    print("| " + " | ".join(words) + " |")


def print_part(part, kinds):
    """A row for each program that ran plainly, a column for each kind."""
    if not part.plain:
        return
    print(f"\n{part.title}: median of the turns (quartiles).\n")
    print_row("program", f"plain, {part.plain_unit}", *kinds)
    print("|" + "---|" * (len(kinds) + 2))
    for program, plain in part.plain.items():
        print_row(program, f"{plain:,.2f}", *(cell(part.values.get(kind, {}).get(program), 2) for kind in kinds))
    if part.is_ratio and len(part.plain) > 1:
        means = (f"{part.mean(kind):.2f} of {len(part.values[kind])}" if kind in part.values else "-" for kind in kinds)
        print_row("geometric mean", "", *means)


def machine(folder):
    """Processors, and the load that the benches noted in the file "load" while they ran."""
    with open("/proc/cpuinfo") as f:
        models = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    text = f"{os.cpu_count()} processors" + (f" ({models[0]})" if models else "")
    try:
        with open(os.path.join(folder, "load")) as f:
            loads = [float(line.split()[0]) for line in f]
    except FileNotFoundError:
        loads = []
    return text, [min(loads), max(loads)] if loads else []


def write_json(path, folder, system, command, parts):
    """The results of a run. bench/costs.py reads them."""
    command = re.sub(r" -[bjw] \S+", "", command)  # places of this machine
    processors, load = machine(folder)
    turns = max((len(found) for part in parts for programs in part.values.values() for found in programs.values()), default=0)
    found = {
        "system": system, "command": command, "when": datetime.date.today().isoformat(), "machine": processors, "load": load, "turns": turns,
        "parts": {part.name: {"title": part.title, "unit": "ratio" if part.is_ratio else "ms", "plain": part.plain, "values": part.values}
                  for part in parts if part.plain},
    }
    with open(path, "w") as f:
        json.dump(found, f, indent="\t")
        f.write("\n")
