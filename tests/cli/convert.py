"""convert.py FORMAT FILE FOLDED METRIC... - reads a file that Waymark wrote in another tool's format with a reader of its own, and
compares what it says of each context with the folded stacks of FOLDED.METRIC.

Contexts are compared by the names of their functions: a file's numbers of contexts that differ in lines only are added up.
"""
import array
import base64
import gzip
import json
import re
import sys
from collections import Counter


def folded(path):
    contexts = Counter()
    for line in open(path, encoding="utf-8"):
        stack, number = line.rsplit(" ", 1)
        contexts[stack] += int(number)
    return contexts


# ---- pprof: a protocol buffer, read field by field ----

def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 2:
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            sys.exit(f"pprof: wire type {tag & 7}")


def packed(data):
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return numbers


def read_pprof(path, metrics):
    strings, types, samples, locations, functions = [], [], [], {}, {}
    for number, value in fields(gzip.open(path).read()):
        if number == 6:
            strings.append(value.decode())
        elif number == 1:
            types.append(dict(fields(value)))
        elif number == 2:
            samples.append(dict(fields(value)))
        elif number == 4:
            location = list(fields(value))
            line = dict(fields(dict(location)[4]))
            locations[dict(location)[1]] = line[1]
        elif number == 5:
            function = dict(fields(value))
            functions[function[1]] = function[2]
    names = [strings[t[1]] for t in types]
    units = {strings[t[1]]: strings[t[2]] for t in types}
    assert units.get("bytes", "bytes") == "bytes", units
    result = {metric: Counter() for metric in metrics}
    for sample in samples:
        stack = ";".join(strings[functions[locations[n]]] for n in reversed(packed(sample[1])))
        for name, value in zip(names, packed(sample[2])):
            if name in result:
                result[name][stack] += value
    return result


# ---- callgrind: costs of functions, and of calls between two ----

def read_callgrind(path):
    """Of each function (itself, with all that it calls) and the totals."""
    events, own, calls, totals, function, callee = [], {}, {}, None, None, None
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("totals:"):
            totals = dict(zip(events, map(int, line.split()[1:])))
        elif line.startswith("fn="):
            function = line[3:]
        elif line.startswith("cfn="):
            callee = line[4:]
        elif line[:1].isdigit():
            where = calls.setdefault((function, callee), Counter()) if callee else own.setdefault(function, Counter())
            where.update(dict(zip(events, map(int, line.split()[1:]))))
            callee = None
    return own, calls, totals


def check_callgrind(path, wanted):
    own, calls, totals = read_callgrind(path)
    for metric, contexts in wanted.items():
        want_own, want_calls = Counter(), Counter()
        for stack, value in contexts.items():
            names = stack.split(";")
            want_own[names[-1]] += value
            for pair in set(zip(names, names[1:])):
                want_calls[pair] += value
        assert totals[metric] == sum(contexts.values()), (metric, totals)
        assert want_own == Counter({f: c[metric] for f, c in own.items() if c[metric]}), metric
        got = Counter({pair: c[metric] for pair, c in calls.items() if c[metric]})
        # Contexts that call from two lines have the pair twice: a recursion's may be counted for each line.
        for pair, value in want_calls.items():
            assert got[pair] == value or (pair[0] == pair[1] and got[pair] >= value), (metric, pair, got[pair], value)
        assert set(got) == set(want_calls), metric


# ---- the others ----

def read_dhat(path, metrics):
    data = json.load(open(path, encoding="utf-8"))
    assert data["dhatFileVersion"] == 2 and data["ftbl"][0] == "[root]"
    result = {metric: Counter() for metric in metrics}
    for point in data["pps"]:
        stack = ";".join(data["ftbl"][n].split(" (")[0] for n in reversed(point["fs"]))
        for metric, value in zip(metrics, (point["tb"], point["tbk"])):
            result[metric][stack] += value
    return result


def read_firefox(path, metrics):
    data = json.load(open(path, encoding="utf-8"))
    shared = data["shared"]
    stacks = shared["stackTable"]
    for name in ("stackTable", "frameTable", "funcTable", "sources"):
        columns = {len(v) for v in shared[name].values() if isinstance(v, list)}
        assert columns == {shared[name]["length"]}, (name, columns)
    contexts = Counter()
    scale = 1
    for thread in data["threads"]:
        samples = thread["samples"]
        scale = 1e6 if samples["weightType"] == "tracing-ms" else 1
        assert samples["time"] == sorted(samples["time"])
        for stack, weight in zip(samples["stack"], samples["weight"]):
            names = []
            while stack is not None:
                name = shared["funcTable"]["name"][shared["frameTable"]["func"][stacks["frame"][stack]]]
                names.append(shared["stringArray"][name])
                stack = stacks["prefix"][stack]
            contexts[";".join(reversed(names))] += round(weight * scale)
    return {metrics[0]: contexts}


def read_chrome(path, metrics):
    data = json.load(open(path, encoding="utf-8"))
    result = {metric: Counter() for metric in metrics}
    times = [e["ts"] for e in data["traceEvents"] if e["ph"] == "i"]
    assert times == sorted(times)
    for event in data["traceEvents"]:
        if event["ph"] == "i" and event["name"] in result:
            result[event["name"]][event["args"]["stack"]] += 1
    return result


def read_perf(path, metrics):
    contexts, names, value = Counter(), [], None
    for line in open(path, encoding="utf-8"):
        if line == "\n":
            contexts[";".join(reversed(names))] += value
            names = []
        elif line.startswith("\t"):
            names.append(re.match(r"\t +0 (.*?)(\+0x0)? \(\S+\)( \(inlined\))?$", line).group(1))
        else:
            assert line.endswith(f" {metrics[0]}:\n"), line
            value = int(line.split()[-2])
    return {metrics[0]: contexts}


def page_data(path):
    """The header and the arrays of the page of `waymark view`, as docs/format.md has them."""
    page = open(path, encoding="utf-8").read()
    text = re.search(r'<script type="text/plain" id="data">\n(.*?)</script>', page, re.DOTALL).group(1)
    data = gzip.decompress(base64.b64decode(text))
    size = int.from_bytes(data[:4], "little")
    head, at = json.loads(data[4:4 + size]), -(-(4 + size) // 8) * 8

    def take(code, count):
        nonlocal at
        values = array.array(code, data[at:at + count * array.array(code).itemsize])
        at += -(-len(values) * values.itemsize // 8) * 8
        return values

    frames = [take("I", head["frames"]) for _ in ("name", "file", "image", "line")]
    parents, nodes = take("I", head["nodes"]), take("I", head["nodes"])
    cells = [(take("I", m["contexts"]), take("d", m["contexts"])) for m in head["metrics"]]
    events = [take("I", head["events"]) for _ in ("slice", "thread", "metric", "node")] + [take("d", head["events"]) for _ in ("count", "sum")]
    assert at == len(data), (at, len(data))
    return head, frames, parents, nodes, cells, events


def read_view(path, metrics):
    head, frames, parents, nodes, cells, events = page_data(path)
    assert head["format"] == "waymark-view" and head["version"] == 1

    def stack(node):
        names = []
        while node:
            names.append(head["strings"][frames[0][nodes[node]] - 1])
            node = parents[node]
        return ";".join(reversed(names))

    result = {metric: Counter() for metric in metrics}
    for m, (at, values) in zip(head["metrics"], cells):
        for node, value in zip(at, values):
            if m["name"] in result:
                result[m["name"]][stack(node)] += int(value)
    # Events in time and by thread add up to the same.
    numbers = {m["name"]: n for n, m in enumerate(head["metrics"])}
    for metric in metrics:
        first = head["metrics"][numbers[metric]]["group"]
        if first not in set(events[2]):
            continue
        sums = Counter()
        for slice_, thread, number, node, count, total in zip(*events):
            assert slice_ < head["slices"] and thread < len(head["threads"])
            if number == first:
                sums[stack(node)] += int(count if numbers[metric] == first else total)
        assert +sums == +result[metric], metric
    return result


def main():
    name, path, folded_path, metrics = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    wanted = {metric: folded(f"{folded_path}.{metric}") for metric in metrics}
    assert all(wanted.values()), "nothing to compare"
    if name == "callgrind":
        check_callgrind(path, wanted)
        return
    got = {"pprof": read_pprof, "dhat": read_dhat, "firefox": read_firefox, "chrome": read_chrome,
           "perf-script": read_perf, "view": read_view}[name](path, metrics)
    for metric in metrics:
        got[metric] = +got[metric]
        if got[metric] != wanted[metric]:
            sys.exit(f"{name}: {metric} differs: {got[metric] - wanted[metric]} too much, "
                     f"{wanted[metric] - got[metric]} too little")


main()
