#!/usr/bin/env python3
"""dg.py lines PREFIX FILE - for dg.sh: the lines of a slice, FILE:LINE without what PREFIX matches, sorted: of a slice in JSON, of LLVM assembly, or a
list of lines. Calls that only describe variables are no code.

dg.py table RESULTS - the tables of what dg.sh measured.
"""
import json
import os
import re
import sys

NODE = re.compile(r"^!(\d+) = (?:distinct )?!(?:DILocation|DISubprogram|DILexicalBlock|DILexicalBlockFile|DIFile)\((.*)\)$")
USE = re.compile(r", !dbg !(\d+)")


def field(text, name):
    found = re.search(r'\b%s: (?:"([^"]*)"|!?(\w+))' % name, text)
    return found and (found[1] if found[1] is not None else found[2])


def lines_of_assembly(lines):
    nodes, used = {}, set()
    for line in lines:
        if line.startswith("  ") and "@llvm.dbg." not in line:
            used.update(USE.findall(line))
        elif node := NODE.match(line):
            nodes[node[1]] = node[2]
    for number in used:
        line = field(nodes[number], "line")
        if line and line != "0":
            file = nodes[field(nodes[field(nodes[number], "scope")], "file")]
            yield field(file, "directory") or "", field(file, "filename"), line


def lines_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        if path.endswith(".ll"):
            return list(lines_of_assembly(file))
        if path.endswith(".json"):
            return [("", f["file"], line["line"]) for f in json.load(file)["files"] for line in f["lines"]]
        return [("", *line.strip().rsplit(":", 1)) for line in file]


def print_lines(prefix, path):
    names = {"%s:%s" % (re.sub(prefix, "", os.path.normpath(os.path.join(folder, file))), line) for folder, file, line in lines_of(path)}
    print("\n".join(sorted(names)))


def row(cells):
    print("| " + " | ".join(cells) + " |")


def print_table(path):
    """Lines of results: PROGRAM NUMBER CRITERION, then by name what was measured, NAME=VALUE."""
    row(["criterion", "lines with code", "dg", "CPU", "memory", "`slice`", "CPU", "memory", "`core --slice`", "dynamic slice", "not in dg's", "not in `slice`",
         "not in `core --slice`"])
    row(["---"] * 13)
    with open(path, encoding="utf-8") as file:
        for line in file:
            program, _, criterion, *rest = line.rstrip("\n").split("\t")
            value = dict(word.split("=", 1) for word in rest)
            keys = ["all", "dg", "dg-seconds", "dg-megabytes", "static", "static-seconds", "static-megabytes", "active", "dynamic", "dg-missing",
                    "static-missing", "active-missing"]
            units = {"seconds": " s", "megabytes": " MB"}
            row(["%s, %s" % (program, criterion)] +
                [value[key] + units.get(key.rsplit("-", 1)[-1], "") if key in value else "-" for key in keys])


if __name__ == "__main__":
    {"lines": print_lines, "table": print_table}[sys.argv[1]](*sys.argv[2:])
