#!/usr/bin/env python3
"""names.py BUILD TESTS - the tests of a build folder have names of one style and the suite of their folder in TESTS.

A name is words of lower-case letters and digits with hyphens between them; the first is the folder's, and no two tests have the same.
A test has one suite of a folder, beside those that say what a sanitizer build does with it. Prints each test that differs."""
import collections
import json
import os
import re
import sys

BUILDS = {"nosan", "twice", "tsan-safe"}


def wrong(test, folders):
    """What is wrong with it, in words; None if nothing is."""
    suites = {suite.partition(":")[2] for suite in test["suite"]} - BUILDS
    if len(suites) != 1 or not suites <= folders:
        return "suites are not one folder of tests: " + (" ".join(sorted(suites)) or "none")
    folder = suites.pop()
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", test["name"]):
        return "not lower-case words with hyphens"
    if test["name"] != folder and not test["name"].startswith(folder + "-"):
        return f"in suite {folder}, but not named by it"
    return None


def main(build, tests):
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
        all_tests = json.load(file)
    folders = {entry.name for entry in os.scandir(tests) if entry.is_dir()}
    findings = [f"{test['name']}: {what}" for test in all_tests if (what := wrong(test, folders))]
    names = collections.Counter(test["name"] for test in all_tests)
    findings += [f"{name}: {count} tests" for name, count in names.items() if count > 1]
    if not all_tests:
        findings.append("no tests")
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


sys.exit(main(*sys.argv[1:]))
