#!/usr/bin/env python3
"""page.py PAGE.html|SLICE.sarif - checks the data of a page of a slice, or the code flows of one, and prints the lines of the slice.

Page: each line is found from the criterion over the edges; forward, but those that are in because a call may not return.
"""
import json
import re
import sys


def page(text):
    data = json.loads(re.search(r'<script type="application/json" id="slice">(.*?)</script>', text, re.S)[1])
    lines = data["lines"]
    rows = set(re.findall(r'<tr id="f\d+-L(\d+)"', text))
    assert all(str(line) in rows for _, line, _ in lines), "a line has no row"
    assert set(re.findall(r'data-file="([^"]*)"', text)) >= set(data["files"]), "a file has no section"
    needs, ways = {}, {}
    for line, on, what in data["edges"]:
        assert line != on and what, (line, on)
        needs.setdefault(line, set()).add(on)
        line, on = (on, line) if data["is_forward"] else (line, on)
        ways.setdefault(line, set()).add(on)
    assert len(data["edges"]) == sum(map(len, needs.values())), "an edge is there twice"
    found = {i for i, line in enumerate(lines) if line[2] == "<- here"}
    assert found, "no criterion"
    waiting = list(found)
    while waiting:
        new = ways.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    lost = [line for i, line in enumerate(lines) if i not in found and not line[2].startswith("runs only behind")]
    assert not lost, "lines that no edge leads to: %s" % lost
    for (line, what), (before, _) in zip(data["chain"][1:], data["chain"]):
        assert line in needs[before], "a link of the chain is no edge"
    return [line for _, line, _ in lines]


def sarif(text):
    report = json.loads(text)
    assert report["version"] == "2.1.0"
    (run,) = report["runs"]
    (result,) = run["results"]
    assert result["ruleId"] in [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    flows = []
    for flow in result["codeFlows"]:
        (thread,) = flow["threadFlows"]
        places = [step["location"] for step in thread["locations"]]
        assert all(place["message"]["text"] for place in places)
        assert all(place["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///") for place in places)
        flows.append([place["physicalLocation"]["region"]["startLine"] for place in places])
    criterion = {place["physicalLocation"]["region"]["startLine"] for place in result["locations"]}
    assert criterion <= set(flows[-1])
    assert len(flows) == 1 or (flows[0][-1] in criterion and set(flows[0]) <= set(flows[1]))
    return flows[-1]


with open(sys.argv[1], encoding="utf-8") as f:
    content = f.read()
print(*(sarif if sys.argv[1].endswith(".sarif") else page)(content))
