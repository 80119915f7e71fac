/*
 * handler_stack.c FUNCTION [thread] - a handler of a signal, on a stack of its own, is the first one of the process, or of a thread, that calls
 * FUNCTION of waymark.h, behind calls that push. Prints how many bytes of the stack that has taken below the handler's own frame.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <waymark.h>

enum {
	STACK_BYTES = 1 << 16,
	UNUSED = 0xa5,
};

static bool calls_event, calls_token;
static char *volatile handler_frame;
static volatile int done;

static void down(int depth);
static void (*volatile next)(int) = down;

static void down(int depth)
{
	wm_context c = {0};
	char token[WM_TOKEN_MAX];

	if (depth) {
		next(depth - 1);
		done++;
		return;
	}
	if (calls_event)
		wm_event("in a handler", 1);
	else
		c = wm_capture();
	if (calls_token)
		wm_token(c, token, sizeof token);
	done++;
}

static void handle(int number)
{
	char here;

	(void)number;
	handler_frame = &here;
	next(2);
}

static void *run(void *unused)
{
	char *low = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = low, .ss_size = STACK_BYTES};
	char *at = low;

	(void)unused;
	if (low == MAP_FAILED)
		return NULL;
	memset(low, UNUSED, STACK_BYTES);
	if (sigaltstack(&stack, NULL) || pthread_kill(pthread_self(), SIGUSR1))
		return NULL;
	while (at < handler_frame && (unsigned char)*at == UNUSED)
		at++;
	printf("%zu\n", (size_t)(handler_frame - at));
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	pthread_t thread;

	calls_event = argc > 1 && strcmp(argv[1], "event") == 0;
	calls_token = argc > 1 && strcmp(argv[1], "token") == 0;
	if (sigaction(SIGUSR1, &action, NULL))
		return 1;
	if (argc < 3)
		run(NULL);
	else if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
		return 1;
	return done == 3 ? 0 : 1;
}
