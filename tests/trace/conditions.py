"""conditions.py - conditions of random nesting, and whether what `waymark core` says of each test on a line is what happened.

    conditions.py generate SEED >PROGRAM.c
    conditions.py check PROGRAM.c LOG CORE.json written|optimized

Each test calls a function of its own, which notes its number and value: that log is the oracle. `written`: every test of the log must
be in the paths, in order, with its text and the right truth, except those that a macro may have turned round and those whose value
nothing branches on (marked in the source). `optimized`: only calls by themselves may be said to be true or false, with the right truth,
and the tests that are named must be in the log in that order.
"""
import json
import random
import re
import sys

HEAD = """#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#define SAME(x) (x)
#define NOT(x) (!(x))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define ZERO(x) ((x) == 0)
static int numbers[9999], values[9999], count;
static unsigned state = %d;
static struct { int v[4]; } box = {{0, 1, 2, 3}};
static volatile int sink;
static __attribute__((noinline)) int note(int number)
{
	state = state * 1103515245u + 12345u;
	numbers[count] = number;
	return values[count++] = (int)(state >> 16 & 3);
}
static void tell(void)
{
	for (int i = 0; i < count; i++)
		printf("%%d %%d\\n", numbers[i], values[i]);
	fflush(stdout);
}
"""


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.tests = 0
        self.lines = []

    def call(self):
        self.tests += 1
        return "t%d()" % self.tests

    def leaf(self):
        forms = ["%s", "%s", "!%s", "%s == 1", "%s != 0", "%s < 2", "%s >= 1", "0 == %s", "(%s & 1)", "(x = %s) > 1", "!!%s",
                 "box.v[%s]", "!(%s > 1)", "(%s)", "%s + 1 > 2", "/* && */ %s", "%s %% 2 == 1", "(char)%s", "!(%s & 2)"]
        return self.random.choice(forms) % self.call()

    def macro(self, depth):
        name = self.random.choice(["SAME", "LIKELY", "NOT", "ZERO"])
        return "%s(%s)" % (name, self.leaf() if self.random.random() < 0.6 else self.condition(depth - 1))

    def condition(self, depth):
        kind = self.random.random()
        if depth == 0 or kind < 0.25:
            return self.leaf()
        if kind < 0.42:
            return self.macro(depth)
        if kind < 0.54:
            return "!(%s)" % self.condition(depth - 1)
        parts = [self.condition(depth - 1) for _ in range(self.random.choice([2, 2, 3]))]
        return "(%s)" % (" && " if kind < 0.77 else " || ").join(parts)

    def statement(self):
        kind = self.random.randrange(7)
        text = self.condition(2)
        if kind < 3:
            return "\tif (%s) sink = 1;" % text
        if kind == 3:
            return "\tx = %s ? (sink = 5) : 6;" % text
        if kind == 4:
            return "\tfor (int i = 0; i < 2 && (%s); i++) if (i) sink = i;" % text
        if kind == 5:
            return "\tdo if (sink) x = 1; while (%s);" % text
        return "\twhile (%s) if (sink) x = 2;" % text

    def program(self):
        body = [self.statement() for _ in range(30)]
        body.append("\tassert(%s || !(%s) || 1);" % (self.call(), self.call()))
        print(HEAD % self.seed, end="")
        for i in range(1, self.tests + 1):
            print("static __attribute__((noinline)) int t%d(void) { return note(%d); }" % (i, i))
        print("__attribute__((noinline)) void f(void)\n{\n\tint x = 0;")
        print("\n".join(body))
        print("\ttell();\n\t*(volatile int *)8 = x;\n}\nint main(void)\n{\n\tf();\n\treturn 0;\n}")


def value_of(text, value):
    """What a test's text is worth in C when its call returned value."""
    text = re.sub(r"t\d+\(\)", str(value), text)
    text = re.sub(r"/\*.*?\*/|\(char\)|x = ", "", text)
    text = re.sub(r"box\.v\[(\d+)\]", r"\1", text)
    text = re.sub(r"!(?!=)", " not ", text)
    return bool(eval(text, {}))  # numbers and operators only


def squeeze(text):
    return re.sub(r"/\*.*?\*/| ", "", text)


def outcomes(core, source, is_written):
    frame = next(f for f in core["threads"][0]["frames"] if f["name"] == "f")
    assert frame["trace"] == "whole", frame["trace"]
    for path in frame["paths"]:
        if path.get("rounds"):
            assert not is_written, "a loop with one way round"
            continue
        for step in path["steps"]:
            for outcome in re.split(r", (?![^(]*\) )", step.get("outcome", "")):
                text, colon, what = outcome.rpartition(": ")
                tests = re.findall(r"t(\d+)\(\)", source[step["line"] - 1])
                if outcome:
                    yield step["line"], text if colon else None, what, tests


def check(name, log_name, core_name, kind):
    source = open(name).read().split("\n")
    log = [tuple(map(int, line.split())) for line in open(log_name)]
    core = json.load(open(core_name))
    at = told = 0
    for line, text, what, tests in outcomes(core, source, kind == "written"):
        place = "line %d, %s: %s" % (line, text, what)
        if kind == "optimized":
            assert what not in ("true", "false") or re.fullmatch(r"[!(]*t\d+\(\)\)*", squeeze(text or "t0()")), place
        if text is None and len(tests) != 1:
            continue  # of no test that is noted: its loop's variable, or a test that has no name
        number = int(tests[0]) if text is None else None
        if text is not None:
            found = re.findall(r"t(\d+)\(\)", text)
            if len(found) != 1:
                assert not found or what not in ("true", "false"), place
                continue
            number = int(found[0])
            assert squeeze(text) in squeeze(source[line - 1]), place
        start = at
        while at < len(log) and log[at][0] != number:
            at += 1
        assert at < len(log), "%s: not after test %d" % (place, start)
        if what in ("true", "false"):
            told += 1
            if text is not None:
                assert value_of(text, log[at][1]) == (what == "true"), "%s, but t%d() was %d" % (place, *log[at])
        if kind == "written" and text is not None:
            # What lies between must be of macros, or of lines with a single test that is told without its text.
            for skipped, _ in log[start:at]:
                lines = [l for l in source if re.search(r"\bt%d\(\)" % skipped, l) and "return note" not in l]
                assert re.search(r"NOT|ZERO|SAME|LIKELY|assert", lines[0]), "t%d() is not told before %s" % (skipped, place)
        at += 1
    share = told / len(log)
    print("%d tests ran, %d of them told as true or false" % (len(log), told))
    assert share > (0.7 if kind == "written" else 0.05), "too few"


if __name__ == "__main__":
    if sys.argv[1] == "generate":
        Generator(int(sys.argv[2])).program()
    else:
        check(*sys.argv[2:6])
