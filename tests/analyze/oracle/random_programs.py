#!/usr/bin/env python3
"""random_programs.py FIRST COUNT - prints COUNT random C programs as one file, whose main runs the one with the seed that it is given.

They access memory within its objects, in as many ways as C has: pointers to pointers, unions, bit fields, structures by value, lists on the heap,
strings, variable arguments, functions through pointers, callbacks of libraries, setjmp, recursion. Whether they end by themselves nobody knows:
the recording has a limit.
"""
import random
import sys

HEAD = r"""
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inner { short s; unsigned char c[6]; int *where; };
struct thing { int a; int *p; struct thing *next; int t[4]; struct inner in; double d; int (*act)(int, int *, struct thing *); };
struct node { struct node *next, **back; int value; char name[12]; struct thing *of; };
union word { int i; unsigned char c[8]; long l; float f; int *p; struct { short low, high; } h; };
struct bits { unsigned a : 3, b : 5, c : 9; int d : 4; long e : 33; };
struct pair { int first; int *second; };
struct big { int a[6]; struct pair p; };
"""

GLOBALS = r"""
static int @level, @armed, @order = 1, @calls;
static jmp_buf @env;
static int @g[4] = {3, 8, 5, 12}, @h = 6;
static double @real = 1.5;
static float @reals[3] = {1, 2, 3};
static char @text[24] = "seven";
static unsigned char @bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static struct thing @things[3];
static struct node *@list, *@spare;
static union word @word;
static struct bits @bits = {1, 2, 3, 4, 5};
static struct big @big, @bigs[2];
static int *@shared = &@h, **@indirect = &@shared;
static const char *const @names[4] = {"one", "three", "11", "-2 x"};
static _Bool @flag;
static int @compare(const void *a, const void *b)
{
	int first = *(const int *)a;
	int second = *(const int *)b;
	@calls++;
	return @order ? first - second : second - first;
}
static int @find(const void *key, const void *element)
{
	return *(const int *)key - *(const int *)element;
}
static int @sum(int count, ...)
{
	va_list list;
	int sum = 0;
	va_start(list, count);
	for (int i = 0; i < count; i++)
	{
		if (i & 1)
			sum += (int)va_arg(list, double) & 15;
		else
			sum += va_arg(list, int);
	}
	va_end(list);
	return sum & 15;
}
static void @put(const char *format, va_list list)
{
	vsnprintf(@text, sizeof @text, format, list);
}
static void @format(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	@put(format, list);
	va_end(list);
}
static int *@pick(int count, ...)
{
	va_list list, again;
	int *p = &@h;
	va_start(list, count);
	va_copy(again, list);
	for (int i = 0; i < count; i++)
		p = va_arg(again, int *);
	va_end(again);
	va_end(list);
	return p;
}
static struct node *@push(int value, const char *name)
{
	struct node *n = @spare;
	if (n)
		@spare = n->next;
	else
		n = malloc(sizeof *n);
	memset(n, 0, sizeof *n);
	n->value = value;
	strncpy(n->name, name, sizeof n->name - 1);
	n->of = &@things[value & 1];
	n->next = @list;
	n->back = &@list;
	if (@list)
		@list->back = &n->next;
	@list = n;
	return n;
}
static void @pop(void)
{
	struct node *n = @list;
	if (!n->next)
		return;
	*n->back = n->next;
	n->next->back = n->back;
	n->next = @spare;
	@spare = n;
}
static struct pair @make(int value, int *where)
{
	struct pair p = {value, where};
	return p;
}
static struct big @make_big(struct big b, int value)
{
	b.a[value & 3] = value;
	return b;
}
static int @check(int value)
{
	if (value == 13)
		exit(3);
	return value & 7;
}
static int *@through(int *p) { return p; }
static void @swap(int **a, int **b)
{
	int *c = *a;
	*a = *b;
	*b = c;
}
static int @watched;
static void @watch(int value) { @watched += value; }
"""


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.functions = self.r.randint(2, 4)
        self.depth = 1
        self.jumps = self.r.random() < 0.4
        self.labels = 0

    def emit(self, text):
        self.lines.append("\t" * self.depth + text)

    def pick(self, *choices):
        return self.r.choice(choices)

    # Numbers that are read.
    def value(self):
        r, n = self.r, self.r.randrange
        return self.pick(
            "v%d" % n(3), "v%d" % n(3), "v%d" % n(3), "x", str(n(9)), "@g[%d]" % n(4), "@h", "*p", "*@shared", "q->a", "q->t[v0 & 3]",
            "q->next->a", "*q->p", "@things[%d].a" % n(3), "@g[v1 & 3]", "**pp", "**@indirect", "n->value", "(n->next ? n->next->value : 4)",
            "u.i", "u.c[%d]" % n(8), "u.h.low", "@word.c[%d]" % n(8), "b.a", "b.c", "b.d", "(int)b.e", "@bits.b", "s[%d]" % n(8),
            "@text[%d]" % n(8), "(int)d", "(int)@real", "(int)@reals[%d]" % n(3), "pr.first", "*pr.second", "@bytes[%d]" % n(16),
            "@bytes[x & 7]", "@big.a[%d]" % n(6), "@bigs[v0 & 1].a[%d]" % n(6), "*@big.p.second", "q->in.s", "q->in.c[%d]" % n(6),
            "*q->in.where", "(int)q->d", "@flag", "@calls", "n->of->a", "n->name[%d]" % n(4), "st",
            "((int *)&@big)[%d]" % n(6), "*(int *)((char *)q + offsetof(struct thing, t) + 4 * (x & 3))", "(int)w", "*(short *)&@word")

    def expression(self):
        r = self.r
        kind = r.random()
        if kind < 0.4:
            return self.value()
        if kind < 0.85:
            return "(%s %s %s) & 15" % (self.value(), self.pick("+", "-", "^", "*", "|", "<", "=="), self.value())
        if kind < 0.9:
            return "%s ? %s : %s" % (self.value(), self.value(), self.value())
        return self.pick("%s && %s", "%s || %s") % (self.value(), self.value())

    # Places that are written.
    def place(self):
        n = self.r.randrange
        return self.pick(
            "v%d" % n(3), "v%d" % n(3), "v%d" % n(3), "@g[%d]" % n(4), "@h", "*p", "*@shared", "q->a", "q->t[v2 & 3]", "@things[%d].a" % n(3),
            "q->next->t[1]", "*q->p", "**pp", "**@indirect", "n->value", "u.i", "u.c[%d]" % n(8), "u.h.high", "u.f", "@word.c[%d]" % n(8),
            "@word.l", "b.a", "b.c", "b.d", "b.e", "@bits.b", "@bits.e", "d", "@real", "@reals[v0 & 1]", "pr.first", "*pr.second",
            "@bytes[%d]" % n(16), "@bytes[x & 7]", "@big.a[%d]" % n(6), "@bigs[v1 & 1].a[%d]" % n(6), "q->in.s", "q->in.c[x & 3]",
            "q->d", "@flag", "st", "n->of->t[%d]" % n(4), "((int *)&@big)[%d]" % n(6), "w", "*(short *)&@word", "@order", "n->name[%d]" % n(11))

    # Pointers that may not outlive the function, and those that may.
    def pointer(self):
        return self.pick("&v%d" % self.r.randrange(3), "&u.i", "&pr.first", self.lasting(), self.lasting())

    def lasting(self):
        n = self.r.randrange
        return self.pick(
            "&@g[%d]" % n(4), "&@h", "&@things[%d].a" % n(3), "&q->t[%d]" % n(4), "q->p", "@shared", "&@g[v0 & 3]", "*@indirect", "&n->value",
            "&@big.a[v1 & 3]", "q->in.where", "@big.p.second", "(%s ? &@h : q->p)" % self.value(), "@pick(%d, &@g[1], &q->a)" % n(3),
            "@through(q->p)", "&@word.i", "@make(%s, q->p).second" % self.value(), "@bigs[1].p.second")

    def pointer_place(self):
        return self.pick("@shared", "q->p", "*@indirect", "q->in.where", "@big.p.second", "@bigs[v0 & 1].p.second")

    def thing(self):
        n = self.r.randrange
        return self.pick("q->next", "&@things[%d]" % n(3), "&@things[v1 & 1]", "n->of", "q->next->next")

    def call(self, function):
        r = self.r
        kind = r.random()
        if function < self.functions - 2 and kind < 0.25:
            name = "@choice[(%s) & 1]" % self.value()
        elif function < self.functions - 2 and kind < 0.4:
            name = self.pick("q->act", "@things[%d].act" % r.randrange(3))
        else:
            name = "@f%d" % r.randrange(function + 1, self.functions)
        return "%s(%s, %s, %s)" % (name, self.expression(), self.pointer(), self.thing())

    def block(self, function, left):
        self.emit("{")
        self.depth += 1
        for _ in range(self.r.randint(1, 3)):
            self.statement(function, left - 1)
        self.depth -= 1
        self.emit("}")

    def library(self):
        """Statements that are calls of the C library."""
        n, v, e = self.r.randrange, self.value, self.expression
        string = self.pick("s", "@text", "n->name", "@names[v0 & 3]")
        other = self.pick("s", "@text", "@names[%d]" % n(4), "@names[x & 3]")
        own = self.pick("s", "@text")
        return self.pick(
            "memcpy(@things[%d].t, @things[%d].t, sizeof @things[0].t);" % (n(3), n(3)),
            "memmove(@bytes + %d, @bytes + %d, %s & 7);" % (n(8), n(8), v()),
            "memset(%s, %s, %d);" % (self.pick("&@word", "&u", "@bytes"), v(), self.pick(1, 4, 8)),
            "@bigs[%d] = @bigs[%d];" % (n(2), n(2)),
            "@big = @make_big(@bigs[%s & 1], %s);" % (v(), e()),
            "qsort(%s, 4, sizeof(int), @compare);" % self.pick("@things[%d].t" % n(3), "@g", "q->t"),
            "{ int key = %s, *hit = bsearch(&key, @g, 4, sizeof(int), @find); if (hit) v%d = *hit; }" % (e(), n(3)),
            "snprintf(%s, 24, \"%%d %%s\", %s, %s);" % (own, e(), self.pick("@names[x & 3]", "n->name")),
            "@format(\"%%d-%%s\", %s, %s);" % (e(), self.pick("@names[v1 & 3]", "n->name")),
            "{ int r1 = 0, r2 = 1; sscanf(%s, \"%%d %%d\", &r1, &r2); v%d = r1 + r2; }" % (string, n(3)),
            "{ char *end; v%d = (int)strtol(%s, &end, 10) & 15; v%d = *end & 15; }" % (n(3), string, n(3)),
            "v%d = (int)strlen(%s);" % (n(3), string),
            "v%d = strcmp(%s, %s) > 0;" % (n(3), string, other),
            "strcpy(%s, %s);" % (self.pick("s"), self.pick("@names[x & 3]", "@text", "n->name")),
            "if (strlen(s) < 12) strcat(s, %s);" % self.pick("@names[%d]" % n(4), "\"+\""),
            "strncpy(@text, %s, 11);" % self.pick("s", "@names[x & 3]", "n->name"),
            "{ char *at = strchr(%s, %s); if (at) v%d = *at & 15; }" % (string, self.pick("'e'", "'1'", "' '"), n(3)),
            "{ char *copy = strdup(%s); v%d = copy[0] & 15; free(copy); }" % (string, n(3)),
            "{ int *some = calloc(4, sizeof *some); some[%s & 3] = %s; v%d = some[%d]; some = realloc(some, 32); v%d = some[%s & 3]; free(some); }"
            % (v(), e(), n(3), n(4), n(3), v()),
            "{ int **some = malloc(2 * sizeof *some); some[0] = &@h; some[1] = %s; *some[%s & 1] = %s; %s = some[1]; free(some); }"
            % (self.lasting(), v(), e(), self.pointer_place()),
            "{ int *two[2]; for (int k = 0; k < 2; k++) two[k] = malloc(8); two[0][1] = %s; two[1][1] = %s; v%d = two[0][1]; free(two[0]); free(two[1]); }"
            % (e(), e(), n(3)),
            "{ int *one = %s ? &@h : &@g[1]; @h = %s; @g[1] = %s; *one = %s; v%d = @h; v%d = @g[1]; }" % (v(), e(), e(), e(), n(3), n(3)),
            "v%d = @sum(%d, %s, (double)%s, %s);" % (n(3), self.pick(1, 2, 3), e(), v(), e()),
            "v%d = abs(%s);" % (n(3), v()),
            "v%d = atoi(%s);" % (n(3), string),
            "{ char cut[24]; memcpy(cut, s, 24); char *part = strtok(cut, \" -\"); while (part) { v%d += *part; part = strtok(NULL, \" -\"); } v%d &= 15; }"
            % ((n(3),) * 2),
            "memcpy(&@word, %s, 4);" % self.pick("&v0", "p", "@bytes", "&@reals[1]"),
            "{ int *kept; memcpy(&kept, &%s, sizeof kept); v%d = *kept; }" % (self.pick("q->p", "@shared", "@big.p.second"), n(3)),
            "v%d = memcmp(@bytes, s, %d) < 0;" % (n(3), n(8)))

    def statement(self, function, left):
        r, n = self.r, self.r.randrange
        kind = r.random()
        can_call = function < self.functions - 1
        if left <= 0 or kind < 0.28:
            self.emit("%s %s %s;" % (self.place(), self.pick("=", "=", "=", "+="), self.expression()))
        elif kind < 0.42:
            self.emit(self.library())
        elif kind < 0.56:
            self.emit(self.pick(
                "p = %s;" % self.pointer(), "p = %s;" % self.pointer(), "q = %s;" % self.thing(), "%s = %s;" % (self.pointer_place(), self.lasting()),
                "%s = %s;" % (self.pointer_place(), self.lasting()), "@things[%d].next = %s;" % (n(3), self.thing()), "pp = %s;" % self.pick("&p", "&@shared", "@indirect", "&q->p"),
                "*pp = %s;" % self.lasting(), "@indirect = %s;" % self.pick("&@shared", "&q->p", "&@big.p.second"),
                "n = @push(%s, %s);" % (self.expression(), self.pick("s", "@names[v1 & 3]")), "n = n->next ? n->next : n;", "@pop();",
                "n->of = %s;" % self.thing(), "pr = @make(%s, %s);" % (self.expression(), self.lasting()),
                "q->act = %s;" % self.pick("@f%d" % (self.functions - 1), "@f%d" % (self.functions - 2), "@choice[%s & 1]" % self.value()),
                "u = @word;", "@word = u;", "b = @bits;", "@bits = b;", "@swap(&@shared, &q->p);",
                "@things[%d].in = @things[%d].in;" % (n(3), n(3)), "u.p = %s; v%d = *u.p;" % (self.lasting(), n(3)),
                "*q = *q->next;" if r.random() < 0.3 else "v%d = @check(%s);" % (n(3), self.expression()),
                "{ uintptr_t bits = (uintptr_t)%s; bits ^= 5; bits ^= 5; v%d = *(int *)bits; }" % (self.lasting(), n(3))))
        elif kind < 0.66 and can_call:
            self.emit("%s = %s;" % (self.place(), self.call(function)) if r.random() < 0.7 else "%s;" % self.call(function))
        elif kind < 0.68 and function >= 0:
            self.emit("if (@level < 2)")
            self.emit("{")
            self.emit("\t@level++;")
            self.emit("\tv0 = @f%d(%s, %s, %s);" % (function, self.expression(), self.pointer(), self.thing()))
            self.emit("\t@level--;")
            self.emit("}")
        elif kind < 0.72:
            self.emit("@watch(%s);" % self.value())
        elif kind < 0.73:
            self.emit("if (%s == 11)" % self.value())
            self.emit("\t%s;" % self.pick("exit(0)", "abort()", "_Exit(2)"))
        elif kind < 0.76 and function >= 0 and self.jumps:
            self.emit("if (@armed && %s > 10)" % self.value())
            self.emit("\tlongjmp(@env, %s);" % self.pick("1", "2", "1 + (%s & 1)" % self.value()))
        elif kind < 0.78:
            self.emit("if (%s == 9)" % self.value())
            self.emit("\treturn %s;" % self.expression())
        elif kind < 0.83:
            i = "i%d" % self.depth
            self.emit("for (int %s = 0; %s < %s; %s++)" % (i, i, self.pick(str(r.randint(1, 3)), "(%s & 3)" % self.value()), i))
            self.block(function, left)
        elif kind < 0.86:
            i = "i%d" % self.depth
            self.emit("{ int %s = 0; do" % i)
            self.emit("{")
            self.emit("\tif (%s == %d) %s;" % (self.value(), n(5), self.pick("break", "continue")))
            self.block(function, left)
            self.emit("} while (++%s < (%s & 3)); }" % (i, self.value()))
        elif kind < 0.89:
            self.emit("switch (%s & 3)" % self.value())
            self.emit("{")
            for case in range(r.randint(1, 3)):
                self.emit("case %d:" % case)
                self.block(function, left)
                if r.random() < 0.6:
                    self.emit("\tbreak;")
            self.emit("default: v%d++;" % n(3))
            self.emit("}")
        elif kind < 0.91:
            self.labels += 1
            self.emit("if (%s > 7) goto label%d;" % (self.value(), self.labels))
            label = self.labels
            self.block(function, left)
            self.emit("label%d:;" % label)
        else:
            self.emit("if ((%s %s %s) > %d)" % (self.value(), r.choice("+^|"), self.value(), n(8)))
            self.block(function, left)
            if r.random() < 0.5:
                self.emit("else")
                self.block(function, left)

    LOCALS = ("int **pp = &@shared;", "struct node *n = @list;", "union word u = {.l = 0};", "struct bits b = {1, 2, 3, -4, 5};",
              "char s[24] = \"11 a\";", "double d = 2.5;", "struct pair pr = {4, &@h};", "long w = 3;", "static int st = 2;",
              "int v0 = 0, v1 = 1, v2 = 2;")

    def locals(self):
        for text in self.LOCALS:
            self.emit(text)

    # What is seen at the end, a criterion each: little that a program does is for nothing.
    OWN = ("v0 + 2 * v1 + 4 * v2", "s[0] + s[3] + s[7]", "u.i + u.c[5]", "b.a + b.c + (int)b.e", "(int)d + (int)w + st", "pr.first + *pr.second", "*p + **pp",
           "n->value + n->name[1]")
    SHARED = ("@g[0] + @g[1]", "@g[2] + @g[3]", "@h", "@text[0] + @text[2]", "@bytes[2] + @bytes[9]", "@word.i + @word.c[6]", "@bits.b + (int)@bits.e",
              "@big.a[1] + *@big.p.second", "@bigs[1].a[2]", "@list->value + @list->of->a", "@things[0].a + @things[1].t[2]", "q->t[0] + q->in.s",
              "q->act == @choice[0]", "(int)@real + (int)@reals[1]", "*@shared + **@indirect", "*q->p + *q->in.where")

    def look(self, values):
        for value in values:
            self.emit("@watch((%s) & 15);" % value)

    def make(self, prefix):
        self.depth = 0
        for f in range(self.functions):
            self.emit("static int @f%d(int x, int *p, struct thing *q);" % f)
        self.emit("static int (*@choice[2])(int, int *, struct thing *) = {@f%d, @f%d};" % (self.functions - 2, self.functions - 1))
        for f in range(self.functions):
            self.depth = 0
            self.emit("static int @f%d(int x, int *p, struct thing *q)" % f)
            self.emit("{")
            self.depth = 1
            self.locals()
            for _ in range(self.r.randint(4, 9)):
                self.statement(f, 3)
            self.look(self.r.sample(self.OWN, 3))
            self.emit("return (%s) & 255;" % self.expression())
            self.depth = 0
            self.emit("}")
        # What changes between setjmp and longjmp must be in memory: all that does is another function's.
        self.emit("static int @body(int x, int *p, struct thing *q)")
        self.emit("{")
        self.depth = 1
        self.locals()
        for _ in range(self.r.randint(5, 10)):
            self.statement(-1, 3)
        self.look(self.OWN + self.SHARED)
        self.emit("return (%s) & 255;" % self.expression())
        self.depth = 0
        self.emit("}")
        self.emit("static int @main(void)")
        self.emit("{")
        self.depth = 1
        self.emit("for (int i = 0; i < 3; i++) { @things[i].p = &@g[i]; @things[i].a = i + 9; @things[i].next = &@things[(i + 1) % 3];"
                  " @things[i].in.where = &@g[3 - i]; @things[i].act = @choice[i & 1]; }")
        self.emit("@big.p.second = &@big.a[1]; @bigs[0].p.second = &@h; @bigs[1].p.second = &@big.a[2];")
        self.emit("@push(5, \"first\");")
        self.emit("@push(7, @names[1]);")
        if self.jumps:
            self.emit("int how = setjmp(@env);")
            self.emit("@armed = how == 0;")
            self.emit("if (how == 0)")
            self.emit("\t@body(@h, @g, @things);")
            self.emit("else if (how == 2)")
            self.emit("\t@watch(@g[2]);")
            self.emit("@armed = 0;")
            self.emit("@level = 0;")
        self.emit("@body(3, &@h, &@things[1]);")
        self.emit("@watch(@g[1]);")
        self.emit("return @watched & 63;")
        self.depth = 0
        self.emit("}")
        return (GLOBALS + "\n".join(self.lines)).replace("@", prefix)


def batch(first, count):
    seeds = range(first, first + count)
    parts = [HEAD] + [Program(seed).make("p%d_" % seed) for seed in seeds]
    cases = "".join("\tcase %d: return p%d_main();\n" % (seed, seed) for seed in seeds)
    parts.append("int main(int argc, char **argv)\n{\n\tswitch (argc > 1 ? atoi(argv[1]) : 0) {\n%s\t}\n\treturn 77;\n}\n" % cases)
    return "\n".join(parts)


if __name__ == "__main__":
    print(batch(int(sys.argv[1]), int(sys.argv[2])))
