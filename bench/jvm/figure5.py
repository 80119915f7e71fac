#!/usr/bin/env python3
"""figure5.py RESULTS MEASURE SVG COUNT VARIANT... PROGRAM... - draws Figure 5 of the Lucce paper: of each program the steady state plainly,
which is 1, under the agent and with the tree."""
import statistics
import sys

from measured import Program, quartiles, read_arguments
from plots import BLUE, GREY, INK, ORANGE, Drawing

COLOURS = (GREY, BLUE, "#7fb069", "#8e5ea2", "#c9a227")
BAR, GAP, HEIGHT, LEFT, TOP = 16, 18, 260, 50, 60
STEPS = (0.25, 0.5, 1, 2, 5, 10, 20, 50)


def draw(rows, variants, path):
    colours = {v: ORANGE if v == "cct" else COLOURS[i % len(COLOURS)] for i, v in enumerate(variants)}
    group = BAR * len(variants) + GAP
    width = LEFT + group * len(rows) + GAP
    most = max(high for _, bars in rows for _, _, high in bars.values()) * 1.08
    scale = HEIGHT / most
    drawing = Drawing(max(width, 420), HEIGHT + TOP + 40)
    drawing.text(12, 18, "Steady state, plainly = 1 (bars: medians, lines: quartiles)", size=14)
    x = 12
    for variant in variants:
        drawing.box(x, 28, 14, 8, colours[variant])
        drawing.text(x + 18, 36, variant)
        x += 34 + 6 * len(variant)
    step = next((s for s in STEPS if most / s <= 8), STEPS[-1])
    for i in range(int(most / step) + 1):
        y = TOP + HEIGHT - i * step * scale
        drawing.line([(LEFT, y), (width, y)], GREY, 0.5)
        drawing.text(LEFT - 6, y + 3, f"{i * step:g}", "end")
    for i, (name, bars) in enumerate(rows):
        left = LEFT + GAP / 2 + i * group
        for k, variant in enumerate(variants):
            if variant not in bars:
                continue
            low, middle, high = bars[variant]
            x, y = left + k * BAR, TOP + HEIGHT - middle * scale
            drawing.box(x, y, BAR - 2, middle * scale, colours[variant])
            drawing.line([(x + BAR / 2 - 1, TOP + HEIGHT - low * scale), (x + BAR / 2 - 1, TOP + HEIGHT - high * scale)], INK, 1)
            if variant != "plain":
                drawing.text(x + BAR / 2 - 1, TOP + HEIGHT - high * scale - 3, f"{middle:.2f}", "middle", 7)
        drawing.text(left + (group - GAP) / 2, TOP + HEIGHT + 14, name, "middle", 9)
    drawing.write(path)


def main():
    folder, measure, path = sys.argv[1:4]
    variants, names = read_arguments(sys.argv[4:])
    rows, means = [], {variant: [] for variant in variants}
    for name in names:
        program = Program(folder, name, variants, measure)
        bars = {v: quartiles(ratios) for v in variants if (ratios := program.ratios(v, "steady"))}
        if bars:
            rows.append((name, bars))
            for variant, (_, middle, _) in bars.items():
                means[variant].append(middle)
    if not rows:
        return
    rows.append(("mean", {v: [statistics.geometric_mean(m)] * 3 for v, m in means.items() if m}))
    draw(rows, variants, path)


main()
