/*
 * decode_live.c - prints tokens when it is told to, one command a line: the recording grows between two of them.
 *
 * flat          a token with nothing pushed
 * walk BITS     of a chain of calls through pointers, `zero` or `one` for each digit
 * many N        captures at the chains of all numbers below N, prints nothing but "done"
 * load FILE     loads a library and calls its `plugin_say`
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waymark.h>

static wm_context last;

static void zero(const char *bits);
static void one(const char *bits);
static void (*const volatile digits[2])(const char *) = {zero, one};

/* No function: an inlined one would be in the chains. */
#define WALK(bits)                                          \
	do {                                                \
		if (*(bits))                                \
			digits[*(bits) == '1']((bits) + 1); \
		else                                        \
			last = wm_capture();                \
	} while (0)

__attribute__((noinline)) static void zero(const char *bits)
{
	WALK(bits);
}

__attribute__((noinline)) static void one(const char *bits)
{
	WALK(bits);
}

__attribute__((noinline)) static void start(const char *bits)
{
	WALK(bits);
}

__attribute__((noinline)) static void flat(void)
{
	last = wm_capture();
}

static void many(unsigned int count)
{
	char bits[33];

	for (unsigned int i = 0; i < count; i++) {
		for (unsigned int j = 0; j < 32; j++)
			bits[j] = i >> (31 - j) & 1 ? '1' : '0';
		bits[32] = '\0';
		start(bits + 16);
	}
}

static void print_last(void)
{
	char token[WM_TOKEN_MAX];

	wm_token(last, token, sizeof token);
	puts(token);
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*say)(void) = library ? (void (*)(void))dlsym(library, "plugin_say") : NULL;

	if (say)
		say();
	else
		puts(dlerror());
}

int main(void)
{
	char line[256];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "load ", 5) == 0) {
			load(line + 5);
		} else if (strncmp(line, "many ", 5) == 0) {
			many((unsigned int)atoi(line + 5));
			puts("done");
		} else {
			if (strncmp(line, "walk ", 5) == 0)
				start(line + 5);
			else
				flat();
			print_last();
		}
	}
	return 0;
}
