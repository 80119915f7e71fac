/* The bug of pbzip2: main frees the queue when the file is read, while a consumer still uses it. Barriers make it sure. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

struct queue {
	int items[64];
	int head, tail, empty;
	pthread_mutex_t *mutex;
};

static pthread_barrier_t read_all, freed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum;

__attribute__((noinline)) static int take(struct queue *q)
{
	int item = -1;

	pthread_mutex_lock(q->mutex);
	if (q->head != q->tail) {
		item = q->items[q->head % 64];
		q->head++;
	} else {
		q->empty = 1;
	}
	pthread_mutex_unlock(q->mutex);
	return item;
}

static void *consume(void *argument)
{
	struct queue *q = argument;
	int item, count = 0;

	while ((item = take(q)) >= 0) {
		sum += item;
		if (++count == 20) {
			pthread_barrier_wait(&read_all);
			pthread_barrier_wait(&freed);
		}
	}
	return NULL;
}

static struct queue *create(void)
{
	struct queue *q = mmap(NULL, sizeof *q, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	q->mutex = &mutex;
	for (int i = 0; i < 50; i++)
		q->items[q->tail++ % 64] = i;
	return q;
}

int main(void)
{
	pthread_t consumer;
	struct queue *q = create();

	pthread_barrier_init(&read_all, NULL, 2);
	pthread_barrier_init(&freed, NULL, 2);
	pthread_create(&consumer, NULL, consume, q);
	pthread_barrier_wait(&read_all);
	munmap(q, sizeof *q);
	pthread_barrier_wait(&freed);
	pthread_join(consumer, NULL);
	return sum;
}
