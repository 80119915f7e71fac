/*
 * loop.c - an event loop, libevent's, whose callbacks continue the contexts of who asked for them (docs/tasks.md).
 *
 *      waymark cc -g loop.c -levent_core -o loop && waymark run --heap ./loop
 */
#include <event2/event.h>
#include <stdlib.h>
#include <waymark.h>

struct job {
	void (*run)(int n);
	int n;
	wm_context enqueued;
};

static struct event_base *base;

static void called(evutil_socket_t fd, short what, void *argument)
{
	struct job *job = argument;

	(void)fd, (void)what;
	wm_task_begin(job->enqueued);
	job->run(job->n);
	wm_task_end();
	free(job);
}

static __attribute__((noinline)) void ask(void (*run)(int n), int n)
{
	struct timeval soon = {0, 1000};
	struct job *job = malloc(sizeof *job);

	if (!job)
		abort();
	*job = (struct job){run, n, wm_capture()};
	event_base_once(base, -1, EV_TIMEOUT, called, job, &soon);
}

static void *volatile kept;

static __attribute__((noinline)) void reply(int n)
{
	void *block = malloc((size_t)n + 1);

	kept = block;
	free(block);
}

/* A timer that sets itself again is one context, however often it does. */
static __attribute__((noinline)) void tick(int n)
{
	reply(n);
	if (n > 1)
		ask(tick, n - 1);
}

static __attribute__((noinline)) void serve(int requests)
{
	for (int i = 0; i < requests; i++)
		ask(reply, i);
}

int main(void)
{
	base = event_base_new();
	if (!base)
		return 1;
	serve(7);
	ask(tick, 9);
	event_base_dispatch(base);
	event_base_free(base);
	return 0;
}
