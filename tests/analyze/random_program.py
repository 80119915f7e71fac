#!/usr/bin/env python3
"""random_program.py SEED [stops] - prints a random C program, a statement a line, for tests of slices (random.sh, active.sh).

Whatever a statement computes goes through V() or P(), which the build with -DMUTATE makes something else on lines that it is told to. watch() logs
its value. The program ends after a bounded number of steps, whatever is mutated.

With `stops` it ends in calls of last(), the innermost of which stops with a value. Branches go through C(), and choices of functions through I():
the build with -DMUTATE writes down which ways they went, and goes no others if it is told them. In each call of last() that does not return,
these are its own ways.
"""
import sys

from random_text import Grammar, Writer

HEAD = r"""
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thing { int a; int *p; struct thing *next; int t[4]; };
#ifdef MUTATE
static char mutated[4096];
static unsigned state = 7;
static int noise(void) { state = state * 1103515245u + 12345u; return (int)(state >> 16 & 15); }
static int spare[8];
static struct thing spare_thing = {0, spare, &spare_thing, {0}};
#define V(e) (mutated[__LINE__] ? noise() : (e))
static unsigned char seen[8][4096];
static int is_told;
static int way(int chain, int line, int taken)
{
	if (!is_told)
		seen[chain][line] |= 1 << taken;
	return seen[chain][line] >> taken & 1 ? taken : !taken;
}
#define C(e) way(0, __LINE__, !!(e))
#define L(e) way(stops ? n + 1 : 0, __LINE__, !!(e))
#define I(e) way(0, __LINE__, e)
#define J(e) way(stops ? n + 1 : 0, __LINE__, e)
#define P(e) (mutated[__LINE__] ? &spare[noise() & 3] : (e))
#define Q(e) (mutated[__LINE__] ? &spare_thing : (e))
#else
#define V(e) (e)
#define P(e) (e)
#define Q(e) (e)
#define C(e) (e)
#define L(e) (e)
#define I(e) (e)
#define J(e) (e)
#endif
static int level, armed;
static jmp_buf env;
static int g[4] = {3, 8, 5, 12}, h = 6;
static struct thing things[3];
static int *shared = &h;
static int order = 1;
static int compare(const void *a, const void *b)
{
	int first = V(*(const int *)a);
	int second = V(*(const int *)b);
	return order ? first - second : second - first;
}
static void watch(int where, int value) { printf("%d %d\n", where, value); }
"""


STOP = r"""
#ifdef MUTATE
static void tell_ways(void)
{
	FILE *in = fopen("ways", "rb");
	const char *noise = getenv("NOISE");
	if (noise)
		state = (unsigned)atoi(noise);
	is_told = in && fread(seen, sizeof seen, 1, in) == 1;
}
static void stop(int value)
{
	FILE *out = is_told ? 0 : fopen("ways", "wb");
	if (out && (fwrite(seen, sizeof seen, 1, out) != 1 || fclose(out)))
		exit(3);
	printf("stops with %d\n", value);
	exit(0);
}
#else
unsigned sleep(unsigned);
#define stop(value) (puts("stops"), fflush(stdout), sleep(100 + (value)))
#endif
"""


# condition: no constant, which a compiler folds, so that the other way would have no code.
VALUES = ["v#3", "v#3", "x", "g[#4]", "h", "*p", "*shared", "q->a", "q->t[v0 & 3]", "q->next->a", "*q->p", "things[#3].a", "g[v1 & 3]"]
GRAMMAR = Grammar({
    "value": VALUES + ["#9"],
    "condition": VALUES + ["x"],
    "expression": ["$value"] * 5 + ["($value %s $value) & 15" % operator for operator in "+-^*|"],
    "place": ["v#3", "v#3", "g[#4]", "h", "*p", "*shared", "q->a", "q->t[v2 & 3]", "things[#3].a", "q->next->t[1]", "*q->p"],
    "pointer": ["&g[#3]", "&h", "&v#3", "&q->t[#3]", "q->p", "shared", "&things[#3].a", "&g[v0 & 3]"],
    "lasting": ["&g[#3]", "&h", "&things[#3].a", "&q->t[#3]", "q->p"],
    "thing": ["q->next", "&things[#3]", "&things[v1 & 1]"],
    "arguments": ["V($expression), P($pointer), Q($thing)"],
    "kept": ["shared", "q->p"],
    "bits": ["+", "^", "|"],
})


class Program(Writer):
    def __init__(self, seed, stops=False):
        super().__init__(seed, GRAMMAR)
        self.lines += HEAD.strip("\n").split("\n")
        self.functions = self.r.randint(2, 4)
        self.watched = 0
        self.jumps = self.r.random() < 0.6
        self.stops = stops

    def call(self, function):
        """A call of a function behind this one; through a pointer of one of the last two. A template."""
        r = self.r
        if function < self.functions - 2 and r.random() < 0.3:
            name = "choice[%s(V($value) & 1)]" % ("J" if self.is_last(function) else "I")
        else:
            name = "f%d" % r.randrange(max(function, -1) + 1, self.functions)
        return name + "($arguments)"

    def is_last(self, function):
        return function == -2

    def statement(self, function, left):
        r = self.r
        branch = "L" if self.is_last(function) else "C"
        kind = r.random()
        if left <= 0 or kind < 0.4 or (0.62 <= kind < 0.72 and function == self.functions - 1):
            self.say("$place = V($expression);")
        elif kind < 0.47:
            self.say("p = P($pointer);")
        elif kind < 0.51:
            self.say("q = Q($thing);")
        elif kind < 0.54:
            self.say("$kept = P($lasting);")
        elif kind < 0.56:
            self.say("things[#3].next = Q($thing);")
        elif kind < 0.58:
            self.say("memcpy(things[#3].t, things[#3].t, sizeof things[0].t);")
        elif kind < 0.60:
            self.say("qsort(%s, 4, sizeof(int), compare);" % r.choice(["things[#3].t", "g"]))
        elif kind < 0.62:
            self.say("order = V($value) & 1;")
        elif kind < 0.68:
            self.say("$place = %s;" % self.call(function))
        elif kind < 0.72:
            self.say(self.call(function) + ";")
        elif kind < 0.73 and function >= 0:
            self.emit("if (level < 2)")
            self.emit("{")
            self.emit("\tlevel++;")
            self.say("\tv0 = f%d($arguments);" % function)
            self.emit("\tlevel--;")
            self.emit("}")
        elif kind < 0.77:
            self.watched += 1
            self.say("watch(%d, $value);" % self.watched)
        elif kind < 0.79:
            self.say("if (%s(V($condition) == 11))" % branch)
            self.emit("\texit(0);")
        elif kind < 0.82 and function >= 0 and self.jumps:
            self.say("if (armed && %s(V($condition) > 10))" % branch)
            self.emit("\tlongjmp(env, 1);")
        elif kind < 0.83:
            self.say("if (%s(V($condition) == 9))" % branch)
            self.say("\treturn V($expression);")
        elif kind < 0.88:
            i = "i%d" % self.depth
            self.emit("for (int %s = 0; %s < %d; %s++)" % (i, i, r.randint(1, 3), i))
            self.block(function, left)
        else:
            self.say("if (%s(V(($condition $bits $value) & 15) > #8))" % branch)
            self.block(function, left)
            if r.random() < 0.5:
                self.emit("else")
                self.block(function, left)

    def make_last(self):
        """Calls itself n times, and stops; or returns, if it is called otherwise."""
        r = self.r
        self.depth = 0
        self.emit("static int last(int n, int stops, int x, int *p, struct thing *q)")
        self.emit("{")
        self.depth = 1
        self.emit("int v0 = 0, v1 = 1, v2 = 2;")
        for _ in range(r.randint(3, 6)):
            self.statement(-2, 3)
        self.emit("if (n)")
        self.say("\tv0 = last(n - 1, stops, $arguments);")
        self.emit("else if (stops)")
        self.say("\tstop(16 * $place + $place);")
        for _ in range(r.randint(1, 3)):
            self.statement(-2, 2)
        self.say("return V($expression);")
        self.depth = 0
        self.emit("}")

    def make(self):
        self.depth = 0
        for f in range(self.functions):
            self.emit("static int f%d(int x, int *p, struct thing *q);" % f)
        self.emit("static int (*choice[2])(int, int *, struct thing *) = {f%d, f%d};" % (self.functions - 2, self.functions - 1))
        for f in range(self.functions):
            self.depth = 0
            self.emit("static int f%d(int x, int *p, struct thing *q)" % f)
            self.emit("{")
            self.depth = 1
            self.emit("int v0 = 0, v1 = 1, v2 = 2;")
            for _ in range(self.r.randint(4, 9)):
                self.statement(f, 3)
            self.say("return V($expression);")
            self.depth = 0
            self.emit("}")
        if self.stops:
            self.lines += STOP.strip("\n").split("\n")
            self.make_last()
        self.emit("int main(int argc, char **argv)")
        self.emit("{")
        self.depth = 1
        # What changes between setjmp and longjmp must be in memory.
        volatile = "volatile " if self.jumps else ""
        self.emit(volatile + "int x = 3, v0 = 0, v1 = 1, v2 = 2;")
        self.emit("int *%sp = g;" % volatile)
        self.emit("struct thing *%sq = things;" % volatile)
        self.emit("for (int i = 0; i < 3; i++) { things[i].p = &g[i]; things[i].a = i + 9; things[i].next = &things[(i + 1) % 3]; }")
        self.lines += ["#ifdef MUTATE"] + (["\ttell_ways();"] if self.stops else []) + [
            "\tfor (int i = 1; i < argc; i++) mutated[atoi(argv[i])] = 1;", "#endif"]
        for _ in range(self.r.randint(4, 8)):
            self.statement(-1, 3)
        if self.stops and self.r.random() < 0.7:
            self.say("v1 = last(#3, 0, $arguments);")
        if self.jumps:
            self.emit("armed = 1;")
            self.emit("if (setjmp(env) == 0)")
            self.block(-1, 3)
            self.emit("else")
            self.block(-1, 3)
            self.emit("armed = 0;")
            self.emit("level = 0;")
        for _ in range(self.r.randint(4, 8)):
            self.statement(-1, 3)
        self.watched += 1
        self.say("watch(%d, $value);" % self.watched)
        if self.stops:
            self.say("last(#4, 1, $arguments);")
        self.emit("return 0;")
        self.depth = 0
        self.emit("}")
        return "\n".join(self.lines)


print(Program(int(sys.argv[1]), len(sys.argv) > 2).make())
