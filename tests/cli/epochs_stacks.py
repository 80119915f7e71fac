"""epochs_stacks.py FORMAT FILE METRIC - the stacks in a report, outermost frame first, one a line behind their number, sorted and
those that read alike added up. Formats that have places: NAME@FILE:LINE."""

import collections
import json
import re
import sys


def place(name, file, line):
    return f"{name}@{file}:{line}" if file and line else f"{name}@{file}" if file else name


def records(text):
    return (line for line in text.splitlines() if not line.startswith("# "))


def of_folded(text, _metric):
    for line in records(text):
        stack, value = line.rsplit(" ", 1)
        yield stack.split(";"), int(value)


def of_events(text, _metric):
    for line in records(text):
        _time, _tid, _name, value, stack = line.split(" ", 4)
        yield stack.split(";"), int(value)


def of_json(text, metric):
    report = json.loads(text)
    column = [m["name"] for m in report["metrics"]].index(metric)
    frames = [place(f["name"], f["file"], f["line"]) for f in report["frames"]]
    for context in report["contexts"]:
        if context["values"][column]:
            yield [frames[i] for i in context["frames"]], context["values"][column]


def of_links(text, metric):
    report = json.loads(text)
    column = [m["name"] for m in report["metrics"]].index(metric)
    frames = [f["link_name"] for f in report["frames"]]
    for context in report["contexts"]:
        if context["values"][column]:
            yield [frames[i] for i in context["frames"]], context["values"][column]


def of_speedscope(text, metric):
    report = json.loads(text)
    frames = [f["name"] for f in report["shared"]["frames"]]
    for profile in report["profiles"]:
        if profile["name"] == metric:
            for sample, weight in zip(profile["samples"], profile["weights"]):
                yield [frames[i] for i in sample], weight


def lines_of_stack(lines):
    """What text reports print of one stack, innermost first, with recursion once."""
    frames = []
    for line in lines:
        again = re.match(r"\s+\.\.\. (this frame|these frames) (\d+) times more", line)
        number = re.match(r"\s+#(\d+)\s+(.*)", line)
        if again:
            frames += frames[last_block:] * int(again[2])
            continue
        assert int(number[1]) == len(frames), line
        frame = re.sub(r" \((inlined|tail call)\)$", "", number[2])
        name, _, at = frame.partition(" at ")
        frames.append(f"{name}@{at}" if at else name)
        # A block that is repeated is as long as it takes to come to the same frame again; the test has one, of three frames.
        last_block = len(frames) - 3
    return frames[::-1]


def of_text(text, metric):
    for part in re.split(r"\n\n", text)[2:]:
        lines = part.rstrip().split("\n")
        if " | " in lines[0] or re.match(r"[\d,]+ ", lines[0]):
            yield lines_of_stack(lines[1:]), int(lines[0].split(" ")[0].replace(",", ""))


def of_decode(text, _metric):
    value, lines = None, []
    for line in text.splitlines() + ["0 {"]:
        head = re.match(r"(\d+) \{", line)
        if not head:
            lines.append(line)
            continue
        if value is not None:
            yield lines_of_stack(lines), value
        value, lines = int(head[1]), []


def of_decode_folded(text, _metric):
    for line in text.splitlines():
        value, stack = line.split(" ", 1)
        yield stack.split(";"), int(value)


def of_svg(text, _metric):
    box = re.compile(
        r'data-x="([\d.]+)" data-w="([\d.]+)"(?: data-label="[^"]*")?><title>([^\n<]*)\n(\d+)[^<]*</title><rect x="[\d.]+" y="(\d+)"'
    )
    boxes = [(float(x), float(w), name, int(value), int(y)) for x, w, name, value, y in box.findall(text)]
    rows = sorted({b[4] for b in boxes})

    def walk(parent, stack, depth):
        left = parent[3]
        for b in boxes:
            if depth < len(rows) and b[4] == rows[depth] and parent[0] - 1e-6 <= b[0] < parent[0] + parent[1] - 1e-6:
                left -= b[3]
                yield from walk(b, stack + [b[2]], depth + 1)
        if left:
            yield stack, left

    yield from walk(boxes[0], [], 1)


def main():
    form, path, metric = sys.argv[1:]
    total = collections.Counter()
    with open(path, encoding="utf-8") as f:
        for stack, value in globals()["of_" + form](f.read(), metric):
            total[";".join(stack)] += value
    for stack in sorted(total):
        print(total[stack], stack)


main()
