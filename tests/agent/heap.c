/*
 * heap.c - allocates on many ways, counts what each stack of names allocates, and prints "METRIC STACK COUNT" for each metric.
 * Memory for the counts is static. What is to be counted lies below counted().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
#define WHOLE __attribute__((noinline))
#else
#define WHOLE __attribute__((noinline, noclone))
#endif

static struct {
	char stack[256];
	unsigned long allocations, bytes, leaked;
} counts[64];
static const char *names[64];
static int count_count, depth;
volatile int sink;

static void enter(const char *name)
{
	names[depth++] = name;
}

/* of: the function of the allocator. */
static void note(const char *of, size_t bytes, int is_leaked)
{
	char stack[256] = "";
	int i;

	for (i = 0; i < depth; i++)
		strcat(strcat(stack, names[i]), ";");
	strcat(stack, of);
	for (i = 0; i < count_count && strcmp(counts[i].stack, stack) != 0; i++)
		;
	if (i == count_count)
		strcpy(counts[count_count++].stack, stack);
	counts[i].allocations++;
	counts[i].bytes += bytes;
	counts[i].leaked += is_leaked ? bytes : 0;
}

WHOLE void *make(size_t bytes, int is_leaked);
WHOLE void *make(size_t bytes, int is_leaked)
{
	void *p;

	enter("make");
	p = malloc(bytes);
	note("[malloc]", bytes, is_leaked);
	depth--;
	return p;
}

WHOLE void grow(void);
WHOLE void grow(void)
{
	char *volatile p = calloc(3, 5);

	enter("grow");
	note("[calloc]", 15, 0);
	p = realloc(p, 100);
	note("[realloc]", 100, 0);
	p = realloc(p, 10000);
	note("[realloc]", 10000, 0);
	free(p);
	depth--;
}

/* malloc is called by libc, which is not instrumented. */
WHOLE void doubles(const char *s);
WHOLE void doubles(const char *s)
{
	char *volatile p = strdup(s);

	enter("doubles");
	note("strdup;[malloc]", strlen(s) + 1, 0);
	free(p);
	depth--;
	sink = 1;
}

WHOLE void tree(int n);
WHOLE void tree(int n)
{
	enter("tree");
	if (n) {
		tree(n - 1);
		free(make((size_t)n, 0));
		tree(n - 1);
	} else {
		sink = make(24, 1) != NULL;
	}
	depth--;
}

WHOLE int compare(const void *a, const void *b);
WHOLE int compare(const void *a, const void *b)
{
	enter("compare");
	free(make(40, 0));
	depth--;
	return *(const int *)a - *(const int *)b;
}

WHOLE void sorts(void);
WHOLE void sorts(void)
{
	int items[5] = {4, 2, 5, 1, 3};

	enter("sorts");
	enter("[qsort]");
	qsort(items, 5, sizeof items[0], compare);
	depth -= 2;
	sink = items[0];
}

WHOLE void counted(void);
WHOLE void counted(void)
{
	void *(*volatile indirect)(size_t) = malloc;

	enter("counted");
	for (int i = 0; i < 1000; i++)
		free(make(16, 0));
	grow();
	doubles("seven and more");
	doubles("");
	tree(5);
	sorts();
	free(indirect(33));
	note("[malloc]", 33, 0);
	depth--;
	sink = 1;
}

int main(void)
{
	enter("main");
	counted();
	for (int i = 0; i < count_count; i++) {
		printf("allocations %s %lu\n", counts[i].stack, counts[i].allocations);
		printf("bytes %s %lu\n", counts[i].stack, counts[i].bytes);
		if (counts[i].leaked)
			printf("leaked %s %lu\n", counts[i].stack, counts[i].leaked);
	}
	return 0;
}
