/*
 * program.c - the program of the command-line tests: a token from a plain call, one from a callback, events, heap use.
 *
 * program            prints two lines with tokens and exits 0
 * program exit N     exits with N
 * program kill N     kills itself with signal N
 * program event N    makes an event with value N
 * program cat        copies standard input to standard output
 * program wait       prints "ready", then waits to be killed
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <waymark.h>

static void print_token(const char *before, const char *after)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	printf("%s%s%s\n", before, token, after);
}

static int compare(const void *a, const void *b)
{
	print_token("compare [", "] in qsort");
	wm_event("compare", 2);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void sort(void)
{
	int numbers[2] = {2, 1};

	qsort(numbers, 2, sizeof numbers[0], compare);
	wm_event("sorted", 1);
}

__attribute__((noinline)) static void *keep(size_t size)
{
	return malloc(size);
}

__attribute__((noinline)) static void work(void)
{
	void *volatile leaked = keep(1000);

	free(keep(500));
	print_token("work ", ", done");
	sort();
	(void)leaked;
}

int main(int argc, char **argv)
{
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && strcmp(argv[1], "exit") == 0)
		return atoi(argv[2]);
	if (argc == 3 && strcmp(argv[1], "kill") == 0) {
		raise(atoi(argv[2]));
		return 1;
	}
	if (argc == 3 && strcmp(argv[1], "event") == 0) {
		wm_event("number", (unsigned int)atoi(argv[2]));
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "cat") == 0) {
		while ((c = getchar()) != EOF)
			putchar(c);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "wait") == 0) {
		puts("ready");
		pause();
	}
	work();
	return 0;
}
