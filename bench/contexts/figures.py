#!/usr/bin/env python3
"""figures.py RESULTS OUT PROGRAM... - prints what figures.sh has found in RESULTS as Markdown, and draws it as OUT/contexts-*.svg."""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))
from plots import BLUE, GREY, INK, ORANGE, Drawing, draw_shares  # pylint: disable=wrong-import-position

GREEN = "#7fb069"
GRAPH = ("functions", "edges", "back_edges", "indirect_sites", "foreign_sites", "max_id", "ball_larus_max_id", "cut_nodes")


class Program:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.graph, self.hybrid = (json.loads(self.read(what) or "[{}]")[0] for what in ("graph", "graph.hybrid"))
        self.lines = self.number("lines")

    def read(self, what):
        try:
            with open(os.path.join(self.folder, f"{self.name}.{what}")) as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def number(self, what):
        text = self.read(what).split()
        return float(text[0]) if text else None

    def ratio(self, what, to):
        """of two files with one number each"""
        a, b = self.number(what), self.number(to)
        return a / b if a and b else None

    def link(self, variant):
        """CPU seconds and KiB"""
        words = self.read(f"link.{variant}").split()
        return (float(words[0]) + float(words[1]), float(words[2])) if len(words) >= 3 else None

    def link_ratios(self):
        a, b = self.link("contexts"), self.link("lto")
        return (a[0] / b[0], a[1] / b[1]) if a and b and b[0] else (None, None)

    def distribution(self, what):
        """(depth, allocations)"""
        rows = [line.split() for line in self.read("distribution").splitlines()]
        return [(int(depth), int(count)) for kind, depth, count in rows if kind == what]


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def cell(value, digits=3):
    return "–" if value is None else f"{value:.{digits}f}"


def mean(values):
    found = [v for v in values if v]
    return math.exp(sum(map(math.log, found)) / len(found)) if found else None


def pushes(graph):
    return graph["back_edges"] + graph["cut_edges"]


def print_hybrid(programs):
    """Of encoded calls, those of functions of the graph that do not push, which share needs code."""
    if not programs:
        return
    rows = []
    for p in programs:
        row = [p.name]
        both = (p.graph, p.hybrid)
        row += [f"{graph['edges'] - pushes(graph):,}" for graph in both[:1]]
        row += [f"{100 * (1 - graph['zero_edges'] / max(graph['edges'] - pushes(graph), 1)):.1f} %" for graph in both]
        row += [str(pushes(graph)) for graph in both]
        row += [cell(p.ratio(f"count.{variant}", "count.lto"), 4) for variant in ("contexts", "hybrid")]
        rows.append(row)
    print_table(["", "encoded calls", "code: explicit", "hybrid", "pushes: explicit", "hybrid", "instructions: explicit", "hybrid"], rows)


def print_tables(programs):
    print_table(["", "lines", "nodes", "edges", "back edges", "by pointer", "foreign calls", "max id", "max id of Ball-Larus", "cut nodes"],
                [[p.name, f"{p.lines or 0:,.0f}"] + ["over 64 bits" if p.graph[key] is None else f"{p.graph[key]:,}" for key in GRAPH]
                 for p in programs if p.graph])
    depths = [(p.name, p.read("depths").split()) for p in programs]
    print_table(["", "contexts", "allocations", "entries, at most", "for 90 %", "frames, at most", "for 90 %"],
                [[name] + [f"{int(word):,}" for word in words] for name, words in depths if len(words) == 6])
    print_hybrid([p for p in programs if p.hybrid and p.number("count.hybrid")])
    columns = [("contexts", lambda p: p.ratio("count.contexts", "count.lto")), ("with each allocation", lambda p: p.ratio("count.heap", "count.lto")),
               ("`-finstrument-functions`", lambda p: p.ratio("count.hooks", "count.lto")), ("`-pg`", lambda p: p.ratio("count.mcount", "count.lto")),
               ("agent", lambda p: p.ratio("time.agent", "time.lto")), ("uftrace", lambda p: p.ratio("time.uftrace", "time.lto")),
               ("text", lambda p: p.ratio("text.contexts", "text.lto")), ("link: time", lambda p: p.link_ratios()[0]),
               ("link: memory", lambda p: p.link_ratios()[1])]
    rows = [[p.name, f"{(p.number('count.lto') or 0) / 1e6:,.0f}"] + [cell(of(p)) for _, of in columns] + [p.read("tests").strip() or "–"]
            for p in programs if p.number("count.contexts")]
    rows.append(["geometric mean", ""] + [cell(mean([of(p) for p in programs])) for _, of in columns] + [""])
    print_table(["", "million instructions", *(name for name, _ in columns), "own tests"], rows)


def draw_overhead(programs, path):
    kinds = [("contexts", "waymark cc", BLUE), ("mcount", "-pg", GREEN), ("hooks", "-finstrument-functions, empty hooks", ORANGE)]
    rows = [(p.name, {kind: p.ratio(f"count.{kind}", "count.lto") for kind, _, _ in kinds}) for p in programs if p.ratio("count.contexts", "count.lto")]
    if not rows:
        return
    kinds = [k for k in kinds if any(bars[k[0]] for _, bars in rows)]
    rows.append(("geometric mean", {kind: mean([bars[kind] for _, bars in rows]) if all(bars[kind] for _, bars in rows) else None for kind, _, _ in kinds}))
    left, width, row_height, head = 100, 560, 36, 64
    most = max(value for _, bars in rows for value in bars.values() if value) - 1
    # Square roots: 5 % and 500 % are both to be seen.
    def place(overhead):
        return left + width * math.sqrt(max(overhead, 0) / most)
    drawing = Drawing(left + width + 70, len(rows) * row_height + head + 26)
    drawing.text(12, 18, "Instructions more than natively (axis of square roots)", size=14)
    x = 12
    for _, text, colour in kinds:
        drawing.box(x, 28, 14, 8, colour)
        drawing.text(x + 18, 36, text)
        x += 34 + 6 * len(text)
    bottom = head + len(rows) * row_height
    for tick in (0, 0.05, 0.25, 0.5, 1, 2, 4, 8):
        if tick <= most:
            drawing.line([(place(tick), head - 8), (place(tick), bottom)], GREY, 1)
            drawing.text(place(tick), bottom + 14, f"{tick * 100:g} %", "middle", 9)
    for i, (name, bars) in enumerate(rows):
        y = head + i * row_height
        drawing.text(left - 6, y + 18, name, "end", 11)
        for k, (kind, _, colour) in enumerate(kinds):
            if bars[kind]:
                drawing.box(left, y + k * 10, place(bars[kind] - 1) - left, 9, colour)
                drawing.text(place(bars[kind] - 1) + 4, y + k * 10 + 8, f"{(bars[kind] - 1) * 100:.1f} %", size=8)
    drawing.write(path)


def draw_ids(programs, path):
    """Table 1: the largest ids, beside the size of the graph."""
    rows = sorted(((p.name, p.graph["edges"], p.graph["max_id"], p.graph["ball_larus_max_id"]) for p in programs if p.graph), key=lambda row: row[1])
    if not rows:
        return
    left, right, top, bottom = 110, 690, 64, 64 + 18 * len(rows)
    drawing = Drawing(right + 80, bottom + 40)
    drawing.text(12, 18, "The largest id: bits that it needs (programs by the number of their edges)", size=14)
    for x, text, colour in ((12, "Waymark", BLUE), (90, "Ball-Larus numbering", ORANGE)):
        drawing.box(x, 28, 14, 8, colour)
        drawing.text(x + 18, 36, text)

    def bits(value):
        return 64 if value is None else math.log2(value + 1)

    def place(value):
        return left + (right - left) * bits(value) / 64
    for tick in (0, 8, 16, 32, 48, 63):
        x = left + (right - left) * tick / 64
        drawing.line([(x, top - 8), (x, bottom)], GREY, 1)
        drawing.text(x, bottom + 14, str(tick), "middle", 9)
    for i, (name, edges, ours, theirs) in enumerate(rows):
        y = top + i * 18
        drawing.text(left - 6, y + 9, name, "end", 11)
        drawing.box(left, y, place(ours) - left, 7, BLUE)
        drawing.box(left, y + 7, place(theirs) - left, 4, ORANGE)
        drawing.text(max(place(ours), place(theirs)) + 4, y + 9, f"{edges:,} edges", size=8, colour=INK)
    drawing.write(path)


def draw_depths(programs, path):
    """Figure 10 of the paper: cumulative distributions."""
    chosen = [(p.name, p.distribution("frames"), p.distribution("entries")) for p in programs if len(p.distribution("frames")) > 3]
    draw_shares(chosen, "allocations", "stack", path)


def main():
    folder, out, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    programs = [Program(folder, name) for name in names]
    print_tables(programs)
    draw_ids(programs, f"{out}/contexts-ids.svg")
    draw_depths(programs, f"{out}/contexts-depths.svg")
    draw_overhead(programs, f"{out}/contexts-overhead.svg")


if __name__ == "__main__":
    main()
