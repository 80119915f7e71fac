"""report_tables.py FOLDED TABLE.json [ALLOCATOR...] - compares a table of functions with what the lines of folded output add up to.

A function's self is that of the contexts that end in it, its total that of the contexts that have it, each once. Frames at the end of a
context with the name of an allocator are their caller's. Exits with 1 and says what differs.
"""
import json
import sys

self_sums, totals = {}, {}
allocators = set(sys.argv[3:])
for line in open(sys.argv[1], encoding="utf-8"):
    context, value = line.rstrip("\n").rsplit(" ", 1)
    frames = [name.removesuffix("_[fp]") for name in context.split(";")]
    for name in set(frames):
        totals[name] = totals.get(name, 0) + int(value)
    while len(frames) > 1 and frames[-1] in allocators:
        frames.pop()
    self_sums[frames[-1]] = self_sums.get(frames[-1], 0) + int(value)

table = json.load(open(sys.argv[2], encoding="utf-8"))
rows = {row["name"].replace(";", ":"): (row["self"], row["total"]) for row in table["rows"]}
want = {name: (self_sums.get(name, 0), total) for name, total in totals.items() if total}
failed = False
for name in sorted(set(rows) | set(want)):
    if rows.get(name) != want.get(name):
        print(f"{name}: the table has {rows.get(name)}, the contexts add up to {want.get(name)}")
        failed = True
if not rows or len(rows) != table["all_rows"]:
    print(f"{len(rows)} rows of {table['all_rows']}")
    failed = True
sys.exit(failed)
