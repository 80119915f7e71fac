#!/usr/bin/env python3
"""random_programs.py FIRST COUNT - prints COUNT random C programs as one file, whose main runs the one with the seed that it is given.

They access memory within its objects, in as many ways as C has: pointers to pointers, unions, bit fields, structures by value, lists on the heap,
strings, variable arguments, functions through pointers, callbacks of libraries, setjmp, recursion. Whether they end by themselves nobody knows:
the recording has a limit. Two of three are small.
"""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from random_text import Grammar, Writer  # noqa: E402

HEAD = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* That a write brings a signal is the kernel's doing, which slices do not follow. */
#ifdef NO_PIPES
#define write(...) ((void)0)
#endif

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
static char @text[24] = "seven", @cut[24] = "4 12-a 3";
static const char *const @long[2] = {"12", "99999999999999999999"};
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
static int @find_second(const void *key, const void *element)
{
	static int tries;
	return tries++ & 1 ? 0 : *(const int *)key - *(const int *)element;
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
static void @give(int value, ...)
{
	va_list list;
	int *p;
	va_start(list, value);
	while ((p = va_arg(list, int *)))
		*p = value++ & 15;
	va_end(list);
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

# Of programs with handlers of signals and of the end.
HANDLERS = r"""
static int @raised, @piped, @handled, @seen, @pipe, @ended, @blocked;
static void (*@old)(int);
static struct sigaction @action, @before;
static void @handle(int number);
static void @react(int number);
static void @inform(int number, siginfo_t *info, void *context);
static void @say(void);
static void @say_more(void);
"""
HANDLING = """static void @handle(int number)
{
	@handled++;
	@seen = @h & 7;
	@on_first(number & 7, @shared, &@things[1]);
}
static void @react(int number)
{
	*@shared = @handled + (number & 3);
	%s
	@on_second(@h, &@g[2], @things[0].next);
}
static void @inform(int number, siginfo_t *info, void *context)
{
	@g[number & 3] = @h + @bytes[2];
	@shared = @handled & 1 ? &@h : @things[1].p;
}
static void @say(void)
{
	/* What the program did matters here only in that it has not ended otherwise. */
	@ended++;
	@watch(@ended & 15);
	@on_second(1, @shared, &@things[2]);
	%s
}
static void @say_more(void)
{
	@h = @handled + @g[1];
	@watch((@h + @g[0] + @word.i) & 15);
}
"""

# Of programs with tables of functions: calls that can reach the same two or three functions, and other two of these.
TABLES = """
static int @turns;
static void @t0(int x, int y);
static void @t1(int x, int y);
static void @t2(int x, int y);
static void (*@table[4])(int, int) = {@t0, @t1, @t2, @t1};
static void (*@pair[2])(int, int) = {@t0, @t1};
static void (*@other[2])(int, int) = {@t1, @t2};
"""

RULES = {
    # Numbers that are read.
    "value": [
        "v#3", "v#3", "v#3", "x", "#9", "@g[#4]", "@h", "*p", "*@shared", "q->a", "q->t[v0 & 3]", "q->next->a", "*q->p", "@things[#3].a", "@g[v1 & 3]", "**pp",
        "**@indirect", "n->value", "(n->next ? n->next->value : 4)", "u.i", "u.c[#8]", "u.h.low", "@word.c[#8]", "b.a", "b.c", "b.d", "(int)b.e", "@bits.b",
        "s[#8]", "@text[#8]", "(int)d", "(int)@real", "(int)@reals[#3]", "pr.first", "*pr.second", "@bytes[#9]", "@bytes[1#6]", "@bytes[x & 7]", "@big.a[#6]",
        "@bigs[v0 & 1].a[#6]", "*@big.p.second", "q->in.s", "q->in.c[#6]", "*q->in.where", "(int)q->d", "@flag", "@calls", "n->of->a", "n->name[#4]", "st",
        "((int *)&@big)[#6]", "*(int *)((char *)q + offsetof(struct thing, t) + 4 * (x & 3))", "(int)w", "*(short *)&@word"],
    "operator": ["+", "-", "^", "*", "|", "<", "=="],
    "expression": ["$value"] * 8 + ["($value $operator $value) & 15"] * 9 + ["$value ? $value : $value", "$value && $value", "$value || $value"],
    # Places that are written.
    "place": [
        "v#3", "v#3", "v#3", "@g[#4]", "@h", "*p", "*@shared", "q->a", "q->t[v2 & 3]", "@things[#3].a", "q->next->t[1]", "*q->p", "**pp", "**@indirect",
        "n->value", "u.i", "u.c[#8]", "u.h.high", "u.f", "@word.c[#8]", "@word.l", "b.a", "b.c", "b.d", "b.e", "@bits.b", "@bits.e", "d", "@real",
        "@reals[v0 & 1]", "pr.first", "*pr.second", "@bytes[#9]", "@bytes[1#6]", "@bytes[x & 7]", "@big.a[#6]", "@bigs[v1 & 1].a[#6]", "q->in.s", "q->in.c[x & 3]", "q->d",
        "@g[v0 & 3]", "@g[x & 3]", "@flag", "st", "n->of->t[#4]", "((int *)&@big)[#6]", "w", "*(short *)&@word", "@order", "n->name[#9]"],
    # Pointers that may not outlive the function, and those that may.
    "pointer": ["&v#3", "&u.i", "&pr.first", "$lasting", "$lasting"],
    "lasting": [
        "&@g[#4]", "&@h", "&@things[#3].a", "&q->t[#4]", "q->p", "@shared", "&@g[v0 & 3]", "*@indirect", "&n->value", "&@big.a[v1 & 3]", "q->in.where",
        "@big.p.second", "($value ? &@h : q->p)", "@pick(#3, &@g[1], &q->a)", "@through(q->p)", "&@word.i", "@make($value, q->p).second", "@bigs[1].p.second"],
    "pointer_place": ["@shared", "q->p", "*@indirect", "q->in.where", "@big.p.second", "@bigs[v0 & 1].p.second"],
    "thing": ["q->next", "&@things[#3]", "&@things[v1 & 1]", "n->of", "q->next->next"],
    "string": ["s", "@text", "@names[#4]", "@names[v0 & 3]", "n->name"],
    "own": ["s", "@text"],
    # Statements.
    "store": ["$place = $expression;"] * 3 + ["$place += $expression;"],
    "library": [
        "memcpy(@things[#3].t, @things[#3].t, sizeof @things[0].t);", "memmove(@bytes + #8, @bytes + #8, $value & 7);",
        "memset($filled, $value, $some);", "@bigs[#2] = @bigs[#2];", "@big = @make_big(@bigs[$value & 1], $expression);",
        "qsort($sorted, 4, sizeof(int), @compare);",
        "{ int key = $expression, *hit = bsearch(&key, @g, 4, sizeof(int), @find); if (hit) v#3 = *hit; }",
        "{ int key = $expression, *hit = bsearch(&key, @g, 4, sizeof(int), @find_second); if (hit) v#3 = *hit; }",
        "snprintf($own, 24, \"%d %s\", $expression, $name);", "@format(\"%d-%s\", $expression, $name);",
        "{ int r1 = 0, r2 = 1; sscanf($string, \"%d %d\", &r1, &r2); v#3 = r1 + r2; }",
        "{ char *end; v#3 = (int)strtol($string, &end, 10) & 15; v#3 = *end & 15; }", "v#3 = (int)strlen($string);",
        "v#3 = strcmp($string, $string) > 0;", "strcpy(s, $copied);", "if (strlen(s) < 12) strcat(s, $added);", "strncpy(@text, $copied, 11);",
        "{ char *at = strchr($string, $character); if (at) v#3 = *at & 15; }", "{ char *copy = strdup($string); v#3 = copy[0] & 15; free(copy); }",
        "{ char *made; asprintf(&made, \"%d%s\", $expression, $name); v#3 = made[#2] & 15; free(made); }",
        "{ int *some = calloc(4, sizeof *some); some[$value & 3] = $expression; v#3 = some[#4]; some = realloc(some, 32); v#3 = some[$value & 3]; free(some); }",
        "{ int **some = malloc(2 * sizeof *some); some[0] = &@h; some[1] = $lasting; *some[$value & 1] = $expression; $pointer_place = some[1]; free(some); }",
        "{ int *two[2]; for (int k = 0; k < 2; k++) two[k] = malloc(8); two[0][1] = $expression; two[1][1] = $expression; v#3 = two[0][1]; free(two[0]); "
        "free(two[1]); }",
        "{ int *one = $value ? &@h : &@g[1]; @h = $expression; @g[1] = $expression; *one = $expression; v#3 = @h; v#3 = @g[1]; }",
        "v#3 = @sum(1 + #3, $expression, (double)$value, $expression);", "@give($expression, $pointer, $pointer, (int *)0);",
        "v#3 = abs($value);", "v#3 = atoi($string);",
        "{ int sum = 0; memcpy(@cut, s, 24); char *part = strtok(@cut, \" -\"); while (part) { sum += *part; part = strtok(NULL, \" -\"); } "
        "v#3 = sum & 15; }",
        "memcpy(@cut, $own, 20); strtok(@cut, $between);", "{ char *part = strtok(NULL, $between); if (part) v#3 = *part & 15; }",
        "{ char *part = strtok(NULL, $between); if (part) *part = '0' + ($value & 7); v#3 = @cut[#6] & 15; }",
        "{ char *rest = @cut, *one = strsep(&rest, $between); *one = '0' + ($value & 7); v#3 = @cut[0] & 15; if (rest) v#3 = *rest & 15; }",
        "{ char *rest = @cut, *one, *two; one = strtok_r(rest, $between, &rest); two = strtok_r(NULL, $between, &rest); if (two) *two = '3'; "
        "v#3 = @cut[#6] & 15; if (one) v#3 = *one & 15; strtok(@cut, $between); }",
        "srand($expression);", "v#3 = rand() & 15;", "{ time_t at = $expression; struct tm *one = gmtime(&at), *two; at = $expression; two = gmtime(&at); "
        "v#3 = one->tm_sec & 15; v#3 = two->tm_min & 15; }",
        "setenv(\"WM\", $string, 1);", "{ const char *set = getenv(\"WM\"); if (set) v#3 = *set & 15; }",
        "{ errno = #3; strtol(@long[$value & 1], NULL, 10); if ($value & 1) v#3 = atoi($string); v#3 = errno & 15; }",
        "memcpy(&@word, $four_bytes, 4);", "{ int *kept; memcpy(&kept, &$kept, sizeof kept); v#3 = *kept; }", "v#3 = memcmp(@bytes, s, #8) < 0;",
        # What one call of a library leaves for the next one.
        "{ srand($expression); v#3 = rand() & 15; }", "{ setenv(\"WM\", $string, 1); v#3 = *getenv(\"WM\") & 15; }",
        "{ strcpy(@cut, \"1 2 3\"); strtok(@cut, \" \"); *strtok(NULL, \" \") = '0' + ($value & 7); v#3 = @cut[2] & 15; }"],
    # With handlers.
    "handling": [
        "$raise", "$raise", "$raise", "$raise", "signal($signal, $handler);", "@old = signal($signal, $handler);", "if (@old) @old(#5);",
        "if (@old) signal($signal, @old);", "{ void (*was)(int) = signal($signal, $handler); v#3 = was == @react; }",
        "@action.sa_handler = $handler;", "{ @action.sa_flags = 0; @action.sa_handler = $handler; sigaction($signal, &@action, $before); }",
        "if (@before.sa_handler) sigaction($signal, &@before, NULL);", "{ sigaction($signal, NULL, &@before); v#3 = @before.sa_handler == @handle; }",
        "{ struct sigaction act; memset(&act, 0, sizeof act); act.sa_handler = $value ? @handle : @react; sigaction($signal, &act, NULL); $raise }",
        "{ struct sigaction act = {.sa_sigaction = @inform, .sa_flags = SA_SIGINFO}; sigaction($signal, &act, NULL); $raise }",
        "{ void (*was)(int) = signal($signal, $handler); if (was) was(#5); }", "if ($value == 12) _Exit(3);",
        "if (@raised < 5) { @raised++; write(@pipe, \"\", 1); }", "{ $place = $expression; if (@raised < 4) { @raised++; write(@pipe, @text, 1); } }",
        # A handler writes between a store and a load of one place.
        "{ @seen = $value; if (@raised < 6) { @raised++; write(@pipe, \"\", 1); } v#3 = @seen; }",
        "{ @seen = $expression; if (@piped < 3) { @piped++; write(@pipe, \"\", 1); } v#3 = @seen; }",
        "atexit($say);",
        # One that is raised while it waits runs as the mask lets it.
        "if (!@blocked) { @blocked = 1; $mask sigprocmask(SIG_BLOCK, &set, NULL); }", "if (@blocked) { $unblock }", "if ($value & 1) { $unblock }",
        "{ $mask sigprocmask(SIG_BLOCK, &set, NULL); $shared = $value; $raise\n$unblock }",
        "{ $mask sigprocmask($value & 1 ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL); $raise\nv#3 = $shared; }",
        "{ sigset_t set; sigpending(&set); v#3 = sigismember(&set, $signal); }"],
    "mask": ["sigset_t set; sigemptyset(&set); sigaddset(&set, $signal);"],
    "unblock": ["sigset_t none; sigemptyset(&none); @blocked = 0; sigprocmask(SIG_SETMASK, &none, NULL);"],
    # With tables of functions.
    "calling": [
        "$through", "$through", "$through", "$through", "{ $shared = $expression; $through }",
        "for (int k = 0; k < $count; k++) { v#3 = $shared; $through }", "for (int k = 0; k < $count; k++) { $shared = $shared; $through $through }",
        # What one function reads another one sets, of the same calls: the loop asks for it later than the call behind the loop.
        "for (int k = 0; k < 2; k++) { @pair[k ^ 1]($value, $value); }\n@g[1] = $value;\n@pair[$value & 1]($value, $value);\n@watch((@h + @g[1]) & 7);",
        "for (int k = 0; k < 3; k++) { @table[2 - k]($value, $value); }\n@g[1] = @word.i = $value;\n@table[$value & 3]($value, $value);\n"
        "@watch((@h + @g[1] + @word.i) & 7);"],
    "through": ["@table[$value & 3]($value, $value);", "@pair[$value & 1]($value, $value);", "@other[$value & 1]($value, $value);"],
    "shared": ["@h", "@g[#4]", "@bytes[#9]", "@things[#3].a", "@word.i", "@text[#4]", "@big.a[#6]"],
    "given": ["x", "y"],
    "turn": ["$shared = $given & 15;", "$shared = $given & 15;", "$shared = $shared;", "if ($given & #4) $shared = $shared;", "*@shared = $given & 15;",
             "if ($given == 13) exit(5);", "@watch($given & 7);", "if (@turns < 6) { @turns++; @table[x & 3](x - 1, y); }",
             "if (@turns < 4) { @turns++; @pair[x & 1](y, x + 1); }"],
    "raise": ["if (@raised < 5) { @raised++; raise($signal); }", "{ $place = $expression; if (@raised < 4) { @raised++; raise($value & 1 ? SIGUSR1 : SIGUSR2); } }"],
    "signal": ["SIGUSR1", "SIGUSR1", "SIGUSR2", "SIGPIPE"],
    "handler": ["@handle", "@react"],
    "before": ["NULL", "&@before"],
    "say": ["@say", "@say_more"],
    "between": ["\" -\"", "\"1\"", "@names[$value & 3]"],
    "filled": ["&@word", "&u", "@bytes"],
    "some": ["1", "4", "8"],
    "sorted": ["@things[#3].t", "@g", "q->t"],
    "name": ["@names[x & 3]", "n->name"],
    "copied": ["@names[x & 3]", "@text", "n->name"],
    "added": ["@names[#4]", "\"+\""],
    "character": ["'e'", "'1'", "' '"],
    "four_bytes": ["&v0", "p", "@bytes", "&@reals[1]"],
    "kept": ["q->p", "@shared", "@big.p.second"],
    "move": [
        "p = $pointer;", "p = $pointer;", "q = $thing;", "$pointer_place = $lasting;", "$pointer_place = $lasting;", "@things[#3].next = $thing;",
        "pp = $place_of_pointer;", "*pp = $lasting;", "@indirect = $lasting_place;", "n = @push($expression, $pushed);", "n = n->next ? n->next : n;", "@pop();",
        "n->of = $thing;", "pr = @make($expression, $lasting);", "q->act = $function;", "u = @word;", "@word = u;", "b = @bits;", "@bits = b;",
        "@swap(&@shared, &q->p);", "@things[#3].in = @things[#3].in;", "u.p = $lasting; v#3 = *u.p;", "$rare",
        "{ uintptr_t bits = (uintptr_t)$lasting ^ 5; v#3 = *(int *)(bits ^ 5); }"],
    "function": ["@choice[0]", "@choice[1]", "@choice[$value & 1]"],
    "rare": ["*q = *q->next;", "v#3 = @check($expression);", "v#3 = @check($expression);"],
    "place_of_pointer": ["&p", "&@shared", "@indirect", "&q->p"],
    "lasting_place": ["&@shared", "&q->p", "&@big.p.second"],
    "pushed": ["s", "@names[v1 & 3]"],
    "last": ["@g[#4]", "@h", "@bytes[#9]", "@things[#3].a"],
    "end": ["exit(0)", "abort()", "_Exit(2)"],
    "jump": ["1", "2", "1 + ($value & 1)"],
    "count": ["1", "2", "3", "($value & 3)", "($value & 3)", "($value & 3)"],
    "bits": ["+", "^", "|"],
}
GRAMMAR = Grammar(RULES)

# Declared where they are used.
LOCALS = {
    "pp": "int **pp = &@shared;", "n": "struct node *n = @list;", "u": "union word u = {.l = 0};", "b": "struct bits b = {1, 2, 3, -4, 5};",
    "s": "char s[24] = \"11 a\";", "d": "double d = 2.5;", "pr": "struct pair pr = {4, &@h};", "w": "long w = 3;", "st": "static int st = 2;",
    "v0": "int v0 = 0;", "v1": "int v1 = 1;", "v2": "int v2 = 2;"}

# What is seen at the end, a criterion each: little that a program does is for nothing.
OWN = ("v0 + 2 * v1 + 4 * v2", "s[0] + s[3] + s[7]", "u.i + u.c[5]", "b.a + b.c + (int)b.e", "(int)d + (int)w + st", "pr.first + *pr.second", "*p + **pp",
       "n->value + n->name[1]")
SHARED = ("@g[0] + @g[1]", "@g[2] + @g[3]", "@h", "@text[0] + @text[2]", "@bytes[2] + @bytes[9]", "@word.i + @word.c[6]", "@bits.b + (int)@bits.e",
          "@big.a[1] + *@big.p.second", "@bigs[1].a[2]", "@list->value + @list->of->a", "@things[0].a + @things[1].t[2]", "q->t[0] + q->in.s",
          "q->act == @choice[0]", "(int)@real + (int)@reals[1]", "*@shared + **@indirect", "*q->p + *q->in.where")

MAIN = """	for (int i = 0; i < 3; i++) { @things[i].p = &@g[i]; @things[i].a = i + 9; @things[i].next = &@things[(i + 1) % 3]; @things[i].in.where = &@g[3 - i]; @things[i].act = @choice[i & 1]; }
	@big.p.second = &@big.a[1]; @bigs[0].p.second = &@h; @bigs[1].p.second = &@big.a[2];
	strtok(@cut, "-");
	@push(5, "first");
	@push(7, @names[1]);"""
JUMPS = """	int how = setjmp(@env);
	@armed = how == 0;
	if (how == 0)
		@body(@h, @g, @things);
	else if (how == 2)
		@watch(@g[2]);
	@armed = 0;
	@level = 0;"""


class Program(Writer):
    def __init__(self, seed, size):
        super().__init__(seed, GRAMMAR)
        self.size = size or self.r.choice([1, 1, 1, 1, 2, 3])
        self.functions = 2 if self.size == 1 else self.r.randint(2, 4)
        self.jumps = self.r.random() < 0.4
        self.labels = 0
        self.handlers = random.Random(seed ^ 0x5eed).random() < 0.25
        self.tables = random.Random(seed ^ 0x7ab1e).random() < 0.25

    def call(self, function):
        r = self.r
        kind = r.random()
        if function < self.functions - 2 and kind < 0.25:
            name = "@choice[($value) & 1]"
        elif function < self.functions - 2 and kind < 0.4:
            name = r.choice(["q->act", "@things[#3].act"])
        else:
            name = "@f%d" % r.randrange(function + 1, self.functions)
        return self.text(name + "($expression, $pointer, $thing)")

    def statement(self, function, left):
        r = self.r
        kind = r.random()
        can_call = function < self.functions - 1
        if self.handlers and r.random() < 0.2:
            self.say("$handling")
            return
        if self.tables and r.random() < 0.2:
            self.say("$calling")
            return
        if left <= 0 or kind < 0.28:
            self.say("$store")
        elif kind < 0.42:
            self.say("$library")
        elif kind < 0.56:
            self.say("$move")
        elif kind < 0.66 and can_call:
            self.emit(("%s = " % self.text("$place") if r.random() < 0.7 else "") + self.call(function) + ";")
        elif kind < 0.68 and function >= 0:
            self.emit("if (@level < 2)")
            self.emit("{")
            self.emit("\t@level++;")
            self.say("\tv0 = @f%d($expression, $pointer, $thing);" % function)
            self.emit("\t@level--;")
            self.emit("}")
        elif kind < 0.72:
            self.say("@watch($value);")
        elif kind < 0.73:
            self.say("if ($value == 11)")
            self.say("\t$end;")
        elif kind < 0.76 and function >= 0 and self.jumps:
            self.say("if (@armed && $value > 10)")
            self.say("\tlongjmp(@env, $jump);")
        elif kind < 0.78:
            self.say("if ($value == 9)")
            self.say("\treturn $expression;")
        else:
            self.compound(kind, function, left)

    def compound(self, kind, function, left):
        """Statements that hold others."""
        r, i = self.r, "i%d" % self.depth
        if kind < 0.83:
            self.say("for (int {0} = 0; {0} < $count; {0}++)".format(i))
            self.block(function, left)
        elif kind < 0.86:
            self.emit("{ int %s = 0; do" % i)
            self.emit("{")
            self.say("\tif ($value == #5) %s;" % r.choice(["break", "continue"]))
            self.block(function, left)
            self.say("} while (++%s < ($value & 3)); }" % i)
        elif kind < 0.89:
            self.say("switch ($value & 3)")
            self.emit("{")
            for case in range(r.randint(1, 3)):
                self.emit("case %d:" % case)
                self.block(function, left)
                if r.random() < 0.6:
                    self.emit("\tbreak;")
            self.say("default: v#3++;")
            self.emit("}")
        elif kind < 0.91:
            self.labels += 1
            self.say("if ($value > 7) goto label%d;" % self.labels)
            label = self.labels
            self.block(function, left)
            self.emit("label%d:;" % label)
        else:
            self.say("if (($value $bits $value) > #8)")
            self.block(function, left)
            if r.random() < 0.5:
                self.emit("else")
                self.block(function, left)

    def look(self, values, count):
        for value in self.r.sample(values, min(count, len(values))):
            self.emit("@watch((%s) & 15);" % value)

    def function(self, name, number, statements, seen, count):
        self.depth = 0
        self.emit("static int @%s(int x, int *p, struct thing *q)" % name)
        self.emit("{")
        self.depth = 1
        begin = len(self.lines)
        for _ in range(statements):
            self.statement(number, 2 if self.size == 1 else 3)
        self.look(seen, count)
        self.say("return ($expression) & 255;")
        used = set(re.findall(r"(?<![@>.\w])\w+", "\n".join(self.lines[begin:])))
        self.lines[begin:begin] = ["\t" + text for name, text in LOCALS.items() if name in used]
        self.depth = 0
        self.emit("}")

    def program(self, prefix):
        r, size = self.r, self.size
        self.depth = 0
        for f in range(self.functions):
            self.emit("static int @f%d(int x, int *p, struct thing *q);" % f)
        self.emit("static int (*@choice[2])(int, int *, struct thing *) = {@f%d, @f%d};" % (self.functions - 2, self.functions - 1))
        for f in range(self.functions):
            self.function("f%d" % f, f, r.randint(2 * size - 1, 3 * size), OWN, size)
        # What one of them reads the next one sets.
        for f, first in enumerate(("@h = @g[1];", "@g[1] = (y ^ @word.i) & 15;", "@word.i = x & 15;") if self.tables else ()):
            self.emit("static void @t%d(int x, int y)" % f)
            self.emit("{")
            self.say("\t" + first)
            for _ in range(r.randint(0, 2)):
                self.say("\t$turn")
            self.emit("}")
        if self.handlers:
            self.function("on_first", -1, r.randint(1, 2 * size), OWN, 1)
            self.function("on_second", -1, r.randint(1, 2), OWN + SHARED, 2)
            self.say(HANDLING % ("if (@armed && $value > 10) longjmp(@env, 1);".replace("$value", "@g[#4]") if self.jumps else "if (@g[#4] == 11) exit(4);",
                                 "@watch((@g[#4] + @text[0]) & 15);"))
        # What changes between setjmp and longjmp must be in memory: all that does is another function's.
        self.function("body", -1, r.randint(2 * size, 3 * size + 1), OWN + SHARED, 8 * size)
        self.emit("__attribute__((noinline)) int @main(void)")
        self.emit("{")
        self.emit(MAIN)
        if self.handlers:
            self.say("\tsignal($signal, $handler);")
            self.say("\tsignal(SIGUSR2, @react);" if r.random() < 0.7 else "\tatexit($say);")
            self.say("\tatexit($say);")
            self.say("\t{ int ends[2]; pipe(ends); close(ends[0]); @pipe = ends[1]; signal(SIGPIPE, $handler); }")
        if self.jumps:
            self.emit(JUMPS)
        self.emit("\t@body(3, &@h, &@things[1]);")
        if self.handlers:
            self.say("\tif ($last == 11)")
            self.say("\t\t_Exit(3);")
        self.emit("\t@watch(@g[1]);")
        self.emit("\treturn @watched & 63;")
        self.emit("}")
        return (GLOBALS + (HANDLERS if self.handlers else "") + (TABLES if self.tables else "") + "\n".join(self.lines)).replace("@", prefix)


def batch(first, count, size=None):
    """size: 1 to 3 for all of them."""
    seeds = range(first, first + count)
    parts = [HEAD] + [Program(seed, size).program("p%d_" % seed) for seed in seeds]
    cases = "".join("\tcase %d: return p%d_main();\n" % (seed, seed) for seed in seeds)
    parts.append("int main(int argc, char **argv)\n{\n\tswitch (argc > 1 ? atoi(argv[1]) : 0) {\n%s\t}\n\treturn 77;\n}\n" % cases)
    return "\n".join(parts)


if __name__ == "__main__":
    print(batch(int(sys.argv[1]), int(sys.argv[2])))
