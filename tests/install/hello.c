/* hello.c - what tests/install builds with the installed `waymark cc`: two ways to one capture point. */
#include <stdio.h>
#include <stdlib.h>
#include <waymark.h>

static void *volatile kept;

static __attribute__((noinline)) void tell(const char *how)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	printf("%s %s\n", how, token);
}

static __attribute__((noinline)) void left(void)
{
	tell("left");
}

static int compare(const void *a, const void *b)
{
	static int calls;

	if (calls++ == 0)
		tell("sorted");
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int numbers[] = {3, 1, 2};

	tell("direct");
	left();
	qsort(numbers, 3, sizeof numbers[0], compare);
	kept = malloc(100);
	return 0;
}
