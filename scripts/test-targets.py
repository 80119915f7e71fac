#!/usr/bin/env python3
"""test-targets.py BUILD SUITE... - prints the targets of a build folder for ninja, but for those that tests of these suites alone need:
what other tests need, what is installed, libFuzzer's targets, and what scripts/check.sh puts beside the unsanitized pass. `all` of Meson
has the needs of every test in it, whether it is to be run or not."""
import json
import os
import sys

build, *left_out = sys.argv[1:]
MORE = {"dump", "waymark-cc", "waymark-c++"}


def read(name):
    with open(os.path.join(build, "meson-info", f"intro-{name}.json"), encoding="utf-8") as file:
        return json.load(file)


wanted = set()
for test in read("tests"):
    suites = {suite.rpartition(":")[2] for suite in test["suite"]}
    if suites.isdisjoint(left_out):
        wanted.update(test["depends"])
root = os.path.abspath(build)
for target in read("targets"):
    if target["id"] in wanted or target["installed"] or target["name"] in MORE or target["name"].startswith("fuzz_"):
        print("\n".join(os.path.relpath(name, root) for name in target["filename"]))
