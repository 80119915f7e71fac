/* strip.c - prints a context of its own and, with a library that calls back, one that needs the .wmk file. */
#include <stdio.h>
#include <stdlib.h>

#include <waymark.h>

#define NOINLINE __attribute__((noinline))

static void show(void)
{
	char token[WM_TOKEN_MAX];
	wm_token(wm_capture(), token, sizeof token);
	puts(token);
}

NOINLINE static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	show();
	return 0;
}

NOINLINE static void down(int n)
{
	if (n)
		down(n - 1);
	else
		show();
	__asm__ volatile("");
}

#ifdef LIBRARY
__attribute__((visibility("default"))) void library(void);
void library(void)
{
	down(2);
}
int keeps_compare(void);
int keeps_compare(void)
{
	return compare(NULL, NULL);
}
#else
void library(void);
int main(void)
{
	int two[2] = {0, 0};
	qsort(two, 2, sizeof two[0], compare);
	down(1);
	library();
	return 0;
}
#endif
