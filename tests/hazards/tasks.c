/*
 * A pool of threads, whose contexts continue those of who has enqueued a job: from several places, at any depth, jobs that enqueue jobs and themselves, tasks in
 * tasks, in callbacks and handlers, threads and forked children in a task, a function between the beginning and its task, more tasks than there is room for.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tasks.h"

enum {
	WORKERS = 2,
	ROOM = 64, /* for tasks in each other */
};

static struct job *first, **end = &first;
static int pending; /* jobs that are enqueued or run */
static int is_over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void push(struct job *job)
{
	pthread_mutex_lock(&lock);
	job->next = NULL;
	*end = job;
	end = &job->next;
	pending++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static struct job *pop(void)
{
	struct job *job;

	pthread_mutex_lock(&lock);
	while (!first && !is_over)
		pthread_cond_wait(&changed, &lock);
	job = first;
	if (job)
		first = job->next;
	if (!first)
		end = &first;
	pthread_mutex_unlock(&lock);
	return job;
}

static void is_done(void)
{
	pthread_mutex_lock(&lock);
	pending--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_for_all(void)
{
	pthread_mutex_lock(&lock);
	while (pending)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

NOINLINE static void work(struct job *job)
{
	ENTER();
	CHECK();
	job->run(job);
	CHECK();
	LEAVE();
}

NOINLINE static void *worker(void *argument)
{
	struct job *job;

	THREAD_ROOT();
	ENTER();
	while ((job = pop())) {
		CHECK();
		BEGIN(job);
		CHECK();
		work(job);
		CHECK();
		END();
		CHECK();
		free(job);
		is_done();
	}
	LEAVE();
	return argument;
}

NOINLINE static void submit(void (*run)(struct job *), int n)
{
	struct job *job = calloc(1, sizeof *job);

	ENTER();
	job->run = run;
	job->n = n;
	ENQUEUE(job);
	push(job);
	LEAVE();
}

NOINLINE static void plain(struct job *job)
{
	ENTER();
	(void)job;
	CHECK();
	LEAVE();
}

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	CHECK();
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void recursive(int n)
{
	ENTER();
	CHECK();
	if (n)
		recursive(n - 1);
	CHECK();
	LEAVE();
}

NOINLINE static void sorts(struct job *job)
{
	int numbers[3] = {3, 2, 1};

	ENTER();
	FOREIGN_VOID("qsort", qsort(numbers, 3, sizeof numbers[0], compare));
	recursive(job->n);
	LEAVE();
}

/* Jobs of jobs: each link of the chain is another one. */
NOINLINE static void third(struct job *job)
{
	ENTER();
	recursive(job->n);
	LEAVE();
}

NOINLINE static void second(struct job *job)
{
	ENTER();
	submit(third, job->n);
	CHECK();
	LEAVE();
}

NOINLINE static void chains(struct job *job)
{
	ENTER();
	submit(second, job->n);
	submit(plain, 0);
	LEAVE();
}

/* It enqueues itself: the same context from the second time on. */
static struct job again_first;

NOINLINE static void again(struct job *job)
{
	struct job *next = calloc(1, sizeof *next);

	ENTER();
	CHECK();
	next->run = again;
	next->n = job->n - 1;
	if (!again_first.depth)
		shadow_enqueue(&again_first);
	next->enqueued = wm_capture();
	next->depth = again_first.depth;
	memcpy(next->name, again_first.name, sizeof next->name);
	if (next->n)
		push(next);
	else
		free(next);
	LEAVE();
}

/* Tasks in a task, from before and from within. */
NOINLINE static void within(struct job *job, int n)
{
	struct job inner = {.n = n};

	ENTER();
	ENQUEUE(&inner);
	{
		BEGIN(&inner);
		CHECK();
		recursive(1);
		if (n)
			within(job, n - 1);
		CHECK();
		END();
	}
	CHECK();
	{
		BEGIN(job);
		recursive(1);
		END();
	}
	CHECK();
	LEAVE();
}

NOINLINE static void nests(struct job *job)
{
	ENTER();
	within(job, 3);
	CHECK();
	LEAVE();
}

NOINLINE static void handler(int number)
{
	struct job job = {.n = number};

	SIGNAL_ENTER();
	CHECK();
	ENQUEUE(&job);
	BEGIN(&job);
	recursive(1);
	END();
	CHECK();
	LEAVE();
}

NOINLINE static void raises(struct job *job)
{
	ENTER();
	(void)job;
	FOREIGN_VOID("raise", raise(SIGUSR1));
	CHECK();
	LEAVE();
}

NOINLINE static void *created(void *argument)
{
	THREAD_ROOT();
	ENTER();
	CHECK();
	submit(plain, 0);
	LEAVE();
	return argument;
}

NOINLINE static void creates(struct job *job)
{
	pthread_t thread;

	ENTER();
	(void)job;
	EXPECT(CREATE(pthread_create(&thread, NULL, created, NULL)) == 0);
	pthread_join(thread, NULL);
	LEAVE();
}

NOINLINE static void forks(struct job *job)
{
	int status;
	pid_t pid;

	ENTER();
	pid = fork();
	if (pid == 0) {
		CHECK();
		recursive(job->n);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK();
	LEAVE();
}

/* More than there is room for: those are lost, and all is well again outside. */
NOINLINE static void deep(struct job *job)
{
	wm_context before, lost;

	ENTER();
	before = wm_capture();
	for (int i = 0; i < ROOM; i++)
		wm_task_begin(job->enqueued);
	lost = wm_capture();
	EXPECT(memcmp(&lost, &before, sizeof lost) != 0 || lost.epoch == WM_EPOCH_NONE);
	for (int i = 0; i < ROOM; i++)
		wm_task_end();
	CHECK();
	LEAVE();
}

/* Nobody knows who has enqueued it. */
NOINLINE static void unknown(struct job *job)
{
	wm_context none = {.epoch = WM_EPOCH_NONE}, within, different[2];

	ENTER();
	wm_task_begin(none);
	within = wm_capture();
	wm_task_end();
	CHECK();
	for (volatile int i = 0; i < 2; i++) {
		if (i)
			wm_task_begin(job->enqueued);
		different[i] = wm_capture();
		if (i)
			wm_task_end();
	}
	EXPECT(within.epoch == WM_EPOCH_NONE || (memcmp(&within, &different[0], sizeof within) != 0 &&
						 memcmp(&different[0], &different[1], sizeof within) != 0));
	CHECK();
	LEAVE();
}

NOINLINE static void serve(int n)
{
	ENTER();
	submit(plain, n);
	submit(sorts, n);
	submit(chains, n);
	submit(nests, n);
	submit(raises, n);
	submit(creates, n);
	submit(forks, n);
	submit(deep, n);
	submit(unknown, n);
	if (n)
		serve(n - 1);
	LEAVE();
}

/* Equal contexts are equal numbers, also in tasks of several threads. */
NOINLINE static wm_context here(const struct job *job)
{
	wm_context ret;

	wm_task_begin(job->enqueued);
	ret = wm_capture();
	wm_task_end();
	return ret;
}

NOINLINE static void compares(void)
{
	struct job one = {0}, other = {0};
	wm_context got[3];

	ENTER();
	ENQUEUE(&one);
	ENQUEUE(&other);
	for (volatile int i = 0; i < 3; i++)
		got[i] = here(i == 1 ? &other : &one);
	EXPECT(memcmp(&got[0], &got[2], sizeof got[0]) == 0);
	EXPECT(got[0].epoch == WM_EPOCH_NONE || memcmp(&got[0], &got[1], sizeof got[0]) != 0);
	LEAVE();
}

int main(void)
{
	pthread_t workers[WORKERS];
	volatile int count = WORKERS; /* unrolled, the threads would begin in two contexts */

	ENTER();
	wm_task_end();
	signal(SIGUSR1, handler);
	for (int i = 0; i < count; i++)
		EXPECT(CREATE(pthread_create(&workers[i], NULL, worker, NULL)) == 0);
	serve(2);
	wait_for_all();
	submit(again, 5);
	wait_for_all();
	compares();
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	CHECK();
	LEAVE();
	return 0;
}
