/*
 * generate_flow.c - writes a random program whose functions have random control flow.
 *
 *	generate-flow SEED DIRECTORY
 *
 * Writes DIRECTORY/random.c or random.cpp. The program does the same in each run: it rolls its own dice, per thread, and every
 * loop, goto and call burns fuel. In C: loops, switches, gotos to everywhere, computed gotos, setjmp, musttail, exit from
 * depth. In C++: exceptions and objects with destructors in place of setjmp, and gotos only to the outermost block.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	FUNCTIONS_MAX = 14,
	LABELS = 4,
};

struct program {
	uint64_t state;
	FILE *out;
	bool is_cpp;
	int count;
	int self;
	/* of the function that is being written */
	bool jumps;      /* has setjmp: its variables are volatile */
	bool has_labels; /* and thus statements may go to them */
	int placed;      /* labels written */
	int closed;      /* blocks around that nothing may jump into */
	int loops;       /* loops and switches around: 1 continue, 2 break */
	int names;
	int indent;
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
	va_list ap;
	for (int i = 0; i < p->indent; i++)
		fputc('\t', p->out);
	va_start(ap, format);
	vfprintf(p->out, format, ap);
	va_end(ap);
	fputc('\n', p->out);
}

static const char *condition(struct program *p)
{
	static const char *const list[] = {"roll(2)",
					   "roll(3) == 1",
					   "n & 1",
					   "n > 7",
					   "roll(2) && n % 3",
					   "n < 4 || roll(4) == 2",
					   "(n & 2 && roll(2)) || (n > 20 && !roll(3))",
					   "roll(5)",
					   "n % 5 == (int)roll(5)"};
	return list[roll(p, sizeof list / sizeof *list)];
}

static void statements(struct program *p, int budget);

static void block(struct program *p, int budget)
{
	p->indent++;
	statements(p, budget);
	p->indent--;
}

static void put_if(struct program *p, int budget)
{
	put(p, "if (%s) {", condition(p));
	block(p, budget);
	if (roll(p, 2)) {
		put(p, "} else {");
		block(p, budget);
	}
	put(p, "}");
}

static void put_loop(struct program *p, int budget)
{
	int outer = p->loops, name = p->names++;
	unsigned kind = roll(p, 3);
	const char *kept = p->jumps ? "volatile " : "";
	p->loops = 3;
	if (kind == 0) {
		put(p, "for (%sint i%d = 0; i%d < (int)roll(5) && fuel-- > 0; i%d++) {", kept, name, name, name);
		p->closed++; /* a goto would skip the counter's beginning */
		block(p, budget);
		p->closed--;
		put(p, "}");
	} else if (kind == 1) {
		put(p, "while (roll(4) && fuel-- > 0) {");
		block(p, budget);
		put(p, "}");
	} else {
		put(p, "do {");
		block(p, budget);
		put(p, "} while (fuel-- > 0 && %s);", condition(p));
	}
	p->loops = outer;
}

static void put_switch(struct program *p, int budget)
{
	int outer = p->loops, cases = 1 + (int)roll(p, 6), value = -1;
	p->loops |= 2;
	put(p, "switch (%s) {", roll(p, 2) ? "(int)roll(8)" : "n % 9");
	for (int i = 0; i < cases; i++) {
		value += roll(p, 5) ? 1 : 20;
		put(p, "case %d:", value);
		put(p, "\tn += %d;", i); /* a break alone has a block without optimization only */
		block(p, budget / 2);
		if (roll(p, 3))
			put(p, "\tbreak;");
	}
	if (roll(p, 2)) {
		put(p, "default:");
		block(p, budget / 2);
	}
	put(p, "\t;");
	put(p, "}");
	p->loops = outer;
}

static void put_jump(struct program *p)
{
	if (!p->has_labels)
		return;
	put(p, "if (fuel-- > 0 && %s)", condition(p));
	if (roll(p, 4) || (p->is_cpp && p->closed))
		put(p, "\tgoto l%u;", roll(p, LABELS));
	else
		put(p, "\tgoto *labels[roll(%u)];", 1 + roll(p, LABELS));
}

static void put_label(struct program *p)
{
	if (p->has_labels && p->placed < LABELS && !p->closed && !(p->is_cpp && p->indent > 1))
		put(p, "l%d:;", p->placed++);
}

static void put_leave(struct program *p)
{
	unsigned kind = roll(p, 8);
	if (kind < 3 && p->loops & 1)
		put(p, "if (%s)\n\t\t\tcontinue;", condition(p));
	else if (kind < 5 && p->loops & 2)
		put(p, "if (%s)\n\t\t\tbreak;", condition(p));
	else if (kind < 7)
		put(p, "if (%s)\n\t\t\treturn n + %u;", condition(p), roll(p, 9));
	else if (p->is_cpp)
		put(p, "if (!roll(6) && catching)\n\t\t\tthrow n;");
	else if (roll(p, 8))
		put(p, "if (!roll(6) && catcher)\n\t\t\tlongjmp(*catcher, 1 + (int)roll(3));");
	else
		put(p, "if (!roll(400))\n\t\t\tstop(n);");
}

static void put_call(struct program *p)
{
	unsigned to = roll(p, (unsigned)p->count);
	if (roll(p, 3))
		put(p, "if (fuel-- > 0 && depth < 40)\n\t\t\tn += CALL(f%u(n / 2 + %u)) & 7;", to, roll(p, 5));
	else
		put(p, "if (fuel-- > 0 && depth < 40)\n\t\t\tn += CALL(functions[roll(%d)](n)) & 3;", p->count);
}

static void put_catch(struct program *p, int budget)
{
	int outer = p->loops;
	if (p->is_cpp) {
		p->closed++;
		put(p, "{");
		put(p, "catching++;");
		put(p, "const int kept%d = depth;", ++p->names);
		int kept = p->names;
		put(p, "try {");
		if (roll(p, 2))
			put(p, "\tguard g(n);");
		block(p, budget);
		put(p, "\tcatching--;");
		put(p, "} catch (int thrown) {");
		put(p, "\tdepth = kept%d;", kept);
		put(p, "\tcatching--;");
		if (roll(p, 3) == 0)
			put(p, "\tif (thrown > 12 && catching)\n\t\t\tthrow;");
		block(p, budget / 2);
		put(p, "}");
		put(p, "}");
		p->closed--;
	} else if (p->jumps) {
		put(p, "{");
		p->closed++;
		put(p, "\tjmp_buf here, *volatile outer = catcher;");
		put(p, "\tvolatile int kept = depth;");
		put(p, "\tint thrown = %s(here);", roll(p, 2) ? "setjmp" : "_setjmp");
		put(p, "\tdepth = kept;");
		put(p, "\tcatcher = thrown < 2 ? &here : outer;");
		p->loops = 0;
		put(p, "\tif (!thrown && fuel-- > 0 && depth < 40)");
		put(p, "\t\tn += CALL(f%u(n + 1)) & 7;", roll(p, (unsigned)p->count));
		put(p, "\telse if (thrown == 1 && fuel-- > 0 && depth < 40)");
		put(p, "\t\tn += CALL(f%u(n)) & 3;", roll(p, (unsigned)p->count));
		put(p, "\tcatcher = outer;");
		p->closed--;
		put(p, "}");
	}
	p->loops = outer;
}

static void put_frame(struct program *p, int budget)
{
	p->closed++;
	put(p, "{");
	if (p->is_cpp)
		put(p, "\tguard g(n);");
	else
		put(p, "\tvolatile char array[1 + roll(40)];\n\t\tarray[0] = (char)n;");
	block(p, budget);
	put(p, "}");
	p->closed--;
}

static void statements(struct program *p, int budget)
{
	while (budget > 0) {
		int part = 1 + (int)roll(p, (unsigned)budget);
		budget -= part;
		put_label(p);
		switch (roll(p, 14)) {
		case 0:
		case 1:
		case 2:
			put_if(p, part - 1);
			break;
		case 3:
		case 4:
			put_loop(p, part - 1);
			break;
		case 5:
			put_switch(p, part);
			break;
		case 6:
		case 7:
			put_jump(p);
			break;
		case 8:
			put_leave(p);
			break;
		case 9:
		case 10:
			put_call(p);
			break;
		case 11:
			put_catch(p, part - 1);
			break;
		case 12:
			if (!p->has_labels || p->is_cpp)
				put_frame(p, part - 1);
			break;
		default:
			put(p, "n = n * %u %% 101;", 3 + roll(p, 50));
		}
	}
}

static void put_function(struct program *p)
{
	static const char *const attributes[] = {"", "", "__attribute__((noinline)) ",
						 "__attribute__((always_inline)) inline "};
	bool is_leaf = roll(p, 6) == 0;
	p->jumps = !p->is_cpp && roll(p, 3) == 0;
	p->has_labels = roll(p, 3) == 0;
	p->placed = p->closed = p->loops = 0;
	const char *attribute = attributes[p->jumps || p->has_labels ? roll(p, 3) : roll(p, 4)];
	put(p, "%sstatic int f%d(int argument)", attribute, p->self);
	put(p, "{");
	p->indent++;
	put(p, "%sint n = argument;", p->jumps ? "volatile " : "");
	if (is_leaf) {
		put(p, "return n %s;", roll(p, 2) ? "* 3 + 1" : "& 1 ? n / 2 : n + 5");
	} else {
		if (p->has_labels)
			put(p, "static const void *const labels[] = {&&l0, &&l1, &&l2, &&l3};");
		statements(p, 8 + (int)roll(p, 30));
		while (p->has_labels && p->placed < LABELS)
			put(p, "l%d:;", p->placed++);
		if (!p->jumps && !p->has_labels && roll(p, 4) == 0)
			put(p, "if (fuel-- > 0 && depth < 40)\n\t\t__attribute__((musttail)) return f%u(n);",
			    roll(p, (unsigned)p->count));
		put(p, "return n & 1023;");
	}
	p->indent--;
	put(p, "}\n");
}

static void put_head(struct program *p)
{
	put(p, "/* Made by generate_flow.c. */");
	put(p,
	    "#include <pthread.h>\n#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\n#ifndef FORK\n#define FORK fork\n#endif\n");
	put(p,
	    "static __thread unsigned long dice;\nstatic __thread int fuel, depth, catching;\nstatic __thread jmp_buf *catcher;");
	put(p, "static volatile int total;\n");
	put(p, "/* The depth is what it was, however the call ends. */");
	put(p, "#define CALL(call) ({ %sint kept = depth++, got = call; depth = kept; got; })",
	    p->is_cpp ? "" : "volatile ");
	put(p, "static inline unsigned roll(unsigned sides)\n{");
	put(p,
	    "\tdice = dice * 6364136223846793005u + 1442695040888963407u;\n\treturn (unsigned)(dice >> 33) %% sides;\n}\n");
	put(p,
	    "__attribute__((noreturn, noinline)) static void stop(int n)\n{\n\tif (n & 1)\n\t\t_exit(0);\n\texit(0);\n}\n");
	if (p->is_cpp)
		put(p,
		    "struct guard {\n\tint n;\n\texplicit guard(int n) : n(n)\n\t{\n\t}\n\t~guard()\n\t{\n\t\tif (n & 1)\n\t\t\ttotal = total + 1;\n\t}\n};\n");
	for (int i = 0; i < p->count; i++)
		put(p, "static int f%d(int);", i);
	fprintf(p->out, "static int (*const functions[])(int) = {");
	for (int i = 0; i < p->count; i++)
		fprintf(p->out, "%sf%d", i ? ", " : "", i);
	put(p, "};\n");
}

static void put_main(struct program *p)
{
	put(p,
	    "static int round_of(unsigned long seed)\n{\n\tdice = seed;\n\tfuel = 300;\n\tdepth = catching = 0;\n\tcatcher = NULL;");
	if (p->is_cpp)
		put(p,
		    "\tcatching = 1;\n\ttry {\n\t\treturn functions[seed %% %du]((int)seed);\n\t} catch (int n) {\n\t\treturn n;\n\t}\n}\n",
		    p->count);
	else
		put(p, "\treturn functions[seed %% %du]((int)seed);\n}\n", p->count);
	put(p,
	    "static void *thread(void *seed)\n{\n\tfor (unsigned long i = 0; i < 20; i++)\n\t\tround_of((unsigned long)seed * 100 + i);\n\treturn NULL;\n}\n");
	put(p, "int main(void)\n{\n\tpthread_t t[3];\n\tint status, sum = 0;");
	/* Where one thread stops all, what the others did would not be known: rounds that may exit run in processes. */
	put(p,
	    "\tfor (unsigned long i = 1; i <= 60; i++) {\n\t\tfflush(stdout);\n\t\tpid_t pid = i %% 12 ? 0 : FORK();");
	put(p, "\t\tif (i %% 12 == 0 && pid == 0)\n\t\t\treturn round_of(i * 77) & 1;");
	put(p, "\t\tif (pid)\n\t\t\twaitpid(pid, &status, 0);\n\t\tsum += round_of(i);\n\t}");
	if (p->is_cpp) {
		put(p, "\tfor (long i = 0; i < 3; i++)\n\t\tpthread_create(&t[i], NULL, thread, (void *)(i + 5));");
		put(p, "\tfor (int i = 0; i < 3; i++)\n\t\tpthread_join(t[i], NULL);");
	} else {
		put(p, "\tfor (long i = 0; i < 2; i++) {\n\t\tpthread_create(&t[0], NULL, thread, (void *)(i + 5));");
		put(p, "\t\tpthread_join(t[0], NULL);\n\t}");
	}
	put(p, "\tprintf(\"%%d\\n\", sum);\n\treturn 0;\n}");
}

int main(int argc, char **argv)
{
	struct program p = {0};
	char path[4096];
	if (argc != 3) {
		fprintf(stderr, "usage: generate-flow SEED DIRECTORY\n");
		return 2;
	}
	p.state = strtoull(argv[1], NULL, 10);
	p.is_cpp = roll(&p, 3) == 0;
	p.count = 3 + (int)roll(&p, FUNCTIONS_MAX - 3);
	snprintf(path, sizeof path, "%s/random.%s", argv[2], p.is_cpp ? "cpp" : "c");
	p.out = fopen(path, "w");
	if (!p.out) {
		perror(path);
		return 1;
	}
	put_head(&p);
	for (p.self = 0; p.self < p.count; p.self++)
		put_function(&p);
	put_main(&p);
	return fclose(p.out) ? 1 : 0;
}
