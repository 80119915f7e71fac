/* bound_functions.h - see bound.h. What the images that are compiled without Waymark define, contexts show in brackets. */
#include <cstdarg>

#include "bound.h"

#ifdef PLAIN
/* A frame for all foreign code up to the next call of a library with Waymark. */
#define BOUND_SCOPE()                                      \
	static char name_[32];                             \
	strcat(strcat(strcpy(name_, "["), __func__), "]"); \
	SCOPE_AS(name_);                                   \
	shadow.depth -= shadow.depth > 1 && *shadow.name[shadow.depth - 2] == '['
#define BOUND_CHECK() look(1)
#else
#define BOUND_SCOPE() SCOPE()
#define BOUND_CHECK()    \
	do {             \
		CHECK(); \
		look(1); \
	} while (0)
#endif

int whose()
{
	BOUND_SCOPE();
	static volatile int image = IMAGE; /* which the optimizer does not know */
	return image;
}

int step(int n)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	return n + IMAGE;
}

int climb(int n)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	int result = n ? descend(n - 1) + descend(n - 1) : 0;
	BOUND_CHECK();
	return result + IMAGE;
}

void toss(int n)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	if (n)
		throw n * 10 + IMAGE;
}

void leap(jmp_buf *to, int n)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	if (n)
		longjmp(*to, IMAGE);
}

long spread(long a, long b, long c, long d, long e, long f, long g)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + IMAGE;
}

double filled(int a, double b, char c, float d, long e, double f, short g, double h, void *i, double j, double k,
	      double l, float m)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	return a + b + c + d + (double)e + f + g + h + (i != nullptr) + j + k + l + m + IMAGE;
}

double quietly(int a, double b, char c, float d, long e, double f, short g, double h, void *i, double j, double k,
	       double l, float m)
{
	return a + b + c + d + (double)e + f + g + h + (i != nullptr) + j + k + l + m + IMAGE;
}

int total(int count, ...)
{
	BOUND_SCOPE();
	va_list ap;
	int sum = IMAGE;
	va_start(ap, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(ap, int);
	va_end(ap);
	BOUND_CHECK();
	return sum;
}

double sum(int count, ...)
{
	BOUND_SCOPE();
	va_list ap;
	double sum = IMAGE;
	BOUND_CHECK();
	va_start(ap, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(ap, double);
	va_end(ap);
	return sum;
}

pair paired(int n)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	return {n + IMAGE, n * 0.5};
}

block blocked(int n)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	return {{n, n + 1, n + 2, n + 3, IMAGE}};
}

long double widened(int n)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	return n + IMAGE;
}

four shifted(four x)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	return x + IMAGE;
}

int deep(int n)
{
	return n ? dive(n - 1) + IMAGE : IMAGE;
}

int applies(bound_function *f, int n)
{
	BOUND_SCOPE();
	BOUND_CHECK();
	return f(n) + IMAGE;
}
