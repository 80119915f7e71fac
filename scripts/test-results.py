#!/usr/bin/env python3
"""Prints "RESULT<tab>NAME" for every test in a testlog.json of `meson test` (python3 comes with Meson)."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as log:
    for line in log:
        test = json.loads(line)
        print(test["result"], test["name"], sep="\t")
