"""Words of a text, a maze, JSON, classes, generators, exceptions, sorting with keys: what interpreters do."""
import heapq
import json
import re
import sys


class Node:
    def __init__(self, name):
        self.name, self.edges = name, []

    def __lt__(self, other):
        return self.name < other.name


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


text = open(sys.argv[1], errors="replace").read()
counts = {}
for word in re.findall(r"\w+", text[:1500000]):
    counts[word] = counts.get(word, 0) + 1
print(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:15])
print(sum(1 for word in counts if parse(word) is not None))
print(shortest(180), fib(25), sum(i * len(w) for i, w in pairs(sorted(counts))) % 1000003)
data = json.loads(json.dumps({w: [n, {"half": n / 2, "name": w[::-1]}] for w, n in counts.items()}))
print(len(json.dumps(data, indent=1, sort_keys=True)))
print(re.sub(r"(\w+)\((.*?)\)", lambda m: m.group(2).upper() + m.group(1), text[:400000]).count("INT"))
