/*
 * generate.c - writes a random program that checks its own contexts.
 *
 *	generate SEED DIRECTORY
 *
 * Writes DIRECTORY/{common.h,part0.c,part1.c} (or .cpp) and prints shell assignments that say how to build them: lang (c or
 * cpp), shared (1: part1 is an instrumented shared library, 0: part of the program), opt (-O level and more).
 *
 * A program is up to a few dozen functions f0, f1, ... Each rolls dice at run time about which of its statements run;
 * calls, captures, threads and depth are bounded by counters, so every program ends. The shadow stack (shadow.h) is the
 * oracle; what each statement may do is in statement_kinds below.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum kind {
	K_INT,      /* int f(int) */
	K_BIG,      /* int f(int, struct big): arguments on the stack */
	K_VARIADIC, /* int f(int, ...) */
	K_RETURN,   /* struct big f(int): a hidden argument */
	K_METHOD,   /* C++: a virtual method */
	K_COUNT,
};

struct function {
	enum kind kind;
	int part;       /* which file */
	bool is_static; /* callable from its own part only */
	bool tail;      /* ends in a tail call to a later function */
	bool forward;   /* always_inline: calls later functions only */
};

enum {
	FUNCTIONS_MAX = 48,
	TAILS_MAX = 5
};

struct program {
	uint64_t state;
	int count;
	int compares; /* comparison functions c0.. in each part */
	bool cpp, shared, timer;
	struct function f[FUNCTIONS_MAX];
	FILE *out;
};

static unsigned roll(struct program *p, unsigned sides)
{
	p->state += 0x9e3779b97f4a7c15u;
	uint64_t z = p->state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) >> 32) % sides;
}

__attribute__((format(printf, 2, 3))) static void put(struct program *p, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(p->out, format, args);
	va_end(args);
}

/* A function that `from` may call; with any kind or K_INT only (whose address is taken). */
static int pick(struct program *p, int from, bool only_int)
{
	const struct function *f = &p->f[from];
	for (int tries = 0; tries < 200; tries++) {
		int first = f->forward || f->tail ? from + 1 : 0;
		if (first >= p->count)
			break;
		int to = first + (int)roll(p, (unsigned)(p->count - first));
		const struct function *g = &p->f[to];
		if (g->is_static && g->part != f->part)
			continue;
		if (only_int && g->kind != K_INT)
			continue;
		return to;
	}
	return -1;
}

/* A call of function `to` as an expression of type int. */
static void put_call(struct program *p, int to, const char *argument)
{
	switch (p->f[to].kind) {
	case K_INT:
		put(p, "f%d(%s)", to, argument);
		break;
	case K_BIG:
		put(p, "f%d(%s, some_big)", to, argument);
		break;
	case K_VARIADIC:
		put(p, "f%d(%s, 1.5, 7L, some_big)", to, argument);
		break;
	case K_RETURN:
		put(p, "(int)f%d(%s).w[1]", to, argument);
		break;
	default:
		put(p, "methods[%d]->run(%s)", to, argument);
		break;
	}
}

static void put_direct(struct program *p, int self)
{
	int to = pick(p, self, false);
	if (to < 0)
		return;
	put(p, "\tif (roll(%u) && may_call()) {\n\t\tsum += ", 2 + roll(p, 3));
	put_call(p, to, "n + 1");
	put(p, ";\n\t\tRESTORE();\n\t}\n");
}

static void put_loop(struct program *p, int self)
{
	int to = pick(p, self, false);
	if (to < 0)
		return;
	put(p, "\tfor (int i = 0; i < %u && may_call(); i++) {\n\t\tsum += ", 2 + roll(p, 2));
	put_call(p, to, "i");
	put(p, ";\n\t\tRESTORE();\n\t}\n");
}

static void put_indirect(struct program *p, int self)
{
	(void)self;
	if (roll(p, 3))
		put(p,
		    "\tif (may_call()) {\n\t\tsum += table[roll((unsigned)COUNT(table))](n);\n\t\tRESTORE();\n\t}\n");
	else
		put(p,
		    "\tif (may_call()) {\n\t\tsum += ((int (*)(int, long))(void (*)(void))table[roll((unsigned)COUNT("
		    "table))])(n, 5);\n\t\tRESTORE();\n\t}\n");
}

static void put_pointer(struct program *p, int self)
{
	int to = pick(p, self, true);
	if (to < 0)
		return;
	put(p,
	    "\tif (may_call()) {\n\t\tint (*volatile pointer)(int) = f%d;\n\t\tsum += pointer(n);\n\t\tRESTORE();\n\t}\n",
	    to);
}

static void put_sort(struct program *p, int self)
{
	put(p,
	    "\tif (may_call()) {\n\t\tint values[] = {3, 1, 2, 5, 4};\n"
	    "\t\tFOREIGN_VOID(\"%s\", %s(values, %u, sizeof *values, c%d_%u));\n\t\tRESTORE();\n\t}\n",
	    "qsort", "qsort", 2 + roll(p, 4), p->f[self].part, roll(p, (unsigned)p->compares));
}

static void put_search(struct program *p, int self)
{
	put(p,
	    "\tif (may_call()) {\n\t\tint values[] = {1, 2, 3, 4, 5}, wanted = 4;\n"
	    "\t\tvoid *found = FRAME(BSEARCH, bsearch(&wanted, values, 5, sizeof *values, c%d_%u));\n"
	    "\t\tRESTORE();\n\t\tsum += found != NULL;\n\t}\n",
	    p->f[self].part, roll(p, (unsigned)p->compares));
}

static void put_foreign(struct program *p, int self)
{
	static const char *const names[] = {"foreign_apply", "foreign_twice", "foreign_tail", "foreign_nested"};
	const char *name = names[roll(p, 4)];
	int to = pick(p, self, true);
	if (to < 0)
		return;
	/* What a tail call leaves on the shadow stack a foreign caller cannot take off before its second call. */
	if (p->f[to].tail)
		name = names[0];
	put(p, "\tif (may_call()) {\n\t\tsum += FOREIGN(\"%s\", %s(f%d, n));\n\t\tRESTORE();\n\t}\n", name, name, to);
}

static void put_catch(struct program *p, int self)
{
	int to = pick(p, self, false);
	if (to < 0)
		return;
	if (p->cpp) {
		put(p, "\tif (may_call()) {\n\t\tint before = dice.catching++;\n\t\ttry {\n\t\t\tsum += ");
		put_call(p, to, "n");
		put(p, ";\n\t\t} catch (int) {\n\t\t\tRESTORE();\n\t\t\tMAYBE_CHECK();\n");
		if (roll(p, 2))
			put(p, "\t\t\tsum += leaf%d(n);\n", p->f[self].part);
		if (roll(p, 3) == 0)
			put(p,
			    "\t\t\tif (before > 0 && roll(2)) {\n\t\t\t\tdice.catching = before;\n\t\t\t\tthrow;\n\t\t\t}\n");
		put(p, "\t\t}\n\t\tdice.catching = before;\n\t\tRESTORE();\n\t}\n");
		return;
	}
	put(p, "\tif (may_call()) {\n\t\tstruct catcher catcher;\n\t\tcatcher.below = dice.catchers;\n"
	       "\t\tdice.catchers = &catcher;\n\t\tif (!setjmp(catcher.env)) {\n\t\t\tsink += ");
	put_call(p, to, "n");
	put(p,
	    ";\n\t\t\tRESTORE();\n\t\t} else {\n\t\t\tRESTORE();\n\t\t\tMAYBE_CHECK();\n\t\t\tsink += leaf%d(n);\n\t\t}\n",
	    p->f[self].part);
	put(p, "\t\tdice.catchers = catcher.below;\n\t}\n");
}

static void put_throw(struct program *p, int self)
{
	(void)self;
	if (p->cpp)
		put(p, "\tif (dice.catching > 0 && roll(3) == 0)\n\t\tthrow n;\n");
	else
		put(p, "\tif (dice.catchers && roll(3) == 0)\n\t\tlongjmp(dice.catchers->env, 1);\n");
}

static void put_signal(struct program *p, int self)
{
	(void)self;
	put(p, "\tif (dice.signals < 2 && may_call())\n\t\traise(%s);\n", roll(p, 2) ? "SIGUSR1" : "SIGUSR2");
}

static void put_thread(struct program *p, int self)
{
	put(p,
	    "\tif (may_call() && __atomic_fetch_sub(&threads_left, 1, __ATOMIC_SEQ_CST) > 0) {\n\t\tpthread_t thread;\n"
	    "\t\tEXPECT(CREATE(pthread_create(&thread, NULL, t%d, (void *)(intptr_t)(n + 1))) == 0);\n"
	    "\t\tEXPECT(pthread_join(thread, NULL) == 0);\n\t}\n",
	    p->f[self].part);
}

static void put_check(struct program *p, int self)
{
	(void)self;
	put(p, "\tMAYBE_CHECK();\n");
}

static void put_leaf(struct program *p, int self)
{
	put(p, "\tsum += leaf%d(n) + leaf%d(n + %u);\n", p->f[self].part, p->f[self].part, roll(p, 4));
}

static void put_alloca(struct program *p, int self)
{
	(void)self;
	put(p,
	    "\t{\n\t\tvolatile char *bytes = (volatile char *)alloca((size_t)(n & 31) + 1);\n\t\tbytes[0] = (char)n;\n"
	    "\t\tsum += bytes[0];\n\t}\n");
}

/* Often, from two places: deeper than a history has room for. */
static void put_self(struct program *p, int self)
{
	if (p->f[self].forward || p->f[self].tail)
		return;
	put(p, "\tif (roll(%u) && may_call()) {\n\t\tif (roll(%u))\n\t\t\tsum += ", 2 + roll(p, 20), 2 + roll(p, 3));
	put_call(p, self, "n + 1");
	put(p, ";\n\t\telse\n\t\t\tsum -= ");
	put_call(p, self, "n + 2");
	put(p, ";\n\t\tRESTORE();\n\t}\n");
}

typedef void statement(struct program *p, int self);
static const struct {
	statement *put;
	unsigned weight;
} statement_kinds[] = {
	{put_direct, 10}, {put_loop, 3},    {put_indirect, 3}, {put_pointer, 2}, {put_sort, 2},
	{put_search, 1},  {put_foreign, 3}, {put_catch, 3},    {put_throw, 2},   {put_signal, 1},
	{put_thread, 1},  {put_check, 6},   {put_leaf, 3},     {put_alloca, 1},  {put_self, 3},
};

static void put_statement(struct program *p, int self)
{
	unsigned total = 0, kinds = sizeof statement_kinds / sizeof *statement_kinds;
	for (unsigned i = 0; i < kinds; i++)
		total += statement_kinds[i].weight;
	unsigned at = roll(p, total);
	for (unsigned i = 0; i < kinds; i++) {
		if (at < statement_kinds[i].weight) {
			statement_kinds[i].put(p, self);
			return;
		}
		at -= statement_kinds[i].weight;
	}
}

static void put_head(struct program *p, int i, bool definition)
{
	const struct function *f = &p->f[i];
	static const char *const parameters[] = {"int n", "int n, struct big b", "int n, ...", "int n"};
	if (f->kind == K_METHOD) {
		put(p, definition ? "int o%d::run(int n)" : "struct o%d : object {\n\tint run(int n) override;\n};\n",
		    i);
		return;
	}
	put(p, "%s%s%s f%d(%s)", p->cpp && !f->is_static ? "extern \"C\" " : "", f->is_static ? "static " : "",
	    f->kind == K_RETURN ? "struct big" : "int", i, parameters[f->kind]);
}

/* The body of function i. */
static void put_function(struct program *p, int i)
{
	const struct function *f = &p->f[i];
	bool guard = p->cpp && !f->tail && roll(p, 4) == 0;

	if (f->forward)
		put(p, "static inline __attribute__((always_inline)) int f%d(int n)", i);
	else {
		if (roll(p, 2))
			put(p, "__attribute__((noinline)) ");
		put_head(p, i, true);
	}
	put(p, "\n{\n\tENTER_AS(\"");
	if (f->kind == K_METHOD)
		put(p, "o%d::run(int)\");\n", i);
	else if (p->cpp && f->is_static)
		put(p, "f%d(%s)\");\n", i, f->kind == K_BIG ? "int, big" : f->kind == K_VARIADIC ? "int, ..." : "int");
	else
		put(p, "f%d\");\n", i);
	if (guard)
		put(p, "\tguard local(n);\n");
	put(p, "\tint sum = n;\n");
	for (unsigned n = 1 + roll(p, 5); n--;)
		put_statement(p, i);
	if (f->kind == K_BIG)
		put(p, "\tsum += (int)b.w[4];\n");
	if (f->kind == K_VARIADIC)
		put(p, "\tva_list args;\n\tva_start(args, n);\n\tsum += (int)va_arg(args, double);\n\tva_end(args);\n");
	int to = f->tail ? pick(p, i, f->kind == K_INT) : -1;
	if (to >= 0) {
		put(p, "\tsink += sum;\n\treturn ");
		put_call(p, to, "n - 1");
		put(p, ";\n}\n\n");
		return;
	}
	if (f->kind == K_RETURN)
		put(p, "\tstruct big result = {{sum, sum}};\n\tLEAVE();\n\treturn result;\n}\n\n");
	else
		put(p, "\tLEAVE();\n\treturn sum;\n}\n\n");
}

/* Fixed functions of each part: leaf, comparisons, the thread's start, a table of int (int) functions. */
static void put_fixed(struct program *p, int part)
{
	put(p, "static const struct big some_big = {{1, 2, 3, 4, 5}};\nstatic volatile int sink;\n\n");
	put(p,
	    "%s__attribute__((noinline)) int leaf%d(int n)\n{\n\tENTER();\n\tMAYBE_CHECK();\n\tLEAVE();\n\treturn n;\n}\n\n",
	    p->cpp ? "extern \"C\" " : "", part);
	put(p, "static int (*const table[])(int) = {leaf%d", part);
	for (int i = 0; i < p->count; i++)
		if (p->f[i].kind == K_INT && (p->f[i].part == part || !p->f[i].is_static) && !p->f[i].forward &&
		    roll(p, 2))
			put(p, ", f%d", i);
	put(p, "};\n\n");
	for (int c = 0; c < p->compares; c++) {
		put(p,
		    "%s__attribute__((unused)) int c%d_%d(const void *a, const void *b)\n{\n\tENTER();\n\tint n = *(const int *)a;\n",
		    p->cpp ? "extern \"C\" " : "", part, c);
		put(p, "\tMAYBE_CHECK();\n");
		if (roll(p, 2))
			put(p,
			    "\tif (roll(2) && may_call()) {\n\t\tsink += table[roll((unsigned)COUNT(table))](n);\n\t\tRESTORE();\n"
			    "\t}\n");
		put(p, "\tLEAVE();\n\treturn n - *(const int *)b;\n}\n\n");
	}
	put(p,
	    "%svoid *t%d(void *arg)\n{\n\tTHREAD_ROOT();\n\tENTER();\n\tint n = (int)(intptr_t)arg;\n"
	    "\tdice.state = (uint64_t)n * 77777;\n\tdice.calls = 60;\n\tdice.checks = 60;\n\tleaf%d(n);\n"
	    "\tfor (int i = 0; i < 2; i++) {\n\t\tsink += table[roll((unsigned)COUNT(table))](i);\n\t\tRESTORE();\n\t}\n"
	    "\tMAYBE_CHECK();\n\tLEAVE();\n\treturn arg;\n}\n\n",
	    p->cpp ? "extern \"C\" " : "", part, part);
}

static void put_main(struct program *p)
{
	const char *c = p->cpp ? "extern \"C\" " : "static ";
	put(p,
	    "%svoid handler(int signo)\n{\n\tSIGNAL_ENTER();\n\tstruct catcher *catchers = dice.catchers;\n"
	    "\tint catching = dice.catching;\n\tdice.signals++;\n\t%s\n\tdice.catching = 0;\n\tMAYBE_CHECK();\n"
	    "\tif (may_call())\n\t\tsink += table[roll((unsigned)COUNT(table))](signo);\n"
	    "\tdice.catchers = catchers;\n\tdice.catching = catching;\n\tdice.signals--;\n\tLEAVE();\n}\n\n",
	    c, p->cpp ? "" : "if (roll(2))\n\t\tdice.catchers = NULL;");
	put(p,
	    "%svoid at_end(void)\n{\n\tENTER();\n\tdice.catchers = NULL;\n\tdice.catching = 0;\n\tdice.signals = 0;\n"
	    "\tdice.calls = 40;\n\tdice.checks = 40;\n\tsink += table[COUNT(table) - 1](3);\n\tRESTORE();\n\tLEAVE();\n}\n\n",
	    c);
	if (p->timer) /* calls nothing that an interrupted malloc or the like would mind */
		put(p,
		    "%svoid tick(int signo)\n{\n\tstatic volatile int ticks;\n\tif (ticks > 200)\n\t\treturn;\n\tticks++;\n"
		    "\tSIGNAL_ENTER();\n\tCHECK();\n\tsink += leaf0(signo) + table[0](signo);\n\tCHECK();\n\tLEAVE();\n}\n\n",
		    c);
	put(p,
	    "int main(void)\n{\n\tENTER();\n\tstruct sigaction action;\n\tmemset(&action, 0, sizeof action);\n"
	    "\taction.sa_handler = handler;\n\taction.sa_flags = SA_NODEFER;\n\tsigaction(SIGUSR1, &action, NULL);\n"
	    "\tsignal(SIGUSR2, handler);\n%s\tatexit(at_end);\n\tthreads_left = 12;\n\tdice.checks = 1500;\n"
	    "\tfor (int i = 0; i < 40; i++) {\n\t\tdice.state = (uint64_t)i * 99991;\n\t\tdice.calls = 60;\n"
	    "\t\tdice.signals = 0;\n\t\tsigset_t set;\n\t\tsigemptyset(&set);\n"
	    "\t\tsigaddset(&set, SIGUSR2);\n\t\tsigprocmask(SIG_UNBLOCK, &set, NULL);\n\t\tswitch (i %% %d) {\n",
	    p->timer ? "\tstruct itimerval every = {{0, 150}, {0, 150}};\n\taction.sa_handler = tick;\n"
		       "\taction.sa_flags = SA_RESTART;\n\tsigaction(SIGALRM, &action, NULL);\n"
		       "\tsetitimer(ITIMER_REAL, &every, NULL);\n"
		     : "",
	    p->count);
	for (int i = 0; i < p->count; i++) {
		if (p->f[i].is_static && p->f[i].part != 0)
			continue;
		put(p, "\t\tcase %d:\n\t\t\tsink += ", i);
		put_call(p, i, "i");
		put(p, ";\n\t\t\tbreak;\n");
	}
	put(p, "\t\t}\n\t\tRESTORE();\n\t\tMAYBE_CHECK();\n\t}\n\tLEAVE();\n\treturn 0;\n}\n");
}

static void put_common(struct program *p)
{
	put(p, "#include \"random.h\"\n\n");
	if (p->cpp) {
		put(p, "struct object {\n\tvirtual ~object() = default;\n\tvirtual int run(int n) = 0;\n};\n"
		       "extern \"C\" __attribute__((visibility(\"default\"))) object *methods[];\n");
		put(p,
		    "struct guard {\n\tint n;\n\tunsigned depth, base;\n\texplicit guard(int value) : n(value), depth(shadow.depth), "
		    "base(shadow.base) {}\n\t__attribute__((noinline)) ~guard()\n\t{\n\t\tshadow.depth = depth;\n"
		    "\t\tshadow.base = base;\n\t\tENTER_AS(\"guard::~guard()\");\n\t\tMAYBE_CHECK();\n\t\tshadow.depth = depth - 1;\n\t}\n};\n");
	}
	for (int i = 0; i < p->count; i++)
		if (!p->f[i].is_static && p->f[i].kind != K_METHOD) {
			put_head(p, i, false);
			put(p, ";\n");
		}
	for (int part = 0; part < 2; part++)
		put(p, "%sint leaf%d(int n);\n", p->cpp ? "extern \"C\" " : "", part);
}

/* Methods live in part 0, and the table by which both parts reach them. */
static void put_part(struct program *p, int part)
{
	put(p, "#include \"common.h\"\n\n");
	for (int i = 0; i < p->count; i++) {
		if (p->f[i].part != part || (!p->f[i].is_static && p->f[i].kind != K_METHOD))
			continue;
		put_head(p, i, false);
		if (p->f[i].kind != K_METHOD)
			put(p, " __attribute__((unused));\n");
	}
	put_fixed(p, part);
	for (int i = p->count - 1; i >= 0; i--)
		if (p->f[i].part == part)
			put_function(p, i);
	if (part != 0)
		return;
	if (p->cpp) {
		put(p, "extern \"C\" object *methods[] = {");
		for (int i = 0; i < p->count; i++)
			if (p->f[i].kind == K_METHOD)
				put(p, "new o%d, ", i);
			else
				put(p, "nullptr, ");
		put(p, "};\n\n");
	}
	put_main(p);
}

static void plan(struct program *p)
{
	int tails = 0;
	p->cpp = roll(p, 3) == 0;
	p->shared = roll(p, 3) == 0;
	p->timer = roll(p, 4) == 0;
	p->count = 6 + (int)roll(p, FUNCTIONS_MAX - 6);
	p->compares = 1 + (int)roll(p, 3);
	for (int i = 0; i < p->count; i++) {
		struct function *f = &p->f[i];
		f->part = (int)roll(p, 2);
		f->kind = roll(p, 2) ? K_INT : (enum kind)roll(p, p->cpp ? K_COUNT : K_METHOD);
		f->is_static = roll(p, 3) == 0;
		f->tail = f->kind != K_METHOD && f->kind != K_RETURN && f->kind != K_VARIADIC && tails < TAILS_MAX &&
			  roll(p, 5) == 0;
		tails += f->tail;
		if (i >= p->count * 3 / 4 && f->kind == K_INT && !f->tail && roll(p, 3) == 0)
			f->forward = f->is_static = true;
		if (f->kind == K_METHOD) {
			f->part = 0;
			f->is_static = false;
		}
	}
}

static bool open_part(struct program *p, const char *directory, const char *name, const char *suffix)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s%s", directory, name, suffix);
	p->out = fopen(path, "w");
	if (!p->out)
		perror(path);
	return p->out != NULL;
}

int main(int argc, char **argv)
{
	static struct program p;
	static const char *const levels[] = {
		"-O2", "-O0", "-O1", "-O3", "-Os", "-O2 -fno-plt", "-O2 -fomit-frame-pointer -g"};
	if (argc != 3) {
		fprintf(stderr, "usage: generate SEED DIRECTORY\n");
		return 2;
	}
	p.state = strtoull(argv[1], NULL, 10) * 1000003;
	plan(&p);
	if (!open_part(&p, argv[2], "common.h", ""))
		return 1;
	put_common(&p);
	fclose(p.out);
	for (int part = 0; part < 2; part++) {
		if (!open_part(&p, argv[2], part ? "part1" : "part0", p.cpp ? ".cpp" : ".c"))
			return 1;
		put_part(&p, part);
		fclose(p.out);
	}
	printf("lang=%s shared=%d opt='%s'\n", p.cpp ? "cpp" : "c", p.shared, levels[roll(&p, 2) ? 0 : roll(&p, 7)]);
	return 0;
}
