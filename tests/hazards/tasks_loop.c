/*
 * An event loop, libevent's, which is foreign code: callbacks continue the context of who has asked for them, by a timer or a pipe, from outside of the loop
 * and from other callbacks; one asks for itself again, and is the same context from the second time on.
 */
#include <event2/event.h>
#include <stdlib.h>

#include "tasks.h"

static struct event_base *base;
static int pipe_ends[2];

/* libevent calls it. */
NOINLINE static void called(evutil_socket_t fd, short what, void *argument)
{
	struct job *job = argument;

	ENTER();
	(void)fd, (void)what;
	CHECK();
	{
		BEGIN(job);
		CHECK();
		job->run(job);
		END();
	}
	CHECK();
	free(job);
	LEAVE();
}

NOINLINE static struct job *ask(void (*run)(struct job *), int n)
{
	struct timeval soon = {0, 1000 * (n + 1)};
	struct job *job = calloc(1, sizeof *job);

	ENTER();
	job->run = run;
	job->n = n;
	ENQUEUE(job);
	EXPECT(event_base_once(base, -1, EV_TIMEOUT, called, job, &soon) == 0);
	LEAVE();
	return job;
}

NOINLINE static void last(struct job *job)
{
	ENTER();
	(void)job;
	CHECK();
	LEAVE();
}

NOINLINE static void reads(struct job *job)
{
	char byte;

	ENTER();
	EXPECT(read(pipe_ends[0], &byte, 1) == 1);
	CHECK();
	ask(last, job->n);
	LEAVE();
}

NOINLINE static void ask_for_byte(int n)
{
	struct job *job = calloc(1, sizeof *job);

	ENTER();
	job->run = reads;
	job->n = n;
	ENQUEUE(job);
	EXPECT(event_base_once(base, pipe_ends[0], EV_READ, called, job, NULL) == 0);
	LEAVE();
}

NOINLINE static void writes(struct job *job)
{
	ENTER();
	ask_for_byte(job->n);
	EXPECT(write(pipe_ends[1], "x", 1) == 1);
	CHECK();
	LEAVE();
}

NOINLINE static void beats(struct job *job)
{
	static struct job second;
	struct job *next;

	ENTER();
	CHECK();
	if (job->n) {
		next = ask(beats, job->n - 1);
		if (!second.depth)
			second = *next;
		next->depth = second.depth;
		memcpy(next->name, second.name, sizeof next->name);
	}
	LEAVE();
}

NOINLINE static void serve(int n)
{
	ENTER();
	ask(writes, n);
	ask(last, n);
	if (n)
		serve(n - 1);
	LEAVE();
}

int main(void)
{
	ENTER();
	base = event_base_new();
	EXPECT(base && pipe(pipe_ends) == 0);
	serve(2);
	ask(beats, 5);
	FOREIGN_VOID("event_base_dispatch", EXPECT(event_base_dispatch(base) >= 0));
	CHECK();
	event_base_free(base);
	LEAVE();
	return 0;
}
