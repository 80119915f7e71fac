/*
 * generate_ir.c - writes a random LLVM module for the pass, with what C compilers seldom or never write together: shared normal
 * destinations, unreachable blocks, musttail with every linkage, indirectbr, callbr, aliases, ifuncs, naked functions.
 *
 *	generate_ir SEED >module.ll
 *
 * The module can be run too (tests/instrument/random.sh does): blocks branch forward, but for loops that use up @fuel, which every
 * function draws on, so that it ends. harness.cpp has the functions it calls, and main.
 *
 * First a plan of functions and blocks, then the text: a phi has to know its predecessors before they are written.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FUNCTIONS_MAX = 24,
	BLOCKS_MAX = 12,
	PADS_MAX = 2
};

enum terminator {
	T_RETURN,
	T_JUMP,
	T_BRANCH,
	T_LOOP,
	T_SWITCH,
	T_INDIRECT,
	T_INVOKE,
	T_CALLBR,
	T_MUSTTAIL,
	T_TAIL,
	T_UNREACHABLE
};

struct block {
	enum terminator terminator;
	int to[3]; /* successors, as many as the terminator has */
	int to_count;
	int pad; /* T_INVOKE */
};

struct function {
	const char *linkage;
	const char *attributes;
	bool is_naked, is_fast, unwinds;
	int blocks, pads;
	struct block block[BLOCKS_MAX];
	int pad_to[PADS_MAX]; /* block after a catch, -1: resume */
};

struct module {
	uint64_t state;
	int count;
	struct function f[FUNCTIONS_MAX];
	int value;   /* the next value's number */
	bool throws; /* foreign code may throw: then no function says that it does not unwind */
};

static unsigned roll(struct module *m, unsigned sides)
{
	m->state += 0x9e3779b97f4a7c15u;
	uint64_t z = m->state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) >> 32) % sides;
}

static void plan_block(struct module *m, struct function *f, int i)
{
	struct block *b = &f->block[i];
	if (i == f->blocks - 1) {
		b->terminator = T_RETURN;
		return;
	}
	static const enum terminator kinds[] = {T_RETURN,   T_JUMP,   T_JUMP,     T_BRANCH,     T_BRANCH, T_BRANCH,
						T_LOOP,     T_SWITCH, T_INDIRECT, T_INVOKE,     T_INVOKE, T_INVOKE,
						T_MUSTTAIL, T_TAIL,   T_CALLBR,   T_UNREACHABLE};
	b->terminator = kinds[roll(m, sizeof kinds / sizeof *kinds)];
	/* Jumps over blocks leave some without a predecessor; the entry block must not have one. */
	if (i == 0 && b->terminator == T_LOOP)
		b->terminator = T_BRANCH;
	if (b->terminator == T_INVOKE && !f->pads)
		b->terminator = T_JUMP;
	if ((b->terminator == T_MUSTTAIL || b->terminator == T_TAIL) && f->is_fast)
		b->terminator = T_RETURN;
	static const int successors[] = {0, 1, 2, 2, 3, 3, 1, 2, 0, 0, 0};
	b->to_count = successors[b->terminator];
	for (int k = 0; k < b->to_count; k++)
		b->to[k] = i + 1 + (int)roll(m, (unsigned)(f->blocks - i - 1));
	if (b->terminator == T_LOOP)
		b->to[0] = 1 + (int)roll(m, (unsigned)i);
	if (b->terminator == T_CALLBR && b->to[0] == b->to[1])
		b->terminator = T_BRANCH; /* blocks of a callbr should differ */
	b->pad = f->pads ? (int)roll(m, (unsigned)f->pads) : 0;
}

static void plan(struct module *m)
{
	static const char *const linkages[] = {"internal",  "internal",
					       "internal",  "internal",
					       "dso_local", "",
					       "weak",      "linkonce_odr dso_local",
					       "hidden",    "weak_odr dso_local"};
	static const char *const attributes[] = {
		"", "", "nounwind", "noinline", "nounwind noinline", "uwtable", "nounwind optsize"};
	m->count = 3 + (int)roll(m, FUNCTIONS_MAX - 3);
	for (int i = 0; i < m->count; i++) {
		struct function *f = &m->f[i];
		f->linkage = linkages[roll(m, sizeof linkages / sizeof *linkages)];
		f->attributes = attributes[roll(m, sizeof attributes / sizeof *attributes)];
		if (m->throws && strstr(f->attributes, "nounwind"))
			f->attributes = "noinline";
		f->is_naked = i && !roll(m, 25);
		f->is_fast = i && f->linkage[0] == 'i' && !roll(m, 4);
		f->blocks = 1 + (int)roll(m, BLOCKS_MAX);
		f->pads = (int)roll(m, PADS_MAX + 1);
		for (int p = 0; p < f->pads; p++)
			f->pad_to[p] = roll(m, 2) ? f->blocks - 1 : -1;
		for (int b = 0; b < f->blocks; b++)
			plan_block(m, f, b);
	}
}

/* The name a call of function k uses: the function's or its alias's. */
static void put_callee(struct module *m, int k)
{
	printf(roll(m, 6) ? "@f%d" : "@a%d", k);
}

/*
 * A call's callee and arguments, for functions of the one type; musttail wants the caller's convention. Code that is not
 * instrumented does not take off what a musttail call from a root has pushed, so there it is left out.
 */
static void put_call(struct module *m, const char *word, bool fast_allowed)
{
	bool is_must = word[0] == 'm';
	int k = (int)roll(m, (unsigned)m->count);
	unsigned what = roll(m, 10);
	for (int i = 0; i < m->count && ((!fast_allowed && m->f[k].is_fast) || (is_must && m->f[k].is_naked)); i++)
		k = (k + 1) % m->count;
	if (is_must && what > 7)
		what = 0;
	if (what < 6) {
		printf("%s %si32 ", word, m->f[k].is_fast ? "fastcc " : "");
		put_callee(m, k);
		printf("(i32 %%n, ptr %%p)");
	} else if (what == 6) {
		printf("%s i32 %%p(i32 %%n, ptr %%p)", word);
	} else if (what == 7) {
		printf("%s i32 @picked(i32 %%n, ptr %%p)", word);
	} else {
		printf("%s i32 @foreign(i32 %%n, ptr %%p)", word);
	}
}

static void put_statement(struct module *m)
{
	switch (roll(m, 11)) {
	case 0:
		printf("  call void @wm_event(ptr @text, i64 %u)\n", roll(m, 1000));
		return;
	case 1:
		printf("  call void @wm_capture(ptr sret(%%context) %%room)\n");
		return;
	case 2:
		printf("  %%v%d = call i64 @strlen(ptr @text)\n", m->value++);
		return;
	case 3:
		printf("  %%v%d = call i32 @_setjmp(ptr @environment)%s\n", m->value++,
		       roll(m, 2) ? " returns_twice" : "");
		return;
	case 4:
		printf("  call void asm sideeffect \"%s\", \"~{memory}\"()\n", roll(m, 2) ? "nop" : "jmp 1f; 1:");
		return;
	case 5:
		printf("  %%v%d = call i32 (i32, ...) @variadic(i32 %%n, i64 2, double 3.0)\n", m->value++);
		return;
	case 6:
		printf("  store volatile i64 1, ptr %%room\n");
		return;
	default:
		printf("  %%v%d = ", m->value++);
		put_call(m, roll(m, 3) ? "call" : "tail call", true);
		printf("\n");
	}
}

static void put_fuel(struct module *m, const char *yes, const char *no)
{
	int v = m->value;
	m->value += 3;
	printf("  %%v%d = load i32, ptr @fuel\n  %%v%d = sub i32 %%v%d, 1\n  store i32 %%v%d, ptr @fuel\n", v, v + 1, v,
	       v + 1);
	printf("  %%v%d = icmp sgt i32 %%v%d, 0\n  br i1 %%v%d, label %%%s, label %%%s\n", v + 2, v, v + 2, yes, no);
}

static void put_terminator(struct module *m, const struct function *f, int i)
{
	const struct block *b = &f->block[i];
	char names[2][16];
	int v = m->value;
	switch (b->terminator) {
	case T_RETURN:
		printf("  ret i32 %u\n", roll(m, 9));
		return;
	case T_JUMP:
		printf("  br label %%b%d\n", b->to[0]);
		return;
	case T_BRANCH:
		m->value++;
		printf("  %%v%d = icmp eq i32 %%n, %u\n  br i1 %%v%d, label %%b%d, label %%b%d\n", v, roll(m, 4), v,
		       b->to[0], b->to[1]);
		return;
	case T_LOOP:
		snprintf(names[0], sizeof names[0], "b%d", b->to[0]);
		snprintf(names[1], sizeof names[1], "b%d", b->to[1]);
		put_fuel(m, names[0], names[1]);
		return;
	case T_SWITCH:
		printf("  switch i32 %%n, label %%b%d [ i32 1, label %%b%d\n i32 2, label %%b%d ]\n", b->to[0],
		       b->to[1], b->to[2]);
		return;
	case T_INDIRECT:
		m->value++;
		printf("  %%v%d = select i1 %%odd, ptr blockaddress(@f%d, %%b%d), ptr blockaddress(@f%d, %%b%d)\n", v,
		       (int)(f - m->f), b->to[0], (int)(f - m->f), b->to[1]);
		printf("  indirectbr ptr %%v%d, [ label %%b%d, label %%b%d, label %%b%d ]\n", v, b->to[0], b->to[1],
		       b->to[2]);
		return;
	case T_INVOKE:
		printf("  %%i%d = ", i);
		put_call(m, "invoke", true);
		printf(" to label %%b%d unwind label %%pad%d\n", b->to[0], b->pad);
		return;
	case T_CALLBR:
		printf("  callbr void asm sideeffect \"# jmp ${0:l}\", \"!i\"() to label %%b%d [label %%b%d]\n",
		       b->to[0], b->to[1]);
		return;
	case T_MUSTTAIL:
	case T_TAIL:
		m->value++;
		printf("  %%v%d = ", v);
		put_call(m, b->terminator == T_TAIL ? "tail call" : "musttail call", false);
		printf("\n  ret i32 %%v%d\n", v);
		return;
	case T_UNREACHABLE:
		/* Behind a condition that never holds when the module runs. */
		m->value++;
		printf("  %%v%d = load volatile i32, ptr @never\n  %%w%d = icmp ne i32 %%v%d, 0\n  br i1 %%w%d, label %%dead%d, label %%live%d\n",
		       v, v, v, v, i, i);
		printf("dead%d:\n  call void @leave()\n  unreachable\nlive%d:\n  ret i32 0\n", i, i);
		return;
	}
}

/* One phi at the head of a block that has predecessors; the value of an invoke reaches its normal destination. */
static void put_phi(struct module *m, const struct function *f, int i)
{
	int count = 0;
	for (int b = 0; b < f->blocks; b++)
		for (int k = 0; k < f->block[b].to_count; k++)
			if (f->block[b].to[k] == i) {
				printf(count++ ? ", " : "  %%v%d = phi i32 ", m->value);
				printf(f->block[b].terminator == T_INVOKE ? "[ %%i%d, %%b%d ]" : "[ %d, %%b%d ]", b, b);
			}
	for (int p = 0; p < f->pads; p++)
		if (f->pad_to[p] == i) {
			printf(count++ ? ", " : "  %%v%d = phi i32 ", m->value);
			printf("[ 7, %%pad%d ]", p);
		}
	if (count) {
		m->value++;
		printf("\n");
	}
}

static void put_function(struct module *m, int index)
{
	const struct function *f = &m->f[index];
	m->value = 0;
	printf("\ndefine %s %si32 @f%d(i32 %%n, ptr %%p) %s ", f->linkage, f->is_fast ? "fastcc " : "", index,
	       f->is_naked ? "naked noinline" : f->attributes);
	if (f->is_naked) {
		printf("{\n  call void asm sideeffect \"xorl %%eax, %%eax; ret\", \"\"()\n  unreachable\n}\n");
		return;
	}
	if (f->pads)
		printf("personality ptr @__gxx_personality_v0 ");
	printf("{\nenter:\n  %%room = alloca %%context\n  %%odd = trunc i32 %%n to i1\n");
	put_fuel(m, "b0", "out");
	printf("out:\n  ret i32 0\n");
	for (int b = 0; b < f->blocks; b++) {
		printf("b%d:\n", b);
		if (b)
			put_phi(m, f, b);
		for (unsigned k = roll(m, 4); k; k--)
			put_statement(m);
		put_terminator(m, f, b);
	}
	for (int p = 0; p < f->pads; p++) {
		printf("pad%d:\n  %%e%d = landingpad { ptr, i32 } %s\n", p, p,
		       f->pad_to[p] < 0 ? "cleanup" : "catch ptr null");
		if (roll(m, 2))
			put_statement(m);
		if (f->pad_to[p] < 0)
			printf("  resume { ptr, i32 } %%e%d\n", p);
		else
			printf("  br label %%b%d\n", f->pad_to[p]);
	}
	printf("}\n");
}

static void put_module(struct module *m)
{
	printf("target triple = \"x86_64-pc-linux-gnu\"\n%%context = type { i64, i32, i32, i32, i32 }\n"
	       "@fuel = external dso_local global i32\n@never = external dso_local global i32\n@environment = external dso_local global [64 x i64]\n"
	       "@text = private constant [5 x i8] c\"text\\00\"\n"
	       "declare void @wm_event(ptr, i64)\ndeclare void @wm_capture(ptr sret(%%context))\ndeclare i64 @strlen(ptr)\n"
	       "declare i32 @_setjmp(ptr) returns_twice\ndeclare i32 @variadic(i32, ...)\ndeclare i32 @foreign(i32, ptr)\n"
	       "declare void @leave() noreturn\ndeclare i32 @__gxx_personality_v0(...)\n");
	printf("@throws = dso_local constant i32 %d\n", m->throws);
	/* Functions that others may call by address. */
	printf("@table = dso_local global [4 x ptr] [ ");
	for (int k = 0; k < 4; k++) {
		int i = (int)roll(m, (unsigned)m->count);
		while ((m->f[i].is_fast || m->f[i].is_naked) && i)
			i--;
		printf("ptr @f%d%s", i, k < 3 ? ", " : " ]\n");
	}
	for (int i = 0; i < m->count; i++)
		printf("@a%d = %s alias i32 (i32, ptr), ptr @f%d\n", i, roll(m, 3) ? "internal" : "dso_local", i);
	printf("@picked = internal ifunc i32 (i32, ptr), ptr @pick\n"
	       "define internal i32 @chosen(i32 %%n, ptr %%p) {\n  %%v = call i32 @foreign(i32 %%n, ptr %%p)\n  ret i32 %%v\n}\n"
	       "define internal ptr @pick() {\n  call void @pick_more()\n  ret ptr @chosen\n}\n"
	       "define internal void @pick_more() {\n  ret void\n}\n");
	for (int i = 0; i < m->count; i++)
		put_function(m, i);
}

int main(int argc, char **argv)
{
	struct module *m = calloc(1, sizeof *m);
	if (argc != 2 || !m) {
		fprintf(stderr, "usage: generate_ir SEED\n");
		return 2;
	}
	m->state = strtoull(argv[1], NULL, 10);
	m->throws = m->state % 3 == 0;
	plan(m);
	put_module(m);
	free(m);
	return 0;
}
