#!/usr/bin/env python3
"""tables.py DIR WAYMARK PROGRAM... - prints the results of run.sh: Table 1 and Figure 8 of the DACCE paper, memory, starting."""
import math
import statistics
import sys

from results import Results, quartiles


def number(value, digits=0):
    return "-" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def mean_depths(results, waymark):
    contexts = results.context_depths(waymark)
    samples = sum(count for _, count in contexts)
    stacks = [depth for recording in results.recordings() for depth in recording.stack_depths]
    return (sum(depth * count for depth, count in contexts) / samples if samples else math.nan,
            statistics.mean(stacks) if stacks else math.nan)


def print_table(programs, waymark):
    print("Table 1. Nodes to epochs are of the process with most edges; times and rates of all. Pushes and calls a second of native CPU time;\n"
          "calls as callgrind counts them, in all libraries too (-: it did not run, took too long, or the program forks). Depths are means over samples.")
    print(f"{'program':9} {'nodes':>6} {'edges':>6} {'max id':>20} {'sites':>7} {'epochs':>6} {'coding ms':>9} {'pushes/s':>11} {'calls/s':>12} "
          f"{'depth':>6} {'stack':>6}")
    for r in programs:
        p = r.largest()
        if not p:
            print(f"{r.name:9} -")
            continue
        depth, stack = mean_depths(r, waymark)
        print(f"{r.name:9} {p['functions']:6} {p['edges']:6} {p['max id']:20,} {p['sites']:7} {p['epochs']:6} "
              f"{r.sums('encoding us') / 1000:9.1f} {number(r.sums('pushes') / r.native_cpu()):>11} {number(r.calls_a_second()):>12} "
              f"{number(depth, 1):>6} {number(stack, 1):>6}")


def print_costs(programs):
    print("\nFigure 8. CPU seconds natively; ratio of the agent to native, median of the pairs (quartiles): of the whole run, and steady: of what\n"
          "long runs do beyond these (marked *: no long run; of the whole run less the agent's own time). agent ms: its own CPU time (finding and patching\n"
          "calls, epochs) in all processes of the run. start: what the agent adds to a run\n"
          "that does next to nothing. Beside them the ratios of callgrind, uftrace and perf record -g, of one run each.")
    print(f"{'program':9} {'pairs':>5} {'native':>7} {'whole run':>20} {'steady':>21} {'agent ms':>8} {'start ms':>8} {'callgrind':>9} {'uftrace':>7} "
          f"{'perf':>5}")
    means = []
    for r in programs:
        if not r.native or not r.agent or not r.counted:
            print(f"{r.name:9} -")
            continue
        columns = []
        for ratios in (r.ratios(), r.steady()):
            low, middle, high = quartiles(ratios)
            columns.append(f"{middle:6.3f} ({low:.3f}-{high:.3f})")
        columns[1] += " " if r.long_native else "*"
        steady = quartiles(r.steady())[1]
        means.append((steady, quartiles(r.ratios())[1], r.calls_a_second()))
        print(f"{r.name:9} {len(r.ratios()):5} {r.native_cpu():7.2f} {columns[0]:>20} {columns[1]:>21} {r.sums('in agent us') / 1000:8.0f} "
              f"{number(statistics.median(r.starts) if r.starts else math.nan, 1):>8} {number(r.slowdown('callgrind'), 1):>9} "
              f"{number(r.slowdown('uftrace'), 1):>7} {number(r.slowdown('perf'), 2):>5}")
    if means:
        busy = [steady for steady, _, calls in means if calls > 50e6]
        print(f"geometric mean: steady {statistics.geometric_mean([s for s, _, _ in means]):.3f} (goal 1.03), whole run "
              f"{statistics.geometric_mean([w for _, w, _ in means]):.3f}; above 50 million calls a second "
              f"{number(statistics.geometric_mean(busy) if busy else math.nan, 3)} of {len(busy)} programs (goal 1.08); largest "
              f"{max(s for s, _, _ in means):.3f} (goal 1.15)")


def print_memory(programs):
    print("\nMemory at most, MB; what the agent adds, over the sites it scanned (the recording's pages are in it).")
    print(f"{'program':9} {'native':>8} {'agent':>8} {'sites':>7} {'bytes a site':>12}")
    for r in programs:
        if not r.native or not r.agent or not r.counted:
            continue
        native, agent = (statistics.median(row[2] for row in rows) for rows in (r.native, r.agent))
        sites = r.largest()["sites"]
        print(f"{r.name:9} {native:8.1f} {agent:8.1f} {sites:7} {number((agent - native) * 1048576 / sites if sites else math.nan):>12}")


def main():
    folder, waymark, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    programs = [Results(folder, name) for name in names]
    print_table(programs, waymark)
    print_costs(programs)
    print_memory(programs)


main()
