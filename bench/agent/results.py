"""Reads what run.sh left in its folder for a program."""
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys

from recording import Recording

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from turns import quartiles  # noqa: E402,F401 (also for those who import this)


def read_runs(path):
    """Rows of (user seconds, system seconds, megabytes)."""
    try:
        with open(path) as f:
            return [tuple(map(float, line.split())) for line in f]
    except FileNotFoundError:
        return []


def cpu(row):
    return row[0] + row[1]


class Results:
    def __init__(self, folder, program):
        self.name, self.at = program, os.path.join(folder, program)
        self.native = read_runs(f"{self.at}/work.native")
        self.agent = read_runs(f"{self.at}/work.agent")
        self.long_native = read_runs(f"{self.at}/long.native")
        self.long_agent = read_runs(f"{self.at}/long.agent")
        self.counted = [self.read_counted(path) for path in sorted(glob.glob(f"{self.at}/counted.*.log"))]
        self.counted = [processes for processes in self.counted if processes]
        self.starts = [(cpu(a) - cpu(n)) * 1000 for n, a in
                       zip(read_runs(f"{self.at}/start.native"), read_runs(f"{self.at}/start.agent"))]

    @staticmethod
    def read_counted(path):
        """The lines of `waymark: functions 1 quiet 2 …`, one a process."""
        with open(path, errors="replace") as f:
            return [{key: int(value) for key, value in re.findall(r"([a-z][a-z ]*?) (\d+)", line.split(": ", 1)[1])} for line in f]

    def native_cpu(self):
        return statistics.median(map(cpu, self.native)) if self.native else math.nan

    def sums(self, key):
        """Median over the counted runs of the sum over processes."""
        runs = [sum(process.get(key, 0) for process in processes) for processes in self.counted]
        return statistics.median(runs) if runs else math.nan

    def largest(self):
        """The process with most edges, of the first counted run."""
        return max(self.counted[0], key=lambda process: process["edges"]) if self.counted else None

    def ratios(self):
        """Of the whole runs, pair by pair."""
        return [cpu(a) / cpu(n) for n, a in zip(self.native, self.agent) if cpu(n)]

    def steady(self):
        """Of what the long runs do beyond the others; without long runs of the whole, less the CPU time of the agent itself."""
        if self.long_native and self.native:
            native, agent = (statistics.median(map(cpu, rows)) for rows in (self.native, self.agent))
            return [(cpu(a) - agent) / (cpu(n) - native) for n, a in zip(self.long_native, self.long_agent) if cpu(n) > native]
        own = self.sums("in agent us") / 1e6
        return [(cpu(a) - own) / cpu(n) for n, a in zip(self.native, self.agent) if cpu(n)]

    def calls_a_second(self):
        """Of callgrind; NaN where it did not run to the end."""
        try:
            with open(f"{self.at}/calls") as f:
                calls = float(f.read() or 0)
        except FileNotFoundError:
            calls = 0
        return calls / self.native_cpu() if calls and self.slowdown("callgrind") > 0 else math.nan

    def slowdown(self, tool):
        runs = read_runs(f"{self.at}/{tool}")
        return cpu(runs[0]) / self.native_cpu() if runs else math.nan

    def recordings(self):
        return [Recording(path) for path in sorted(glob.glob(f"{self.at}/*.wmk"))]

    def context_depths(self, waymark):
        """(depth, samples) of each context of the recordings."""
        files = sorted(glob.glob(f"{self.at}/*.wmk"))
        if not files:
            return []
        text = subprocess.run([waymark, "report", "--format=json", "--metric=cpu", *files], capture_output=True, text=True)
        if text.returncode:
            return []
        report = json.loads(text.stdout)
        metric = [m["name"] for m in report["metrics"]].index("cpu")
        return [(len(c["frames"]), c["values"][metric]) for c in report["contexts"]]
