#!/usr/bin/env python3
"""costs.py [--check] [RESULTS...] - writes the table of questions, mechanisms and costs into README.md and docs/costs.md.

RESULTS are files mechanisms.json of bench/agent/run.sh and bench/jvm/run.sh. What they measured replaces what bench/costs.json has of the same
mechanism; that file keeps a number, its spread and how it was measured, and not each turn. Without RESULTS the tables are written from it.
With --check nothing is written: exit status 1 if a page differs from bench/costs.json.
"""
import json
import math
import os
import statistics
import sys

from turns import quartiles

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
KEPT = os.path.join(ROOT, "bench", "costs.json")
BEGIN, END = "<!-- bench/costs.py: begin -->", "<!-- bench/costs.py: end -->"

# What is asked, what is typed, what is done, and which measurements say what it costs: (running, starting) of native programs and of Java.
# NONE: there is no such option. The same measurement may answer two questions.
NONE = ("none", "none")
ROWS = [
    ("Where does CPU time go?", "`--sample`", "a walk of the stack at each sample; no code changes",
     ("native/samples/walk250", "native/processes/walk250"), ("java/steady-process/sample", "java/start-process/sample")),
    ("Where does it go, with the frames of tail calls, and proof?", "`--sample --encode`, `--check`", "every call is encoded as the program runs",
     ("native/samples/encode250", "native/processes/encode250"), ("java/steady-process/encode", "java/start-process/encode")),
    ("Where do threads spend time, and wait?", "`--wall`, `--off-cpu`", "a walk for each look at a thread that has run since the last one",
     ("native/wall/wall", "native/wall/start"), ("java/steady-process/wall", "java/start-process/wall")),
    ("Who allocates most?", "`--heap=512K`, of Java `--alloc`", "a walk for one allocation in so many bytes",
     ("native/heap/heap512K", "native/start/heap512K"), ("java/steady-process/alloc", "java/start-process/alloc")),
    ("Who allocates, to the byte?", "`--heap`", "a walk at each allocation, of which mostly words are compared",
     ("native/heap/heap", "native/start/heap"), ("java/steady-process/heap", "java/start-process/heap")),
    ("What is never given back?", "`--heap`, of Java `--live`", "as above; of Java, sampled objects that a last collection leaves",
     ("native/heap/heap", "native/start/heap"), ("java/steady-process/live", "java/start-process/live")),
    ("Who allocates, with the frames of tail calls?", "`--heap --encode`", "every call is encoded, each allocation is recorded",
     ("native/heap/heapencode", "native/start/heapencode"), NONE),
    ("Who waits for a monitor?", "`--contention`", "a walk at each wait", NONE, ("java/steady-process/contention", "java/start-process/contention")),
    ("Who throws?", "`--exceptions`", "a walk at each exception", NONE, ("java/steady-process/exceptions", "java/start-process/exceptions")),
    ("How did this log line come about?", "`wm_token` and `waymark cc`, of Java `Waymark.token()`",
     "calls that lead to a token keep a number", ("native/compiled/tokens", "native/compiled/start"),
     ("java/steady-process/tokens", "java/start-process/tokens")),
    ("Which paths ran?", "`waymark cc --wm=paths`", "each path of a function has a counter", ("native/compiled/paths", "native/compiled/start"), NONE),
    ("What happened before the crash?", "`waymark cc --wm=trace`, `waymark core`", "each frame keeps its last paths in memory",
     ("native/compiled/trace", "native/compiled/start"), NONE),
    ("Which lines can have decided this one?", "`waymark slice`", "the kept bitcode is read; nothing runs", ("native/slice", "native/slice"), NONE),
    ("And a process that runs already?", "`waymark attach`", "as above, from then on. Running: its longest stop", ("native/attach", "none"),
     ("java/attach", "none")),
]
OTHERS = [
    ("perf record -g, 250 Hz", "native/samples/perf250", None),
    ("gperftools, 250 Hz", "native/samples/gperf250", None),
    ("heaptrack", "native/heap/heaptrack", None),
    ("JDK Flight Recorder, default settings", "java/steady-process/jfr-default", "java/start-process/jfr-default"),
    ("JDK Flight Recorder, profile settings", "java/steady-process/jfr-profile", "java/start-process/jfr-profile"),
]


def summary(part, programs):
    """The mean over programs of the medians of the turns; of one program its quartiles, otherwise the least and the largest median."""
    medians = [statistics.median(turns) for turns in programs.values()]
    is_ratio = part["unit"] == "ratio"
    if len(medians) == 1:
        low, value, high = quartiles(next(iter(programs.values())))
    else:
        low, high = min(medians), max(medians)
        value = statistics.geometric_mean(medians) if is_ratio else statistics.median(medians)
    return {"value": round(value, 3), "low": round(low, 3), "high": round(high, 3), "unit": part["unit"], "over": ", ".join(programs)}


def read_results(path, kept):
    with open(path) as f:
        found = json.load(f)
    load = " to ".join(f"{value:.1f}" for value in found["load"])
    for name, part in found["parts"].items():
        for kind, programs in part["values"].items():
            entry = summary(part, programs)
            entry.update(when=found["when"], how=f"`{found['command']}`, {found['turns']} turns, {found['machine']}" + (f", load {load}" if load else ""))
            kept[f"{found['system']}/{name}/{kind}"] = entry


def cell(kept, key):
    """What the table says: a number, or that there is none."""
    if key == "none":
        return "–"
    entry = kept.get(key)
    if not entry:
        return "not measured"
    mark = "*" if entry.get("otherwise") else ""  # not as the column says: its row among the sources tells how
    if "text" in entry:
        return entry["text"] + mark
    return (f"{entry['value']:.2f}" if entry["unit"] == "ratio" else f"{entry['value']:.1f} ms") + mark


def spread(entry):
    if "low" not in entry or math.isnan(entry["low"]):
        return ""
    unit = "" if entry["unit"] == "ratio" else " ms"
    return f"{entry['low']:.2f} to {entry['high']:.2f}{unit}"


def table(kept):
    lines = ["| what you ask | what you type | what is done | native: running | starting | Java: running | starting |", "|---|---|---|---|---|---|---|"]
    for asked, typed, done, native, java in ROWS:
        cells = [cell(kept, key) for key in native + java]
        lines.append("| " + " | ".join([asked, typed, done, *cells]) + " |")
    return lines


def sources(kept):
    """Every number with its spread and how it was measured."""
    lines = ["", "| beside them | running | starting |", "|---|---|---|"]
    for name, running, starting in OTHERS:
        lines.append(f"| {name} | {cell(kept, running)} | {cell(kept, starting) if starting else 'not measured'} |")
    lines += ["", "| measurement | | of one program quartiles, else by program | programs | when | how |", "|---|---|---|---|---|---|"]
    for key, entry in sorted(kept.items()):
        lines.append(f"| {key} | {cell(kept, key)} | {spread(entry)} | {entry.get('over', '')} | {entry['when']} | {entry['how']} |")
    return lines


def replaced(path, lines):
    """The page's text with the lines between the two comments."""
    with open(path) as f:
        text = f.read()
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    return head + "\n".join([BEGIN, *lines, END]) + tail


def main():
    words = sys.argv[1:]
    is_check = "--check" in words
    with open(KEPT) as f:
        kept = json.load(f)
    for path in words:
        if path != "--check":
            read_results(path, kept)
    pages = {"README.md": table(kept), "docs/costs.md": table(kept) + sources(kept)}
    status = 0
    for page, lines in pages.items():
        path = os.path.join(ROOT, page)
        new = replaced(path, lines)
        with open(path) as f:
            is_same = f.read() == new
        if is_check and not is_same:
            print(f"{page} differs from bench/costs.json: run bench/costs.py")
            status = 1
        elif not is_check and not is_same:
            with open(path, "w") as f:
                f.write(new)
    if not is_check:
        with open(KEPT, "w") as f:
            json.dump(dict(sorted(kept.items())), f, indent="\t", ensure_ascii=False)
            f.write("\n")
    return status


sys.exit(main())
