/*
 * random.h - what the generated programs share: bounded, repeatable random choices and the shadow stack of the hazard
 * programs. All state is thread-local and lives in the program's first file (the shadow stack's rule, see shadow.h).
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/time.h>

#include "../hazards/shadow.h"

struct big {
	long w[5];
};

struct catcher {
	jmp_buf env;
	struct catcher *below;
};

/* One a thread. Handlers put back `catchers` and `catching`: nothing is thrown out of a handler into interrupted C++. */
struct dice {
	uint64_t state;
	long calls;  /* calls that may still be made */
	long checks; /* captures that may still be printed */
	int signals; /* nesting of handlers */
	int catching;
	struct catcher *catchers;
};

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak, visibility("default"))) __thread struct dice dice;
__attribute__((weak, visibility("default"))) int threads_left;

/* random_foreign.c, compiled by plain clang into a library of its own */
int foreign_apply(int (*f)(int), int n);
int foreign_twice(int (*f)(int), int n);
int foreign_tail(int (*f)(int), int n);
int foreign_nested(int (*f)(int), int n);
#ifdef __cplusplus
}
#endif

SHADOW_INLINE unsigned roll(unsigned sides)
{
	dice.state = dice.state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(dice.state >> 33) % sides;
}

/* True when a function may go on to call others. */
SHADOW_INLINE int may_call(void)
{
	return shadow.depth < 90 && dice.calls-- > 0;
}

#define MAYBE_CHECK()                  \
	do {                           \
		if (dice.checks > 0) { \
			dice.checks--; \
			CHECK();       \
		}                      \
	} while (0)

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

#endif
