/*
 * hybrid.c - calls that frames of several sizes tell apart, and some that they do not; prints a token at each end. Argument: how deep to recurse.
 *
 * With GROWS one of the functions on the way has a frame that grows; with BY_POINTER main is entered a second time by code that does not know it.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waymark.h>

#define NOINLINE __attribute__((noinline))
/* A frame of that many bytes and the rest. */
#define FRAME(bytes)        \
	char frame[bytes];  \
	frame[0] = (char)n; \
	__asm__ volatile("" : : "r"(frame) : "memory")

static volatile int sum;
int main(int argc, char **argv);
#ifdef BY_POINTER
static int (*volatile again)(int, char **) = main;
#endif

NOINLINE static void end(int n)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	puts(token);
	sum += n;
}

NOINLINE static void joined(int n)
{
	FRAME(40);
	end(n);
	end(n + 1); /* at the same offset: has an addend, or the call before it */
	sum += frame[0];
}

NOINLINE static void grows(int n)
{
#ifdef GROWS
	char *more = alloca((size_t)n * 100 + 17);

	memset(more, n, (size_t)n * 100 + 17);
	joined(n + more[3]);
	end(n);
	sum += more[16];
#else
	FRAME(200);
	joined(n);
	end(n);
	sum += frame[0];
#endif
}

NOINLINE static void small(int n)
{
	FRAME(16);
	joined(n);
	grows(n);
	sum += frame[0];
}

NOINLINE static void large(int n)
{
	FRAME(5000);
	joined(n);
	grows(n + 1);
	sum += frame[0];
}

/* Each activation pushes: offsets count from there. */
NOINLINE static void deep(int n)
{
	FRAME(64);
	if (n > 0)
		deep(n - 1);
	else
		large(n);
	small(n);
	sum += frame[0];
}

static int compare(const void *a, const void *b)
{
	int n = *(const int *)a;

	small(n); /* called back: at no known place */
	return n - *(const int *)b;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	int pair[] = {2, 1};

	if (!argc)
		return end(0), 0;
	small(n);
	large(n);
	deep(n);
	qsort(pair, 2, sizeof *pair, compare);
	end(n);
#ifdef BY_POINTER
	again(0, NULL);
#endif
	return 0;
}
