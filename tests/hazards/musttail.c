/* musttail: guaranteed at every -O level; an interpreter by threaded calls, chains, calls through pointers. */
#include "shadow.h"

#define TAIL_ENTER() shadow_push(__func__)
#define MUSTTAIL __attribute__((musttail)) return

/* For loops of tail calls, started by main: the first few pushed ones and the last are kept. */
static inline __attribute__((always_inline)) void loop_enter(const char *name)
{
	enum {
		KEPT = 4
	};
	if (shadow.depth > KEPT) {
		shadow.depth = KEPT + 1;
		shadow_push("...");
	}
	shadow_push(name);
}

NOINLINE static void here(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

struct machine {
	const unsigned char *code;
	long acc;
	int checks;
};
typedef long step(struct machine *m, long budget);
static step op_add, op_sub, op_loop, op_check, op_halt;
static step *const steps[] = {op_halt, op_add, op_sub, op_check, op_loop};

#define NEXT() MUSTTAIL steps[*m->code++](m, budget - 1)

NOINLINE static long op_add(struct machine *m, long budget)
{
	if (m->checks)
		loop_enter(__func__);
	m->acc += 3;
	NEXT();
}

NOINLINE static long op_sub(struct machine *m, long budget)
{
	if (m->checks)
		loop_enter(__func__);
	m->acc -= 1;
	NEXT();
}

NOINLINE static long op_check(struct machine *m, long budget)
{
	if (m->checks) {
		loop_enter(__func__);
		here();
	}
	NEXT();
}

NOINLINE static long op_loop(struct machine *m, long budget)
{
	if (m->checks)
		loop_enter(__func__);
	if (budget > 0)
		m->code -= 4;
	NEXT();
}

NOINLINE static long op_halt(struct machine *m, long budget)
{
	(void)budget;
	if (m->checks) {
		loop_enter(__func__);
		here();
	}
	return m->acc;
}

NOINLINE static int last(int n)
{
	TAIL_ENTER();
	here();
	return n;
}

NOINLINE static int second(int n)
{
	TAIL_ENTER();
	here();
	MUSTTAIL last(n + 1);
}

NOINLINE static int first(int n)
{
	TAIL_ENTER();
	if (n & 1)
		MUSTTAIL last(n);
	MUSTTAIL second(n);
}

/* Two of them: a function that calls itself last becomes a loop, which is no call any more. */
static int countdown_odd(int n);

NOINLINE static int countdown(int n)
{
	loop_enter(__func__);
	if (n % 6 == 0)
		here();
	if (!n)
		return 0;
	MUSTTAIL countdown_odd(n - 1);
}

NOINLINE static int countdown_odd(int n)
{
	loop_enter(__func__);
	if (n % 5 == 0)
		here();
	MUSTTAIL countdown(n - 1);
}

NOINLINE static int chains(int n)
{
	ENTER();
	int sum = first(n);
	RESTORE();
	here();
	sum += second(n);
	RESTORE();
	CHECK();
	sum += last(n);
	RESTORE();
	here();
	LEAVE();
	return sum;
}

int main(void)
{
	ENTER();
	static const unsigned char program[] = {1, 2, 3, 4, 0};
	struct machine m = {program, 0, 1};
	for (int n = 0; n < 4; n++)
		chains(n);
	EXPECT(steps[*m.code++](&m, 30) == 16);
	RESTORE();
	here();
	countdown(20);
	RESTORE();
	here();
	/* Deep: what must not happen is that the stack overflows. */
	m = (struct machine){program, 0, 0};
	EXPECT(steps[*m.code++](&m, 1000000) > 400000);
	here();
	CHECK();
	LEAVE();
	return 0;
}
