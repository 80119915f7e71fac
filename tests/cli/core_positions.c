/*
 * core_positions.c - stops by a fault where the number of the thread's context is not that of the function which control is in: between
 * two calls of a block, behind a push, in a function that was reached by tail calls, in a static one whose name another file
 * has, too (PART), between two calls of a function by itself, before a function that any caller may enter has set its number (for a breakpoint). `core_positions WAY [AT]`.
 */
#include <stdlib.h>
#include <string.h>
#include <waymark.h>

#define NEVER_INLINED __attribute__((noinline))
int other_part(const int *fault, int way);

static volatile int sink;

NEVER_INLINED static int leaf(int n)
{
	sink += (int)wm_capture().id + n;
	return sink;
}

/* Of both parts. */
NEVER_INLINED static int twin(const int *fault, int n)
{
	sink += leaf(n);
	sink += *fault;
	return leaf(n + 1);
}

#ifdef PART
NEVER_INLINED static int twice(const int *fault, int n)
{
	return twin(fault, n) + 1;
}

int other_part(const int *fault, int way)
{
	return way ? twice(fault, way) + 1 : twin(fault, 3) + 2;
}
#else
NEVER_INLINED static int other(int n)
{
	sink += (int)wm_capture().id + n;
	return sink;
}

/* One block: nothing puts the number back between the calls. */
NEVER_INLINED static int block(const int *second, const int *third, char *text)
{
	int sum = leaf(1);

	sum += other(1);
	sum += *second;
	sum += leaf(2);
	memcpy(text, "some text of the library", (size_t)*third);
	sum += other(2);
	return sum;
}

NEVER_INLINED static int one(const int *second, const int *third, char *text)
{
	return block(second, third, text) + 1;
}

NEVER_INLINED static int two(const int *second, const int *third, char *text)
{
	return block(second, third, text) + 2;
}

NEVER_INLINED static int three(const int *second, const int *third, char *text)
{
	return block(second, third, text) + 3;
}

static volatile int length = 4;

/* The push is written out where calls are hot. */
NEVER_INLINED static int pushing(int (*call)(int), const int *const *places)
{
	int sum = 0;

	for (int i = 0; i < length; i++) {
		sum += leaf(i);
		sum += call(i);
		sum += *places[i];
		sum += leaf(i + 1);
	}
	return sum;
}

NEVER_INLINED static int four(int (*call)(int), const int *const *places)
{
	return pushing(call, places) + 4;
}

NEVER_INLINED static int five(int (*call)(int), const int *const *places)
{
	return pushing(call, places) + 5;
}

/* In a row: the second call takes the place of the first one. Deeper than a history has room for. */
NEVER_INLINED static int again(const int *const *places, int n)
{
	int sum = 0;

	if (n == 0) {
		sink += leaf(n);
		return *places[0];
	}
	sum += again(places, n - 1);
	sum += *places[n];
	return again(places, 0) - sum;
}

struct machine {
	int (*steps[4])(struct machine *, int);
	const int *fault;
};

NEVER_INLINED static int add(struct machine *m, int n)
{
	sink += leaf(n);
	__attribute__((musttail)) return m->steps[n + 1](m, n + 1);
}

NEVER_INLINED static int subtract(struct machine *m, int n)
{
	sink -= leaf(n);
	__attribute__((musttail)) return m->steps[n + 1](m, n + 1);
}

NEVER_INLINED static int last_step(struct machine *m, int n)
{
	sink += *m->fault;
	return leaf(n);
}

NEVER_INLINED int compare(const void *a, const void *b)
{
	return leaf(*(const int *)a) - *(const int *)b;
}

NEVER_INLINED static int compare_self(const int *n)
{
	return compare(n, n) + 1;
}

int main(int argc, char **argv)
{
	static const int zero;
	char text[32];
	int at = argc > 2 ? atoi(argv[2]) : 0;
	const char *way = argc > 1 ? argv[1] : "";
	const int *fault = (const int *)16, size = 24, *second = at == 1 ? fault : &zero,
		  *third = at == 2 ? fault : &size;
	const int *places[4] = {&zero, &zero, at == 1 ? fault : &zero, &zero}, *calm[41], *deep[41];
	int numbers[2] = {2, 1};
	char *to = at == 3 ? (char *)(uintptr_t)fault : text;
	struct machine m = {{add, subtract, add, last_step}, fault};

	for (int i = 0; i < 41; i++) {
		calm[i] = &zero;
		deep[i] = i == at ? fault : &zero;
	}
	for (int i = 0; i < 3 * argc; i++)
		sink += leaf(i) + other(i) + again(calm, i);
	sink += compare(numbers, numbers) + compare_self(numbers);
	if (strcmp(way, "one") == 0)
		sink += one(second, third, to);
	else if (strcmp(way, "two") == 0)
		sink += two(second, third, to);
	else if (strcmp(way, "three") == 0)
		sink += three(second, third, to);
	else if (strcmp(way, "four") == 0)
		sink += four(argc > 9 ? leaf : other, places);
	else if (strcmp(way, "five") == 0)
		sink += five(argc > 9 ? leaf : other, places);
	else if (strcmp(way, "steps") == 0)
		sink += m.steps[0](&m, 0);
	else if (strcmp(way, "twin") == 0)
		sink += at ? twin(fault, 1) : other_part(fault, argc - 3);
	else if (strcmp(way, "twice") == 0)
		sink += other_part(fault, 1);
	else if (strcmp(way, "again") == 0)
		sink += again(deep, 40);
	else if (strcmp(way, "sort") == 0)
		qsort(numbers, 2, sizeof numbers[0], compare);
	return 0;
}
#endif
