"""For Jython 2.7: a maze, words of a text, JSON, classes, generators, exceptions, sorting with keys."""
from __future__ import print_function
import heapq
import json
import random
import re
import sys


class Node(object):
    def __init__(self, name):
        self.name, self.edges = name, []

    def __lt__(self, other):
        return self.name < other.name


class Counter(dict):
    def __missing__(self, key):
        return 0


def shortest(size):
    nodes = [Node(i) for i in range(size * size)]
    for i, node in enumerate(nodes):
        for j in (i + 1, i + size, i - size, i * 7 % len(nodes)):
            if 0 <= j < len(nodes):
                node.edges.append((nodes[j], (i * 31 + j * 17) % 97 + 1))
    best, queue = {}, [(0, nodes[0])]
    while queue:
        cost, node = heapq.heappop(queue)
        if node.name in best:
            continue
        best[node.name] = cost
        for to, length in node.edges:
            heapq.heappush(queue, (cost + length, to))
    return sum(best.values())


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def pairs(items):
    for i, item in enumerate(items):
        yield i, item


def parse(word):
    try:
        return int(word, 0)
    except ValueError:
        return None


chooser = random.Random(7)
text = " ".join("%s%d" % (chooser.choice(["node", "edge", "0x1f", "call", "site", "12"]), chooser.randrange(500)) for _ in range(40000))
counts = Counter()
for word in re.findall(r"\w+", text):
    counts[word] += 1
print(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5])
print(sum(1 for word in counts if parse(word) is not None))
print(shortest(60), fib(22), sum(i * len(w) for i, w in pairs(sorted(counts))) % 1000003)
data = json.loads(json.dumps(dict((w, [n, {"half": n // 2, "name": w[::-1]}]) for w, n in counts.items())))
print(len(json.dumps(data, indent=1, sort_keys=True)))
print(re.sub(r"(\w+) (\w+)", lambda m: m.group(2).upper() + m.group(1), text).count("EDGE"))
