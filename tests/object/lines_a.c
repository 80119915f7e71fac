/* lines_a.c - a program with functions inlined into each other, which lines.sh builds in many ways. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include "lines.h"
static inline void *get(size_t n)
{
	void *p = malloc(n);
	if (!p)
		abort();
	return p;
}
static inline void *get0(size_t n)
{
	return memset(get(n), 0, n);
}
static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key;
}
static struct table make(long n)
{
	struct table t = {get0((size_t)n * sizeof(struct item)), n};
	for (long i = 0; i < n; i++) {
		t.items[i].key = hash(i);
		t.items[i].value = mix(i, hash(i + 1));
	}
	qsort(t.items, (size_t)n, sizeof *t.items, compare);
	return t;
}
static long deep(struct table *t, long n)
{
	return n ? sum(t, 0, n) + other(t, n - 1) : pick(t, 0);
}
int main(int argc, char **argv)
{
	struct table t = make(argc * 10);
	long r = deep(&t, argc) + deep(&t, argc + 1);
	for (int i = 0; i < argc; i++) {
		switch (argv[i][0]) {
		case 'a':
			r += sum(&t, 1, 3);
			break;
		case 'b':
			r += deep(&t, 2);
			break;
		default:
			r += mix(r, i);
			puts("x");
		}
	}
	printf("%ld\n", r);
	free(t.items);
	return 0;
}
