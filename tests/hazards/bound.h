/*
 * bound.h - functions of bound_library.cpp that other images replace: the program (with -DDEFINES) or what LD_PRELOAD names. Their
 * definitions are in bound_functions.h, one text for all images: what differs is the number that IMAGE is.
 */
#ifndef BOUND_H
#define BOUND_H

#include <setjmp.h>

#include "shadow.h"

#define FN extern "C" NOINLINE /* plain names in the contexts */

struct pair {
	long whole;
	double part;
};
struct block {
	long words[5];
};

typedef int bound_function(int);
typedef float four __attribute__((vector_size(16)));

/* May be replaced. */
FN int whose(); /* captures nothing: it runs before its image has begun */
FN int step(int n);
FN int climb(int n);              /* calls back into the library, which calls it again */
FN void toss(int n);              /* throws */
FN void leap(jmp_buf *to, int n); /* longjmps */
FN long spread(long a, long b, long c, long d, long e, long f, long g);
FN double filled(int a, double b, char c, float d, long e, double f, short g, double h, void *i, double j, double k,
		 double l, float m);
FN double quietly(int a, double b, char c, float d, long e, double f, short g, double h, void *i, double j, double k,
		  double l, float m); /* captures nothing */
FN int total(int count, ...);
FN double sum(int count, ...);
FN pair paired(int n);
FN block blocked(int n);
FN long double widened(int n);
FN four shifted(four x);
FN int deep(int n); /* captures nothing: it goes further down than shadow stacks */
FN int applies(bound_function *f, int n);

/* The library's alone. */
FN int look(int n);
FN int descend(int n);
FN int dive(int n);
FN int work(int n);
FN bound_function *address_of_step();

/* Which definition ran: 1 the library's, 2 the program's, 3 that of what was put before it. */
extern "C" int bound_image();

#endif
