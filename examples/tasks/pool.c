/*
 * pool.c - a pool of threads whose contexts continue those of who enqueued the work (docs/tasks.md).
 *
 *      waymark cc -g pool.c -o pool && waymark run --heap ./pool      or   cc -g pool.c -o pool && waymark run --heap ./pool
 *      waymark report --format=folded --metric allocations
 */
#include <pthread.h>
#include <stdlib.h>
#include <waymark.h>

enum {
	WORKERS = 3,
	REQUESTS = 20,
	REFRESHES = 5,
};

struct job {
	struct job *next;
	void (*run)(struct job *job);
	wm_context enqueued;
};

/* Under the lock. */
static struct job *jobs;
static int left; /* that are enqueued or run */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static __attribute__((noinline)) void submit(void (*run)(struct job *))
{
	struct job *job = malloc(sizeof *job);

	if (!job)
		abort();
	job->run = run;
	job->enqueued = wm_capture();
	pthread_mutex_lock(&lock);
	job->next = jobs;
	jobs = job;
	left++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void *volatile kept;

static __attribute__((noinline)) void uses(size_t len_bytes)
{
	void *block = malloc(len_bytes);

	kept = block;
	free(block);
}

static __attribute__((noinline)) void store(struct job *job)
{
	(void)job;
	uses(100);
}

/* A job of a job: the chain goes on. */
static __attribute__((noinline)) void parse(struct job *job)
{
	(void)job;
	uses(10);
	submit(store);
}

static void *worker(void *unused)
{
	struct job *job;

	pthread_mutex_lock(&lock);
	for (;;) {
		while (!jobs)
			pthread_cond_wait(&changed, &lock);
		job = jobs;
		jobs = job->next;
		pthread_mutex_unlock(&lock);
		wm_task_begin(job->enqueued);
		job->run(job);
		wm_task_end();
		free(job);
		pthread_mutex_lock(&lock);
		left--;
		pthread_cond_broadcast(&changed);
	}
	return unused;
}

static __attribute__((noinline)) void serve(int requests)
{
	for (int i = 0; i < requests; i++)
		submit(parse);
}

static __attribute__((noinline)) void refresh(int times)
{
	for (int i = 0; i < times; i++)
		submit(store);
}

int main(void)
{
	pthread_t threads[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL) != 0)
			return 1;
	serve(REQUESTS);
	refresh(REFRESHES);
	pthread_mutex_lock(&lock);
	while (left)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}
