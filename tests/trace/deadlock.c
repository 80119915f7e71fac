/* Two threads wait for each other's lock. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;
static int balance[2] = {100, 100};

__attribute__((noinline)) static int move(int from, int to, int amount, int wait)
{
	int moved = 0;

	pthread_mutex_lock(&locks[from]);
	if (wait)
		pthread_barrier_wait(&both);
	for (int i = 0; i < amount; i++)
		moved += balance[from] > i;
	pthread_mutex_lock(&locks[to]);
	balance[from] -= moved;
	balance[to] += moved;
	pthread_mutex_unlock(&locks[to]);
	pthread_mutex_unlock(&locks[from]);
	return moved;
}

static void *clerk(void *number)
{
	int self = (int)(long)number, sum = 0;

	for (int i = 0; i < 5; i++)
		if (i < 4 && self == 0)
			sum += move(self, !self, i + 3, 0);
		else if (i == 4) {
			pthread_barrier_wait(&both);
			sum += move(self, !self, 2, 1);
		}
	return (void *)(long)sum;
}

int main(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&both, NULL, 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, clerk, (void *)i);
	if (write(1, "hung\n", 5) < 0)
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
