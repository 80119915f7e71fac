"""rounds.py - runs tests of the agent and of attach again and again while the processors are busy, until one fails.

    rounds.py BUILD ROUNDS [--loops=N] [--keep=DIR] [--verbose] [NAME...]

Without names: the tests of the suite agent, and those of sampler that attach. Two busy loops a processor run beside them (--loops=0: none).
The tests run from copies of BUILD and of the sources, which may change meanwhile. The first failure ends it: what the test said is in DIR/failure.txt,
and the command tells how many rounds have passed before. One test at a time; a test that is skipped counts as passed.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


def tests_of(build, names):
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True, stdout=subprocess.PIPE).stdout)
    for test in tests:
        test["name"] = test["name"].rpartition(" / ")[2]
    if names:
        unknown = set(names) - {test["name"] for test in tests}
        if unknown:
            sys.exit("rounds.py: no such test: %s" % " ".join(sorted(unknown)))
        return [test for test in tests if test["name"] in names]
    return [test for test in tests
            if "agent" in " ".join(test["suite"]) or test["name"].startswith("sampler-attach")]


def copies_of(build, place):
    """Where the tests' paths lead instead: without objects."""
    source = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
    places = {build: os.path.join(place, "build"), source: os.path.join(place, "source")}
    left_out = {".git", "meson-logs"}
    for folder, copy in places.items():
        shutil.copytree(folder, copy, symlinks=True,
                        ignore=lambda at, names, folder=folder: [
                            name for name in names if name in left_out or name.endswith((".o", ".d")) or
                            (folder == source and os.path.exists(os.path.join(at, name, "build.ninja")))])
    return places


def moved(text, places):
    """The build's folder may be in that of the sources."""
    for folder in sorted(places, key=len, reverse=True):
        text = text.replace(folder, places[folder])
    return text


def run(test, build, places, log):
    """The exit status; None: it took too long."""
    command = [moved(argument, places) for argument in test["cmd"]]
    environment = dict(os.environ, **{key: moved(value, places) for key, value in test["env"].items()})
    with open(log, "wb") as out:
        process = subprocess.Popen(command, cwd=moved(test.get("workdir") or build, places), env=environment, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(timeout=4 * test["timeout"])
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def rounds(options, tests, build, place):
    places = copies_of(build, place)
    log = os.path.join(options.keep, "log.txt")
    skipped = set()
    for number in range(1, options.rounds + 1):
        begun = time.monotonic()
        for test in tests:
            since = time.monotonic()
            status = run(test, build, places, log)
            if options.verbose:
                print("round %d, %s: status %s, %d seconds" % (number, test["name"], status, time.monotonic() - since),
                      flush=True)
            if status == SKIPPED:
                skipped.add(test["name"])
            elif status != 0:
                os.replace(log, os.path.join(options.keep, "failure.txt"))
                return "round %d, %s: %s; %d rounds passed before. See %s/failure.txt" % (
                    number, test["name"], "takes too long" if status is None else "status %d" % status, number - 1,
                    options.keep)
        print("round %d of %d passed: %d tests, %d seconds%s" % (
            number, options.rounds, len(tests), time.monotonic() - begun,
            ", skipped: " + " ".join(sorted(skipped)) if skipped else ""), flush=True)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("rounds", type=int)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--loops", type=int, default=2 * len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", default=".")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_intermixed_args()
    build = os.path.realpath(options.build)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit("ended by a signal"))
    tests = tests_of(build, options.names)
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.loops)]
    try:
        with tempfile.TemporaryDirectory(prefix="waymark-rounds.") as place:
            failure = rounds(options, tests, build, place)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    sys.exit(failure)


if __name__ == "__main__":
    main()
