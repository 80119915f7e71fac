#!/usr/bin/env python3
"""plots.py DIR WAYMARK OUT PROGRAM... - draws the results of run.sh as OUT/figure8.svg, figure9.svg and figure10.svg, as in the DACCE paper."""
import math
import os
import sys
from xml.sax.saxutils import escape

from results import Results, quartiles

BLUE, ORANGE, GREY, INK = "#2c6fbb", "#d2691e", "#d9d9d9", "#222222"
WIDTH, HEIGHT, COLUMNS = 250, 150, 4  # of a panel, of a row
LEFT, RIGHT, TOP, BOTTOM = 46, 46, 26, 34  # around a panel's axes


class Drawing:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
                      f'font-family="sans-serif" font-size="10" fill="{INK}">', f'<rect width="{width}" height="{height}" fill="white"/>']

    def text(self, x, y, text, anchor="start", size=10, colour=INK):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{escape(text)}</text>')

    def line(self, points, colour, width=1.5):
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def box(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" fill="{colour}"/>')

    def write(self, path):
        with open(path, "w") as f:
            f.write("\n".join(self.parts) + "\n</svg>\n")
        print(f"wrote {path}")


class Panel:
    """Axes from 0 to 1 both ways."""

    def __init__(self, drawing, number, title, head):
        self.d = drawing
        self.x = number % COLUMNS * (WIDTH + LEFT + RIGHT) + LEFT
        self.y = number // COLUMNS * (HEIGHT + TOP + BOTTOM) + TOP + head
        self.d.line([(self.x, self.y), (self.x, self.y + HEIGHT), (self.x + WIDTH, self.y + HEIGHT)], GREY, 1)
        self.d.text(self.x + WIDTH / 2, self.y - 8, title, "middle", 11)

    def point(self, x, y):
        return self.x + x * WIDTH, self.y + HEIGHT - y * HEIGHT

    def steps(self, points, colour):
        """Each value holds to the next one's place, the last to the end."""
        line = []
        for i, (x, y) in enumerate(points):
            if i:
                line.append(self.point(x, points[i - 1][1]))
            line.append(self.point(x, y))
        line.append(self.point(1, points[-1][1]))
        self.d.line(line, colour)

    def label_x(self, place, text):
        self.d.text(self.x + place * WIDTH, self.y + HEIGHT + 13, text, "middle")

    def label_y(self, place, text, is_right=False, colour=INK):
        self.d.text(self.x + WIDTH + 4 if is_right else self.x - 4, self.y + HEIGHT - place * HEIGHT + 3, text,
                    "start" if is_right else "end", colour=colour)


def grid(count, title, legend, head=52):
    rows = -(-count // COLUMNS)
    drawing = Drawing(min(count, COLUMNS) * (WIDTH + LEFT + RIGHT), rows * (HEIGHT + TOP + BOTTOM) + head)
    drawing.text(12, 18, title, size=14)
    x = 12
    for text, colour in legend:
        drawing.box(x, 28, 14, 8, colour)
        drawing.text(x + 18, 36, text)
        x += 30 + 6 * len(text)
    return drawing, head


def short(value):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= 10 * size:
            return f"{value / size:.0f}{unit}"
        if value >= size:
            return f"{value / size:.1f}{unit}"
    return f"{value:.0f}"


def draw_costs(programs, path):
    rows = [(r.name, quartiles(r.ratios()), quartiles(r.steady())) for r in programs if r.native and r.agent and r.counted]
    if not rows:
        return
    left, width, height = 90, 700, 34
    most = max(max(whole[2], steady[2]) for _, whole, steady in rows) - 1
    drawing = Drawing(left + width + 90, len(rows) * height + 90)
    drawing.text(12, 18, "Overhead of the agent: CPU time, natively = 0 %", size=14)
    for x, text, colour in ((12, "whole run", GREY), (102, "steady state", BLUE)):
        drawing.box(x, 28, 14, 8, colour)
        drawing.text(x + 18, 36, text)
    scale = width / max(most, 0.01)
    for i, (name, whole, steady) in enumerate(rows):
        y = 54 + i * height
        drawing.text(left - 6, y + 16, name, "end", 11)
        for place, thick, (low, middle, high), colour in ((0, 12, whole, GREY), (13, 12, steady, BLUE)):
            drawing.box(left, y + place, (middle - 1) * scale, thick, colour)
            drawing.line([(left + max(low - 1, 0) * scale, y + place + 6), (left + max(high - 1, 0) * scale, y + place + 6)], INK, 1)
            drawing.text(left + max(high - 1, 0) * scale + 4, y + place + 10, f"{(middle - 1) * 100:.0f} %", size=9)
    for goal in (0.03, 0.15):
        drawing.line([(left + goal * scale, 46), (left + goal * scale, 54 + len(rows) * height)], ORANGE, 1)
        drawing.text(left + goal * scale, 68 + len(rows) * height + (12 if goal > 0.1 else 0), f"goal {goal * 100:.0f} %", "middle", 9, ORANGE)
    drawing.write(path)


def draw_progress(programs, path):
    chosen = [(r.name, max(recordings, key=lambda recording: recording.epochs[-1][1] if recording.epochs else 0).epochs)
              for r in programs if (recordings := r.recordings())]
    chosen = [(name, epochs) for name, epochs in chosen if len(epochs) > 1]
    if not chosen:
        return
    drawing, head = grid(len(chosen), "Progress of encoding: a step is an epoch", [("encoded calls", BLUE), ("largest id, logarithmic", ORANGE)])
    for i, (name, epochs) in enumerate(chosen):
        panel = Panel(drawing, i, name, head)
        end = epochs[-1][0] * 1.05 or 1
        edges = max(e for _, e, _ in epochs) or 1
        decades = max(1, math.ceil(math.log10(max(largest for _, _, largest in epochs) + 1)))
        panel.steps([(at / end, e / edges) for at, e, _ in epochs], BLUE)
        panel.steps([(at / end, math.log10(largest + 1) / decades) for at, _, largest in epochs], ORANGE)
        for at, e, _ in epochs:
            x, y = panel.point(at / end, e / edges)
            drawing.box(x - 1.5, y - 1.5, 3, 3, BLUE)
        panel.label_x(0, "0")
        panel.label_x(1, f"{end * 1000:.0f} ms")
        for place in (0, 0.5, 1):
            panel.label_y(place, short(place * edges), colour=BLUE)
        panel.label_y(0, "1", True, ORANGE)
        panel.label_y(1, f"1e{decades}", True, ORANGE)
    drawing.write(path)


def cumulative(weights, place):
    """Points of the share of samples up to each depth. weights: (depth, samples)."""
    total, sum_so_far, points, by_depth = 0, 0, [], {}
    for depth, count in weights:
        by_depth[depth] = by_depth.get(depth, 0) + count
        total += count
    for depth in sorted(by_depth):
        sum_so_far += by_depth[depth]
        points.append((place(depth), sum_so_far / total))
    return [(0, 0), *points] if points and points[0][0] > 0 else points


def draw_shares(chosen, event, frames_of, path):
    """chosen: (name, weights of frames, weights of entries), of each program: cumulative distributions of both."""
    if not chosen:
        return
    drawing, head = grid(len(chosen), f"Depths at {event}: share of {event} up to a depth (logarithmic)",
                         [(f"frames of the {frames_of}", BLUE), ("entries of the context stack", ORANGE)])
    for i, (name, frames, entries) in enumerate(chosen):
        panel = Panel(drawing, i, name, head)
        top = max(depth for depth, _ in frames + entries)
        whole = math.log2(top + 1) or 1

        def place(depth, whole=whole):
            return math.log2(depth + 1) / whole
        panel.steps(cumulative(frames, place), BLUE)
        panel.steps(cumulative(entries, place), ORANGE)
        for share in (0, 0.5, 1):
            panel.label_y(share, f"{share * 100:.0f} %")
        last = -1.0
        for depth in [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000]:
            if depth < top and place(depth) < 0.88 and place(depth) - last > 0.08:
                panel.label_x(place(depth), str(depth))
                last = place(depth)
        panel.label_x(1, str(top))
    drawing.write(path)


def draw_depths(programs, waymark, path):
    chosen = []
    for r in programs:
        contexts = [(depth, count) for depth, count in r.context_depths(waymark) if count]
        stacks = [(depth, 1) for recording in r.recordings() for depth in recording.stack_depths]
        if contexts and stacks:
            chosen.append((r.name, contexts, stacks))
    draw_shares(chosen, "samples", "context", path)


def main():
    folder, waymark, out, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    os.makedirs(out, exist_ok=True)
    programs = [Results(folder, name) for name in names]
    draw_costs(programs, f"{out}/figure8.svg")
    draw_progress(programs, f"{out}/figure9.svg")
    draw_depths(programs, waymark, f"{out}/figure10.svg")


if __name__ == "__main__":
    main()
