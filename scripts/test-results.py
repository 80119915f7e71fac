#!/usr/bin/env python3
"""test-results.py FILE - prints "RESULT<tab>NAME" for every test in a testlog.json of `meson test` (python3 comes with Meson).

test-results.py --failed FILE prints the last lines of what each test that failed wrote.

test-results.py --cpu COUNT FILE... prints the CPU seconds of all tests, of each suite, and of the COUNT tests that took most; COUNT
`all`: of each. Tests say theirs if they run by `meson test --wrapper scripts/timed.sh`."""
import collections
import json
import re
import sys

CPU = re.compile(r"^CPU seconds: ([0-9.]+) \+ ([0-9.]+)$", re.MULTILINE)
LINES_OF_FAILED = 30


def tests(name):
    with open(name, encoding="utf-8") as log:
        for line in log:
            yield json.loads(line)


def cpu_seconds(test):
    """Of a test, or None where it did not say them; what else it wrote comes before."""
    found = CPU.findall(test.get("stdout", "") + test.get("stderr", ""))
    return sum(map(float, found[-1])) if found else None


def print_cpu(count, names):
    rows, unknown = [], 0
    for name in names:
        for test in tests(name):
            seconds = cpu_seconds(test)
            if seconds is None:
                unknown += 1
                continue
            suite, _, title = test["name"].partition(" / ")
            rows.append((seconds, test["duration"], suite.split(":")[-1].split("+")[0], title or suite))
    print(f"CPU seconds of {len(rows)} tests: {sum(row[0] for row in rows):.0f}" + (f"; {unknown} did not say" if unknown else ""))
    suites = collections.Counter()
    for seconds, _, suite, _ in rows:
        suites[suite] += seconds
    print("  " + ", ".join(f"{suite} {seconds:.0f}" for suite, seconds in suites.most_common()))
    for seconds, duration, _, title in sorted(rows, reverse=True)[: None if count == "all" else int(count)]:
        print(f"{seconds:8.1f} {duration:8.1f} s  {title}")


def print_failed(name):
    for test in tests(name):
        if test["result"] in ("OK", "EXPECTEDFAIL", "SKIP"):
            continue
        written = test.get("stdout", "") + test.get("stderr", "")
        print(f"-- {test['name']}: {test['result']} after {test['duration']:.1f} s", *written.splitlines()[-LINES_OF_FAILED:], sep="\n")


if sys.argv[1] == "--cpu":
    print_cpu(sys.argv[2], sys.argv[3:])
elif sys.argv[1] == "--failed":
    print_failed(sys.argv[2])
else:
    for test in tests(sys.argv[1]):
        print(test["result"], test["name"], sep="\t")
