/*
 * clients.c - code that includes waymark.h, is built as C and C++ by any compiler, and keeps its own stack of names. It prints
 * "STACK TOKEN" for each capture; what `waymark decode --folded` makes of the token must be STACK. clients_main.c calls it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "waymark.h"

#if defined(__clang__)
#define WHOLE __attribute__((noinline))
#else
#define WHOLE __attribute__((noinline, noclone))
#endif

#ifdef __cplusplus
extern "C" {
#endif

static __thread const char *names[64];
static __thread int depth;
static jmp_buf back;
volatile int sink;

static void enter(const char *name)
{
	names[depth++] = name;
}

static void print(wm_context c)
{
	char line[2048], token[WM_TOKEN_MAX];
	size_t len = 0;

	if (wm_token(c, token, sizeof token) != (int)strlen(token))
		abort();
	for (int i = 0; i < depth; i++)
		len += (size_t)snprintf(line + len, sizeof line - len, "%s%s", i ? ";" : "", names[i]);
	printf("%s %s\n", line, token);
}

/* The capture is its last call, and must not become a tail call. */
WHOLE wm_context last_call(void);
WHOLE wm_context last_call(void)
{
	return wm_capture();
}

WHOLE void leaf(int n);
WHOLE void leaf(int n)
{
	enter("leaf");
	if (n)
		leaf(n - 1);
	else
		print(wm_capture());
	depth--;
	sink = n;
}

WHOLE void logs(const char *name);
WHOLE void logs(const char *name)
{
	wm_event(name, 7);
}

WHOLE int compare(const void *a, const void *b);
WHOLE int compare(const void *a, const void *b)
{
	enter("compare");
	print(wm_capture());
	depth--;
	return *(const int *)a - *(const int *)b;
}

WHOLE void sorts(void);
WHOLE void sorts(void)
{
	int items[3] = {2, 1, 3};

	enter("sorts");
	print(wm_capture());
	enter("[qsort]");
	qsort(items, 3, sizeof items[0], compare);
	depth--;
	print(wm_capture());
	depth--;
	sink = items[0];
}

WHOLE void jumps(int n);
WHOLE void jumps(int n)
{
	enter("jumps");
	if (!n)
		longjmp(back, 1);
	jumps(n - 1);
	depth--;
	sink = n;
}

WHOLE void on_signal(int number);
WHOLE void on_signal(int number)
{
	const char *was[64];
	int was_depth = depth;

	memcpy(was, names, sizeof was);
	depth = 0;
	enter("[signal]");
	enter("on_signal");
	print(wm_capture());
	memcpy(names, was, sizeof was);
	depth = was_depth;
	sink = number;
}

WHOLE void *thread(void *data);
WHOLE void *thread(void *data)
{
	enter("[thread]");
	enter("thread");
	leaf(2);
	print(wm_capture());
	return data;
}

WHOLE void captures(void);
WHOLE void captures(void)
{
	enter("captures");
	enter("last_call");
	print(last_call());
	depth--;
	for (int i = 0; i < 3; i++)
		leaf(i);
	logs("seven");
	sorts();
	if (!setjmp(back))
		jumps(3);
	depth = 3;
	print(wm_capture());
	depth--;
	sink = 1;
}

WHOLE int run(const char *what);
WHOLE int run(const char *what)
{
	pthread_t t;

	enter("main");
	enter("run");
	captures();
	logs("seven");
	if (strchr(what, 's')) {
		signal(SIGUSR1, on_signal);
		raise(SIGUSR1);
	}
	if (strchr(what, 't') && pthread_create(&t, NULL, thread, NULL) == 0)
		pthread_join(t, NULL);
	print(wm_capture());
	sink = 1;
	return 0;
}

#ifdef __cplusplus
}
#endif
