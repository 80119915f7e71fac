/*
 * choices.c - indirect calls and indirect tail calls with a few hundred targets, found one after the other, while handlers and calls of the
 * same site are in progress.
 * hazards.sh: again epochs,wall
 */
#include <signal.h>

#include "probe.h"

typedef int (*step_fn)(int);

static volatile int turn;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

static int step(int n);
static int last(int n);

#define TARGET(n)                                                        \
	__attribute__((noinline)) static int target_##n(int left)        \
	{                                                                \
		int got = left > 0 ? step(left - 1) + (n) % 7 : leaf(n); \
                                                                         \
		if ((n) % 16 == 0)                                       \
			PROBE();                                         \
		return got;                                              \
	}
#define NAME(n) target_##n,
/* clang-format off */
#define TEN(of, n) \
	of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) of(n##6) of(n##7) of(n##8) of(n##9)
#define HUNDRED(of, n) \
	TEN(of, n##0) TEN(of, n##1) TEN(of, n##2) TEN(of, n##3) TEN(of, n##4) \
	TEN(of, n##5) TEN(of, n##6) TEN(of, n##7) TEN(of, n##8) TEN(of, n##9)
#define ALL(of) HUNDRED(of, 1) HUNDRED(of, 2) HUNDRED(of, 3)
/* clang-format on */

ALL(TARGET)

static const step_fn targets[] = {ALL(NAME)};

enum {
	COUNT = sizeof targets / sizeof *targets,
};

/* Nested, so that calls of the site are in progress while it gets more targets. */
__attribute__((noinline)) static int step(int left)
{
	step_fn f = targets[(unsigned int)turn++ * 7 % COUNT];
	int got = f(left);

	return got + 1;
}

__attribute__((noinline)) static int last(int left)
{
	return targets[(unsigned int)turn++ * 11 % COUNT](left);
}

static void handle(int sig)
{
	turn += step(sig % 2) & 1;
	PROBE();
}

int main(void)
{
	int sum = 0;

	signal(SIGUSR1, handle);
	for (int i = 0; i < 3 * COUNT; i++) {
		sum += step(i % 5) + last(i % 3);
		if (i % 32 == 0)
			raise(SIGUSR1);
		PROBE();
	}
	printf("%d\n", sum);
	return 0;
}
