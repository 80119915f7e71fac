/* Threads that wait for read-write locks: of a writer, of readers, of each other, and behind a writer that goes first. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_rwlock_t cache = PTHREAD_RWLOCK_INITIALIZER, table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t fair = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static struct {
	long unused;
	pthread_rwlock_t locks[2];
} pair = {.locks = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER}};
static pthread_barrier_t both;

static void *reader(void *lock)
{
	pthread_rwlock_rdlock(lock);
	return lock;
}

static void *writer(void *lock)
{
	pthread_rwlock_wrlock(lock);
	return lock;
}

static void *crossing(void *number)
{
	long at = (long)number;

	pthread_rwlock_wrlock(&pair.locks[at]);
	pthread_barrier_wait(&both);
	pthread_rwlock_rdlock(&pair.locks[!at]);
	return number;
}

int main(void)
{
	pthread_t threads[6];

	pthread_barrier_init(&both, NULL, 2);
	pthread_rwlock_wrlock(&cache);
	pthread_rwlock_rdlock(&table);
	pthread_rwlock_rdlock(&fair);
	pthread_create(&threads[0], NULL, reader, &cache);
	pthread_create(&threads[1], NULL, writer, &table);
	pthread_create(&threads[2], NULL, crossing, (void *)0L);
	pthread_create(&threads[3], NULL, crossing, (void *)1L);
	pthread_create(&threads[4], NULL, writer, &fair);
	while (pthread_rwlock_tryrdlock(&fair) == 0) /* until the writer waits */
		pthread_rwlock_unlock(&fair);
	pthread_create(&threads[5], NULL, reader, &fair);
	return pthread_join(threads[5], NULL);
}
