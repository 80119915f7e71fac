/* Threads that wait: two for each other's lock, one at a condition, main for the end of one. core_waits.sh has the core written. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

struct queue {
	int length;
	pthread_mutex_t lock;
	pthread_cond_t filled;
};

static struct {
	int unused[3];
	pthread_mutex_t locks[2];
} bank = {.locks = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER}};
static pthread_barrier_t both;
static sem_t never;

__attribute__((noinline)) static int move(int from, int to)
{
	pthread_mutex_lock(&bank.locks[from]);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&bank.locks[to]);
	pthread_mutex_unlock(&bank.locks[to]);
	return pthread_mutex_unlock(&bank.locks[from]);
}

static void *clerk(void *number)
{
	return (void *)(long)move((int)(long)number, !(long)number);
}

__attribute__((noinline)) static int take(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (!queue->length)
		pthread_cond_wait(&queue->filled, &queue->lock);
	return pthread_mutex_unlock(&queue->lock);
}

static void *taker(void *queue)
{
	return (void *)(long)take(queue);
}

__attribute__((noinline)) static int again(pthread_mutex_t *mutex)
{
	int failed = pthread_mutex_lock(mutex);

	return failed + pthread_mutex_lock(mutex);
}

static void *locker(void *queue)
{
	return (void *)(long)again(&((struct queue *)queue)[1].lock);
}

static void *waiter(void *unused)
{
	return (void *)(long)(sem_wait(&never) + !unused);
}

int main(void)
{
	struct queue *queue = calloc(2, sizeof *queue);
	pthread_t threads[5];

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&threads[0], NULL, clerk, (void *)0L);
	pthread_create(&threads[1], NULL, clerk, (void *)1L);
	pthread_create(&threads[2], NULL, taker, queue);
	pthread_create(&threads[3], NULL, locker, queue);
	pthread_create(&threads[4], NULL, waiter, NULL);
	if (write(1, "started\n", 8) < 0)
		return 2;
	return pthread_join(threads[0], NULL);
}
